"""A trust store in memory, on the parsers of the reference program: a second opinion on the sequences.

It remembers what a store must remember and nothing more. It has no files, no trees and no concurrency.
"""
import hashlib
import struct

SKEW = 300


class Model:
    def __init__(self, reference, options):
        self.ref = reference
        self.lists = {}  # issuer -> list in force; its member "bytes" holds the payload's digest
        self.floor_of_time = 0
        self.builds = {}  # app id -> {"build", "content", "publisher"}
        self.accepted = set()  # digests
        self.threshold = 1
        self.start(options)

    def start(self, options):
        """A new instance. Returns the code of a trouble, or None."""
        self.options, self.roots, self.opened = options, [], {}
        wanted = options.get("threshold", 1)
        if wanted < 1:
            return "badRequest"
        if wanted < self.threshold:
            return "storeUnsafe"
        self.threshold = wanted
        return None

    def withdrawn(self):
        return {k for r in self.lists.values() for k in r["keys"]} | {i for i, r in self.lists.items() if r["revokesIssuer"]}

    def add_root(self, key):
        small = key in (bytes(32), (1).to_bytes(32, "little"))
        if small:
            raise self.ref.Refused("malformed")
        if self.ref.key_hash(key) in self.withdrawn():
            raise self.ref.Refused("rootWithdrawn")
        if key not in self.roots:
            if len(self.roots) == 16:
                raise self.ref.Refused("limitExceeded")
            self.roots.append(key)

    def update(self, data, clock):
        ref = self.ref
        body, signatures = ref.open_envelope(data, ref.T_REV)
        signed = {ref.key_hash(k) for k in ref.signers(body, ref.T_REV, signatures, self.roots)}
        if not signed:
            raise ref.Refused("untrustedRoot")
        new = ref.parse_revocations(body)
        if new["issuer"] not in signed:
            raise ref.Refused("untrustedRoot")
        new["bytes"] = hashlib.sha256(body).hexdigest()
        issuer, old = new["issuer"], self.lists.get(new["issuer"])
        if old and old["bytes"] == new["bytes"]:
            return
        if issuer in self.withdrawn():
            raise ref.Refused("rootWithdrawn")
        if len(signed - self.withdrawn()) < self.threshold:
            new["maximumBuilds"], new["transfers"] = {}, {}
        if old and new["revokesIssuer"]:
            for name in ("certificates", "keys", "packages"):
                new[name] = sorted(set(new[name]) | set(old[name]))
            for app, build in old["minimumBuilds"].items():
                new["minimumBuilds"][app] = max(build, new["minimumBuilds"].get(app, 0))
            for app, build in old["maximumBuilds"].items():
                new["maximumBuilds"][app] = min(build, new["maximumBuilds"].get(app, build))
        elif old and new["sequence"] < old["sequence"]:
            raise ref.Refused("revocationsOlder")
        elif old and new["sequence"] == old["sequence"]:
            raise ref.Refused("revocationsConflict")
        self.lists[issuer] = new
        self.floor_of_time = max(self.floor_of_time, min(new["issuedAt"], clock))
        for app, ceiling in new["maximumBuilds"].items():
            known = self.builds.get(app)
            if known and known["build"] > ceiling:
                known.update(build=ceiling, content=None)

    def judge(self, data, clock):
        """Rules 1 to 12. Returns header, certificate, payload and facts; raises Refused or Trouble."""
        ref = self.ref
        if not self.roots:
            raise Trouble("noTrustedRoots")
        now = max(clock, self.floor_of_time)
        _, c, h = struct.unpack("<III", data[8:20])
        signed, certificate = self.chain(data[20:20 + c])
        body, signatures = ref.open_envelope(data[20 + c:20 + c + h], ref.T_PKG)
        if not ref.signers(body, ref.T_PKG, signatures, [certificate["key"]]):
            raise ref.Refused("badSignature")
        header = ref.parse_header(body)
        app, payload = header["app"], header["payload"]
        digest = hashlib.sha256(body).hexdigest()
        if not any(ref.pattern_matches(x, app["id"]) for x in certificate["apps"]):
            raise ref.Refused("appNotCertified")
        known = self.builds.get(app["id"])
        if known and certificate["publisher"] != known["publisher"] and self.options.get("publisherContinuity") != "waived":
            if not any(r["transfers"].get(app["id"]) == certificate["publisher"] for r in self.lists.values()):
                raise ref.Refused("publisherChanged")
        if not certificate["notBefore"] <= header["signedAt"] <= certificate["notAfter"]:
            raise ref.Refused("signedOutsideWindow")
        if header["signedAt"] > now + SKEW:
            raise ref.Refused("signedInFuture")
        if now > certificate["notAfter"] and digest not in self.accepted and not self.options.get("atSigning"):
            raise ref.Refused("certificateExpired")
        self.revoked(header, digest)
        content = (app, header.get("capabilities"), header.get("runtime"), payload["manifest"])
        if known and app["build"] < known["build"]:
            raise ref.Refused("rolledBack")
        if known and app["build"] == known["build"] and known["content"] not in (None, content) and self.options.get("rebuilding") != "allowed":
            raise ref.Refused("buildConflict")
        self.fresh(now)
        return header, certificate, data[20 + c + h:], digest, content, data[20:20 + c]

    def chain(self, envelope):
        ref, gone = self.ref, self.withdrawn()
        body, signatures = ref.open_envelope(envelope, ref.T_CERT)
        signed = ref.signers(body, ref.T_CERT, signatures, self.roots)
        if len({k for k in signed if ref.key_hash(k) not in gone}) < self.threshold:
            raise ref.Refused("rootWithdrawn" if len(signed) >= self.threshold else "untrustedRoot")
        certificate = ref.parse_certificate(body)
        if certificate["key"] in self.roots:
            raise ref.Refused("malformed")
        if any(certificate["serial"] in r["certificates"] for r in self.lists.values()):
            raise ref.Refused("certificateRevoked")
        if any(ref.key_hash(certificate["key"]) in r["keys"] for r in self.lists.values()):
            raise ref.Refused("keyRevoked")
        return signed, certificate

    def revoked(self, header, digest):
        app, lists = header["app"], self.lists.values()
        if any(x in r["packages"] for r in lists for x in (digest, header["payload"]["manifest"])):
            raise self.ref.Refused("packageRevoked")
        if any(app["build"] < r["minimumBuilds"].get(app["id"], 0) for r in lists):
            raise self.ref.Refused("belowMinimumBuild")
        if any(app["build"] > r["maximumBuilds"].get(app["id"], 2**53) for r in lists):
            raise self.ref.Refused("aboveMaximumBuild")

    def fresh(self, now):
        if any(r.get("expiresAt", now) < now for r in self.lists.values()) and self.options.get("listExpiry") != "ignored":
            raise self.ref.Refused("revocationsStale")
        age = self.options.get("maxListAge")
        if age is None:
            return
        for root in {self.ref.key_hash(k) for k in self.roots} - self.withdrawn():
            r = self.lists.get(root)
            if not r or r["issuedAt"] < now - age or r["issuedAt"] > now + SKEW or r.get("expiresAt", now) < now:
                raise self.ref.Refused("revocationsStale")

    def verify(self, data, clock):
        judged = self.judge(data, clock)
        self.ref.read_payload(judged[0], judged[2], judged[1]["content"])
        return judged

    def open(self, data, clock):
        header, certificate, _, digest, content, envelope = self.verify(data, clock)
        self.accepted.add(digest)
        self.builds[header["app"]["id"]] = {"build": header["app"]["build"], "content": content, "publisher": certificate["publisher"]}
        return {"header": header, "digest": digest, "envelope": envelope, "taken": False}

    def take(self, package, clock):
        if package["taken"]:
            raise Trouble("alreadyRun")
        self.chain(package["envelope"])
        self.revoked(package["header"], package["digest"])
        self.fresh(max(clock, self.floor_of_time))
        package["taken"] = True


class Trouble(Exception):
    """Could not be decided."""


def run(reference, vector, bytes_of, key_of):
    """The code of each step, None for accepted."""
    model = Model(reference, vector.get("options", {}))
    opened, codes = {}, []
    for i, step in enumerate(vector["steps"]):
        code, at = None, step.get("at", 0)
        try:
            if step["do"] == "addRoot":
                model.add_root(key_of(step["file"]))
            elif step["do"] == "updateRevocations":
                model.update(bytes_of(step["file"]), at)
            elif step["do"] == "verify":
                model.verify(bytes_of(step["file"]), at)
            elif step["do"] == "open":
                opened[i] = model.open(bytes_of(step["file"]), at)
            elif step["do"] == "take":
                model.take(opened[step["of"]], at)
            elif step["do"] == "restart":
                code = model.start(step.get("options", model.options))
        except reference.Refused as refusal:
            code = refusal.code
        except Trouble as trouble:
            code = str(trouble)
        codes.append(code)
    return codes
