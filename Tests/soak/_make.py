"""Packages and lists for the soak: many apps with many builds, by several keys and roots, and lists that take them back.

The lists are ordered as they are to be applied. Between them they revoke packages, contents, a certificate and two keys,
set floors, lower three apps with a ceiling and lift it again, withdraw root C by its own word and root B by root A's.
`facts` is what the checker judges by; it is taken from what was made, never from what the store says.
"""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testvectors"))
from maker import packages as p  # noqa: E402
from maker import wire  # noqa: E402

ROOTS = {letter: wire.Key(f"soak root {letter}") for letter in "ABC"}
KEYS = [wire.Key(f"soak release {number}") for number in range(6)]
#: Who signs a build: (root, key, publisher), by the build's place.
SIGNERS = [("A", 0, p.PUBLISHER), ("A", 1, p.PUBLISHER), ("A", 2, p.PUBLISHER), ("B", 3, p.PUBLISHER), ("C", 4, p.PUBLISHER),
           ("A", 0, p.PUBLISHER)]
OTHER = ("A", 5, "Other Ltd")
STEP = 10  # between builds
LISTS = 30


def serial(number):
    return wire.sha256(b"soak certificate %d" % number)[:32]


class World:
    def __init__(self, space, apps, builds):
        now = int(time.time())
        self.begin, self.signed, self.end = now - 86400, now - 3600, now + 90 * 86400
        self.space = space
        self.apps = [f"com.example.soak{number}" for number in range(apps)]
        self.packages, self.builds, self.lists = [], [], []
        signers = sorted(set(SIGNERS + [OTHER]))
        self.certificates = {s: p.certificate({"key": wire.b64(KEYS[s[1]].public), "notBefore": self.begin, "notAfter": self.end,
                                               "publisher": s[2], "serial": serial(s[1])}, keys=(ROOTS[s[0]],)) for s in signers}
        (space / "packages").mkdir()
        for app in self.apps:
            self.builds.append([self.build(app, place, (place + 1) * STEP) for place in range(builds)])
        (space / "lists").mkdir()
        for number in range(1, LISTS + 1):
            self.list(number, number / (LISTS + 1))

    def build(self, app, place, build):
        """The packages of one build: one, or two that are not the same."""
        signer = OTHER if place % 17 == 16 else SIGNERS[place % len(SIGNERS)]
        made = [self.package(app, build, signer, "first", damaged=place % 13 == 7)]
        if place % 9 == 4:
            made.append(self.package(app, build, signer, "second"))
        return made

    def package(self, app, build, signer, what, damaged=False):
        root, key, publisher = signer
        size = 300_000 if build % (7 * STEP) == 0 else 3000

        def files(table):
            table["assets/data"] = wire.sha256(f"{app} {build} {what}".encode()).encode() * (size // 64)

        def header(document):
            document["signedAt"] = self.signed

        def damage(payload):
            return payload[:-1500] + bytes([payload[-1500] ^ 1]) + payload[-1499:]
        built = p.package(app={"id": app, "build": build, "name": "Soak", "version": f"1.{build}"}, files=files, header=header, chunk=65536,
                          cert=self.certificates[signer], header_keys=(KEYS[key],), damage=damage if damaged else None)
        place = len(self.packages)
        path = self.space / "packages" / f"{place}.nshpkg"
        path.write_bytes(built.data)
        self.packages.append({"path": str(path), "digest": built.digest, "app": app, "build": build, "manifest": built.manifest, "root": root,
                              "serial": serial(key), "key": KEYS[key].hash, "publisher": publisher, "damaged": damaged})
        return place

    def near(self, app, part):
        """A package of an app at this part of the time."""
        builds = self.builds[app % len(self.apps)]
        return self.packages[builds[max(0, min(int(part * len(builds)), len(builds) - 1))][0]]

    def list(self, number, part):
        """One list; the issuer's next. Lists of a root replace each other, so each says again what must stay."""
        root = "B" if number % 6 == 2 and number < 24 else "C" if number in (4, 19) else "A"
        members = {"certificates": [], "keys": [], "packages": [], "minimumBuilds": {}, "maximumBuilds": {}, "revokesIssuer": False}
        members["sequence"] = 1 + sum(known["root"] == root for known in self.lists)
        for earlier in range(1, number + 1):
            then = earlier / (LISTS + 1)
            members["packages"] += [self.near(earlier + offset, then).get("digest" if offset % 2 else "manifest") for offset in range(3)]
            if earlier % 3 == 0:
                app = self.apps[earlier % len(self.apps)]
                members["minimumBuilds"][app] = max(self.near(earlier, then - 0.05)["build"], members["minimumBuilds"].get(app, 0))
        members["packages"] = sorted(set(members["packages"]))
        if root == "A":
            members["keys"] = [key for key, since in ((KEYS[1].hash, 0.35), (ROOTS["B"].hash, 0.8)) if part > since]
            members["certificates"] = [serial(2)] if part > 0.5 else []
            if 0.4 < part < 0.5:
                members["maximumBuilds"] = {self.apps[app]: self.near(app, 0.3)["build"] for app in (-1, -2, -3)}
        if root == "C":
            members["revokesIssuer"] = number == 19
            members["keys"] = [KEYS[4].hash] if number == 19 else []
        path = self.space / "lists" / f"{number}.json"
        path.write_bytes(p.revocations(issuer=ROOTS[root], issuedAt=self.signed, hook=None, **{
            name: value for name, value in members.items() if name != "maximumBuilds" or value}))
        self.lists.append({"root": root, "path": str(path), **members})

    def facts(self):
        """What the checker judges by."""
        return {"apps": self.apps, "packages": self.packages, "lists": self.lists, "roots": {letter: key.hash for letter, key in ROOTS.items()}}

    def plan(self, state, socket, begun, until):
        """What the workers work by, as a file."""
        path = self.space / "plan.json"
        path.write_text(json.dumps({
            "state": str(state), "socket": str(socket), "roots": {letter: wire.b64(key.public) for letter, key in ROOTS.items()},
            "apps": self.apps, "builds": self.builds, "packages": [{"path": k["path"], "digest": k["digest"]} for k in self.packages],
            "lists": [k["path"] for k in self.lists], "begun": begun, "until": until}))
        return path
