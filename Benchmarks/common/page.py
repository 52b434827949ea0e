"""What the three benchmarks share: the machine, where results go, and the marked places of docs/performance.md."""

import json
import os
import pathlib
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
RESULTS = ROOT / "Benchmarks" / "results"
TOOL = os.path.abspath(os.environ.get("NSH_PKGTOOL", ROOT / ".build" / "release" / "nsh-pkgtool"))
DAEMON = os.path.abspath(os.environ.get("NSH_TRUSTD", ROOT / ".build" / "release" / "nsh-trustd"))
MEMORY = "/dev/shm"


def needs(programs):
    """Ends the benchmark when a program is missing: `programs` are names with the Debian package that has them.

    What would steer the tool by the environment is taken out of it, and a request to end cleans up.
    """
    missing = [f"{name} (Debian package {package})" for name, package in programs.items() if not shutil.which(name)]
    missing += [f"{path} (make build)" for path in (TOOL, DAEMON) if not os.access(path, os.X_OK)]
    if missing:
        sys.exit("bench: not installed: " + ", ".join(missing))
    for name in ("NSH_TRUST_ROOTS", "NSH_TRUST_STATE", "NSH_TRUST_SOCKET", "SOURCE_DATE_EPOCH"):
        os.environ.pop(name, None)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def compiled(name, *libraries):
    """The path of a program made of Benchmarks/NAME.c. It lies under .build: what is in memory may not be run everywhere."""
    folder = ROOT / ".build" / "bench" / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / pathlib.Path(name).name
    source = ROOT / "Benchmarks" / f"{name}.c"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-o", program, source, *libraries], check=True)
    return str(program)


def scratch_base(needed):
    """Where temporary files of so many bytes go: memory when it has room for them, so that no disk is measured; else None, TMPDIR."""
    if os.path.isdir(MEMORY) and memory_left() >= needed:
        return MEMORY
    print(
        f"bench: no {needed / 1e9:.0f} GB are free in {MEMORY}: files go to {tempfile.gettempdir()}, and its disk is measured too"
    )
    return None


def memory_left():
    """Bytes that a benchmark may fill: what is free in memory's file system, and no more than three quarters of the memory."""
    with open("/proc/meminfo", encoding="ascii") as file:
        available = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    return min(shutil.disk_usage(MEMORY if os.path.isdir(MEMORY) else tempfile.gettempdir()).free, available * 3 // 4)


class Machine:
    """The machine, and how busy others kept it while something was measured."""

    def __init__(self):
        self.before = self.busy(), self.own(), os.times().elapsed

    @staticmethod
    def busy():
        """Seconds of processor time that anybody used since the start, stolen ones too."""
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def own():
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    def describe(self):
        """A document about the machine; `othersPercent` is the part of the processors that other programs used."""
        busy, own, elapsed = (now - then for now, then in zip((self.busy(), self.own(), os.times().elapsed), self.before))
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
        processors = len(os.sched_getaffinity(0))
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return {
            "processors": processors,
            "model": model,
            "memoryGiB": round(memory / 2**30),
            "kernel": platform.release(),
            "minutes": round(elapsed / 60, 1),
            "othersPercent": round(max(0.0, 100 * (busy - own) / (elapsed * (os.cpu_count() or 1))), 1),
        }


def sentence(machine):
    """The machine in a line for people; says when the figures are not to be quoted."""
    noise = machine["othersPercent"]
    warning = " **The machine was not idle: these figures are not to be quoted.**" if noise > 10 else ""
    return (
        f"{machine['processors']} processors ({machine['model']}), {machine['memoryGiB']} GiB, Linux {machine['kernel']}; "
        f"{machine['minutes']} minutes, in which other programs used {noise} % of the processors.{warning}"
    )


def save(name, document):
    """Keeps results as JSON, one member or row a line, so that a difference can be read."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def load(name):
    """Kept results, or None."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def put(mark, text, path=PAGE):
    """Puts text between the marks `<!-- MARK:begin -->` and `<!-- MARK:end -->` of docs/performance.md, or of another page."""
    begin, end = f"<!-- {mark}:begin -->", f"<!-- {mark}:end -->"
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(begin, 1)
    path.write_text(f"{before}{begin}\n{text.strip()}\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")


def table(heads, rows):
    """A table in Markdown."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def number(value, digits=3):
    """A number with so many significant digits, thousands set apart; one below 1 with fewer."""
    if abs(value) < 1:
        return f"{value:.2g}"
    return f"{value:,.{max(0, digits - len(str(int(abs(value)))))}f}"
