#!/usr/bin/env python3
"""Runs the vectors through the reference program and compares verdict, code, digest and number of files.

The reference keeps no store; sequence_model.py puts one in memory on top of its parsers. What neither can judge (key files,
some options) is skipped.

The reference is conformance/nshpkg_ref.py below $NSH_SHARED (default: ../../shared from here). Where the two differ and the
specification says that the reference is wrong, the vector is listed in reference-differences.json with the reference's
answer; a difference that is not listed there, and a listed one that is none, are failures.

    check_reference.py             prints a line for each failure and a summary; exits 1 if there is one
    check_reference.py --differ    prints every difference, listed or not
"""
import argparse
import base64
import importlib.util
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import sequence_model  # noqa: E402

LIMITS = {"certificateEnvelopeBytes": "certificate", "headerEnvelopeBytes": "header", "files": "files", "directories": "directories",
          "unpackedBytes": "unpacked", "revocationListBytes": "list"}
OPTIONS = {"threshold": "threshold", "atSigning": "at_signing", "runtime": "runtime"}


def load(folder: pathlib.Path):
    path = folder / "conformance" / "nshpkg_ref.py"
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location("nshpkg_ref", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bytes_of(path: str) -> bytes:
    return (HERE / path).read_bytes()


def keys(paths) -> list:
    return [base64.b64decode(bytes_of(path)) for path in paths]


def judge(reference, vector) -> dict:
    """The reference's answer to a vector, or None where it has none."""
    kind, options = vector["kind"], dict(vector.get("options", {}))
    defaults = dict(reference.LIMITS)
    for name, value in options.pop("limits", {}).items():
        if name not in LIMITS:
            return None
        reference.LIMITS[LIMITS[name]] = value
    try:
        if kind == "package":
            if not set(options) <= set(OPTIONS):
                return None
            report = reference.verify(bytes_of(vector["file"]), keys(vector["roots"]), [bytes_of(x) for x in vector.get("revocations", [])],
                                      vector["at"], **{OPTIONS[k]: v for k, v in options.items()})
            return {"verdict": "accepted", "code": None, "digest": report["digest"], "files": report["files"], "app": report["app"]}
        if kind == "revocations":
            r = reference.read_revocations(bytes_of(vector["file"]), keys(vector["roots"]))
            return {"verdict": "accepted", "code": None, "sequence": r["sequence"], "issuer": r["issuer"]}
        if kind == "certificate":
            model = sequence_model.Model(reference, options)
            for i, path in enumerate(vector.get("revocations", [])):
                r = reference.read_revocations(bytes_of(path), keys(vector["roots"]))
                model.lists[i] = r
                if r["revokesIssuer"]:
                    r["keys"].append(r["issuer"])
            model.roots = keys(vector["roots"])
            return {"verdict": "accepted", "code": None, "serial": model.chain(bytes_of(vector["file"]))[1]["serial"]}
        if kind == "sequence":
            codes = sequence_model.run(reference, vector, bytes_of, lambda path: keys([path])[0])
            return {"steps": codes}
        if kind == "appId":
            return {"verdict": "accepted", "code": None, "directoryName": reference.directory_name(reference.app_id(vector["id"]))}
        return None
    except reference.Refused as refusal:
        return {"verdict": "refused", "code": refusal.code}
    except Exception as error:  # a crash of the reference is an answer too
        return {"verdict": "crash", "code": type(error).__name__}
    finally:
        reference.LIMITS.clear()
        reference.LIMITS.update(defaults)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--differ", action="store_true")
    options = parser.parse_args()
    shared = pathlib.Path(os.environ.get("NSH_SHARED", HERE.parent.parent / "shared"))
    reference = load(shared)
    if reference is None:
        print(f"check_reference.py: no reference below {shared}, nothing compared", file=sys.stderr)
        return 1 if os.environ.get("NSH_REQUIRE_SHARED") == "1" else 0
    known = {d["vector"]: d for d in json.loads((HERE / "reference-differences.json").read_text())["differences"]}
    agreed = skipped = 0
    failures = []
    for vector in json.loads((HERE / "index.json").read_text())["vectors"]:
        name = vector["name"]
        answer = judge(reference, vector)
        if answer is None:
            skipped += 1
            continue
        if "steps" in answer:
            wrong = [i for i, (step, code) in enumerate(zip(vector["steps"], answer["steps"])) if step["expect"]["code"] != code]
            agreed += not wrong
            failures += [f"{name}, step {i}: ours {vector['steps'][i]['expect']['code']}, the model {answer['steps'][i]}" for i in wrong]
            continue
        ours = vector["expect"]
        differs = any(ours.get(k) != v for k, v in answer.items())
        if differs and options.differ:
            print(f"{name}: ours {ours['code'] or 'accepted'}, reference {answer['code'] or 'accepted'}; {vector['title']}")
        listed = known.pop(name, None)
        if not differs and listed is None:
            agreed += 1
        elif differs and listed is None:
            failures.append(f"{name}: ours {ours}, reference {answer}")
        elif not differs:
            # Tables of a newer Unicode version make some differences go away.
            if not listed.get("mayAgree"):
                failures.append(f"{name}: listed as a difference, but both answer {ours['code'] or 'accepted'}")
        elif (answer["code"] or "accepted") != listed["reference"] or (ours["code"] or "accepted") != listed["ours"]:
            failures.append(f"{name}: the difference is another one than listed: reference {answer}")
    failures += [f"{name}: listed as a difference, but there is no such vector" for name in known]
    for failure in failures:
        print(f"check_reference.py: {failure}", file=sys.stderr)
    listed = len(json.loads((HERE / "reference-differences.json").read_text())["differences"])
    print(f"{agreed} agree, {listed} known differences, {skipped} that the reference cannot judge, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
