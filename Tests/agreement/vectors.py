#!/usr/bin/env python3
"""Every package of testvectors/index.json, judged by the tool and by the reference reader.

Verdict, code, digest and numbers of the tool must be the vector's and the reference's; where the reference is known to
answer otherwise (testvectors/reference-differences.json), it must answer exactly what stands there. Each run of the tool
ends within 2 seconds, needs little memory, exits as its verdict says, and prints one JSON line that no terminal could
stumble over. All answers of both programs are kept in agreement-answers.jsonl beside the logs of the tests.
"""
import concurrent.futures
import json
import os
import time

import common
import check_reference

WORKERS = 2
SECONDS = 2.0
MEMORY = 24 * common.MIB  # above what --version needs
OPTIONS = {"threshold": "--threshold", "runtime": "--runtime", "maxListAge": "--max-list-age"}
# Options of a host that the tool does not have.
ELSEWHERE = {"limits", "listExpiry", "publisherContinuity", "rebuilding"}
# Codes that come before the header is believed: nothing of it may be said.
BEFORE_HEADER = {"unsupportedFormat", "untrustedRoot", "rootWithdrawn", "certificateRevoked", "keyRevoked", "badSignature"}


def arguments(vector) -> list:
    line = ["verify", "--json", common.VECTORS / vector["file"], "--at", vector["at"]]
    for root in vector["roots"]:
        line += ["--root", common.VECTORS / root]
    for file in vector.get("revocations", []):
        line += ["--revocations", common.VECTORS / file]
    for name, value in vector.get("options", {}).items():
        line += ["--at-signing"] if name == "atSigning" else [OPTIONS[name], value]
    return line


def faults_of(vector, answer, base) -> list:
    """What is wrong with the tool's answer to a vector."""
    expect, faults = vector["expect"], common.form(answer)
    said = answer.object() or {}
    for name in ("verdict", "code", *(n for n in ("digest", "app", "files", "unpackedSize") if n in expect)):
        if said.get(name) != expect[name]:
            faults.append(f"{name} is {said.get(name)!r}, not {expect[name]!r}")
    if expect["code"] in BEFORE_HEADER and {"app", "digest", "signedAt", "files", "unpackedSize"} & set(said):
        faults.append(f"the answer shows what was not established: {sorted(said)}")
    if said.get("file") != str(common.VECTORS / vector["file"]):
        faults.append(f"file is {said.get('file')!r}")
    if answer.seconds > SECONDS:
        faults.append(f"took {answer.seconds:.2f} s")
    if answer.peak > base + MEMORY:
        faults.append(f"peak memory {answer.peak / common.MIB:.1f} MiB, --version needs {base / common.MIB:.1f}")
    return faults


class Differences:
    """The known differences of the reference, each of which must show."""

    def __init__(self):
        document = json.loads((common.VECTORS / "reference-differences.json").read_text())
        self.listed = {d["vector"]: d for d in document["differences"]}
        self.seen = set()

    def fault(self, vector, said: dict, reference: dict):
        """What is wrong between the tool's answer and the reference's; None when they agree or may differ so."""
        name, code = vector["name"], lambda answer: answer.get("code") or answer.get("verdict")
        differs = [k for k, v in reference.items() if said.get(k) != v]
        known = self.listed.get(name)
        if known is None:
            return f"the reference answers {code(reference)}, the tool {code(said)} ({', '.join(differs)})" if differs else None
        self.seen.add(name)
        if not differs:
            return None if known.get("mayAgree") else "a difference that is listed does not show"
        if (code(reference), code(said)) != (known["reference"], known["ours"]):
            return f"another difference than the one listed: reference {code(reference)}, tool {code(said)}"
        return None


def main():
    common.needs_tool()
    common.needs_shared()
    checks, differences, reference = common.Checks(), Differences(), common.reference()
    every = [v for v in json.loads((common.VECTORS / "index.json").read_text())["vectors"] if v["kind"] == "package"]
    vectors = [v for v in every if not ELSEWHERE & set(v.get("options", {}))]
    checks.skip(len(every) - len(vectors), "vectors whose options the tool does not have (the Swift tests have them)")
    base = common.run("--version").peak

    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        # verify judges each vector alone; the reference is asked meanwhile, in this thread.
        running = [workers.submit(common.run, *arguments(v)) for v in vectors]
        judged = [check_reference.judge(reference, v) for v in vectors]
        answers = [r.result() for r in running]
    seconds = time.monotonic() - begun

    silent = 0
    common.LOGS.mkdir(parents=True, exist_ok=True)
    with open(common.LOGS / "agreement-answers.jsonl", "w", encoding="utf-8") as log:
        for vector, answer, theirs in zip(vectors, answers, judged):
            said = answer.object() or {}
            if "message" in said:
                said["file"] = os.path.relpath(said.get("file", ""), common.PROJECT)
            log.write(json.dumps({"vector": vector["name"], "expect": vector["expect"], "tool": said, "reference": theirs,
                                  "status": answer.status, "seconds": round(answer.seconds, 4), "peak": answer.peak}) + "\n")
            silent += theirs is None
            checks.check(vector["name"], *faults_of(vector, answer, base),
                         differences.fault(vector, answer.object() or {}, theirs) if theirs is not None else None)
    gone = set(differences.listed) - differences.seen - {v["name"] for v in json.loads((common.VECTORS / "index.json").read_text())["vectors"]
                                                         if v["kind"] != "package"}
    checks.check("every difference that is listed was looked at", f"not {sorted(gone)}" if gone else None)

    accepted = sum(v["expect"]["verdict"] == "accepted" for v in vectors)
    slowest, hungriest = max(a.seconds for a in answers), max(a.peak for a in answers)
    print(f"{len(vectors)} packages ({accepted} accepted, {len(vectors) - accepted} refused for "
          f"{len({v['expect']['code'] for v in vectors} - {None})} codes), {silent} of them outside of what the reference can judge; "
          f"{len(differences.seen)} known differences; {seconds:.1f} s in all, the slowest run {slowest * 1000:.0f} ms, "
          f"peak memory {hungriest / common.MIB:.1f} MiB ({(hungriest - base) / common.MIB:.1f} over --version's)")
    checks.finish()


if __name__ == "__main__":
    main()
