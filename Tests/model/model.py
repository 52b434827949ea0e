#!/usr/bin/env python3
"""Explores accept.pml, the protocol by which a build is accepted, and shows that its broken variants are caught.

    .venv/bin/python Tests/model/model.py              small instances, each explored whole; every broken variant
    NSH_LONG=1 .venv/bin/python Tests/model/model.py   larger instances as well: two hours, and 5 GiB of memory
    .venv/bin/python Tests/model/model.py NAME...      the named instances or variants

Proved for an instance: in no state that its processes can reach, in whatever order they run and wherever one is killed, a
commit fails or the power goes, does a claim of accept.pml fail, and no process waits for ever. A variant passes when
exactly the claim falls that it names. `spin` makes a program of the model, the C compiler builds it, and its search is
exhaustive: every state is kept as it is, without hashing any away. README.md says which step is which function. Three of
the larger instances, and the larger variants, do not fit into memory like that: of each state a few bits are kept in a
table of 4 GiB, so that one may be taken for another, and a search ends after half an hour (NSH_MINUTES). The lines say how
far each came.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
MODEL = HERE / "accept.pml"
LONG = os.environ.get("NSH_LONG") == "1"
COMPILER = next((c for c in ("gcc", "clang", "cc") if shutil.which(c)), None)
SECONDS = 60 * int(os.environ.get("NSH_MINUTES", "30")) if LONG else 600
TABLE = 35  # 2^35 bits

# name -> (what it explores, the defines)
INSTANCES = {
    "three-openers": ("3 builds by 3 processes, one of them killed at any step",
                      {"SCENE": 321, "PRUNES": 0, "FAULTS": 1, "POWERLOSSES": 0, "FAILURES": 0}),
    "pruning": ("2 processes that open one build and one that prunes or removes, while the lists are applied",
                {"OPENERS": 2, "SCENE": 22, "FAULTS": 0}),
    "pruning-killed": ("the same without lists, any process killed at any step",
                       {"OPENERS": 2, "SCENE": 22, "FAULTS": 1, "POWERLOSSES": 0, "FAILURES": 0, "LISTS": 0}),
}
LONG_INSTANCES = {
    "pruning-faults": ("the same with lists, any one kill, failed commit, loss of power or damage",
                       {"OPENERS": 2, "SCENE": 22, "FAULTS": 1, "DAMAGES": 1}),
    "one-build-thrice": ("3 processes that open one build, one that prunes, any one fault",
                         {"SCENE": 222, "FAULTS": 1, "SLOTS": 8}),
    "any-two-faults": ("2 processes that open one build and one that prunes, any two faults",
                       {"OPENERS": 2, "SCENE": 22, "FAULTS": 2, "DAMAGES": 1, "SLOTS": 8}),
    "every-choice": ("3 processes that open any builds, killed, failing or without power once",
                     {"PRUNES": 0, "FAULTS": 1, "SLOTS": 8}),
}
IN_A_TABLE = ("one-build-thrice", "any-two-faults", "every-choice")
NOTHING = {"OPENERS": 2, "SCENE": 22, "FAULTS": 0}
CRASH = {"OPENERS": 2, "SCENE": 22, "FAULTS": 1, "POWERLOSSES": 0, "FAILURES": 0, "LISTS": 0}
POWER = {"OPENERS": 2, "SCENE": 22, "FAULTS": 1, "CRASHES": 0, "FAILURES": 0, "LISTS": 0}
FAILED = {"OPENERS": 2, "SCENE": 22, "FAULTS": 1, "CRASHES": 0, "POWERLOSSES": 0, "LISTS": 0}
ALONE = {"PRUNES": 0}
THREE = {"OPENERS": 3, "SCENE": 222}

# What is broken -> (the claim that has to fall, the instance in which it does)
VARIANTS = {
    "CHECK_OUTSIDE_THE_TRANSACTION": ("nothing_accepted_after_its_revocation", {**NOTHING, **ALONE}),
    "CHECK_OUTSIDE_THE_TRANSACTION FLOOR_ONLY_IN_THE_DECISION": ("nothing_accepted_below_a_higher_build",
                                                                 {**NOTHING, **ALONE, "SCENE": 31}),
    "ROOT_NOT_JUDGED_AGAIN": ("nothing_accepted_after_the_withdrawal", {**NOTHING, **ALONE}),
    "COMMIT_BEFORE_RENAME": ("recorded_tree_is_there_and_whole", {**CRASH, **ALONE}),
    "CLEAN_WITHOUT_LOCK": ("staging_in_use_is_not_cleaned", {**CRASH, **ALONE}),
    "NO_CLEAN_UP": ("nothing_is_left_over", {**CRASH, **ALONE}),
    "MAKE_WITHOUT_SECOND_LOOK": ("staging_in_use_is_not_cleaned", {**CRASH, **ALONE}),
    "NO_SYNC": ("no_half_tree_is_visible", {**POWER, **ALONE}),
    "NO_DIRECTORY_SYNC": ("recorded_tree_survives_power_loss", {**POWER, **ALONE}),
    "PRUNE_WITHOUT_LEASE": ("no_tree_in_use_is_removed", NOTHING),
    "LEASE_AFTER_COMMIT": ("opened_tree_is_there_and_whole", NOTHING),
    "PUT_BACK_OUTSIDE_A_TRANSACTION": ("recorded_tree_is_there_and_whole", {**FAILED, "CRASHES": 1, "FAULTS": 2}),
}
# These need hundreds of thousands of states and more; the long run looks for them.
LONG_VARIANTS = {
    "CLEAN_WITHOUT_SYNC": ("no_half_tree_is_visible", {**POWER, "CRASHES": 1, "FAULTS": 2}),
    "PUT_BACK_WITHOUT_SYNC": ("recorded_tree_survives_power_loss", {**FAILED, "POWERLOSSES": 1, "FAULTS": 2}),
    "ASIDE_WITHOUT_LEASE": ("pruning_leaves_what_is_used", {**FAILED, **THREE, "PRUNES": 2, "SLOTS": 8}),
    "LEASE_WITHOUT_READING_THE_ROW": ("accepted_is_recorded", {**NOTHING, **THREE, "LISTS": 0}),
    "TAKE_BACK_WITHOUT_LEASE": ("no_tree_in_use_is_removed", {**FAILED, **THREE}),
    "LEASE_WITHOUT_THIRD_LOOK": ("opened_tree_is_there_and_whole", {**FAILED, **THREE, "CRASHES": 1, "FAULTS": 2}),
}


def explore(defines: dict, breaking: str = "", table: bool = False) -> dict:
    """Builds the explorer of an instance and runs it. Returns what it counted, and the claim that fell, or None."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nsh-model-"))
    try:
        options = [f"-D{name}={value}" for name, value in defines.items()] + [f"-D{name}" for name in breaking.split()]
        subprocess.run(["spin", "-a", *options, str(MODEL)], cwd=folder, check=True, capture_output=True, text=True)
        # A short search is compiled in less time than the compiler takes to make it faster.
        kind = ["-O2", "-DBITSTATE"] if table else ["-O0"] if breaking else ["-O2"]
        subprocess.run([COMPILER, "-w", *kind, "-DSAFETY", "-DNOCLAIM", "-DVECTORSZ=512", "-o", "pan", "pan.c"],
                       cwd=folder, check=True, capture_output=True, text=True)
        begun = time.monotonic()
        with subprocess.Popen([folder / "pan", "-m200000", f"-w{TABLE if table else 22}"], cwd=folder,
                              stdout=subprocess.PIPE, text=True) as search:
            # Interrupted, it says what it has counted.
            watch = threading.Timer(SECONDS, search.send_signal, [signal.SIGINT])
            watch.start()
            out = search.communicate()[0]
            watch.cancel()
        return {"seconds": time.monotonic() - begun, **reading(out)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def reading(out: str) -> dict:
    """Reads the explorer's summary."""
    number = lambda pattern: int(float((re.findall(pattern, out) or ["0"])[0]))
    fallen = re.search(r"pan:\d+: (.*?)(?: \(at depth \d+\))?$", out, re.MULTILINE)
    claim = None
    if fallen:
        named = re.findall(r"!\s*\(+(\w+)\)+", fallen[1])
        claim = named[-1] if named and "assertion" in fallen[1] else fallen[1]
    whole = "errors: 0" in out and "Search not completed" not in out and "max search depth too small" not in out
    factor = (re.findall(r"hash factor: ([\d.]+)", out) or ["none"])[0]
    return {"states": number(r"([\d.e+]+) states, stored"), "depth": number(r"depth reached (\d+)"), "claim": claim,
            "factor": factor, "whole": whole, "out": out}


def instance(name: str, what: str, defines: dict):
    table = name in IN_A_TABLE
    found = explore(defines, table=table)
    line = f"{name}: {what}: {found['states']:,} states, depth {found['depth']}, {found['seconds']:.1f} s"
    if table:
        line += f"; in a table, {'to the end' if found['whole'] else 'in part'}, hash factor {found['factor']}"
    whole = found["whole"] or table
    fault = f"{found['claim']} falls" if found["claim"] else None if whole else "the search is not complete"
    if not fault and found["states"] <= 100_000:
        fault = "not more than 100,000 states"
    return line, fault and f"{fault}\n{found['out']}"


def variant(breaking: str, claim: str, defines: dict):
    found = explore(defines, breaking, table=breaking in LONG_VARIANTS)
    line = f"{breaking}: {found['claim']} falls after {found['states']:,} states, {found['seconds']:.1f} s"
    return line, None if found["claim"] == claim else f"{claim} had to fall\n{found['out'][-2000:]}"


def main(names) -> int:
    instances = {**INSTANCES, **(LONG_INSTANCES if LONG or names else {})}
    variants = {**VARIANTS, **(LONG_VARIANTS if LONG or names else {})}
    unknown = set(names) - set(instances) - set(variants)
    if unknown:
        print(f"no instance or variant {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    if not shutil.which("spin") or not COMPILER:
        print("skipped: no spin or no C compiler here\n0 passed, 0 failed, 1 skipped")
        return 0
    wanted = lambda name: not names or name in names
    jobs = [(instance, (name, *rest)) for name, rest in instances.items() if wanted(name)]
    jobs += [(variant, (name, *rest)) for name, rest in variants.items() if wanted(name)]
    passed = failed = 0
    # The long instances need the memory for themselves.
    with concurrent.futures.ThreadPoolExecutor(1 if LONG else 2) as pool:
        for job in [pool.submit(function, *arguments) for function, arguments in jobs]:
            line, fault = job.result()
            print(f"FAILED  {line}: {fault}" if fault else f"ok  {line}", flush=True)
            passed, failed = passed + (not fault), failed + bool(fault)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
