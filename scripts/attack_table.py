"""Reads docs/known-attacks.md and the tests that it names; shared by check-attacks and run-attacks."""
import pathlib
import re

DOCUMENT = "docs/known-attacks.md"
ID = r"[A-M][0-9]{1,2}"
SWIFT = re.compile(r"`(\w+)/(\w+)`")
SCRIPT = re.compile(r"`(Tests/[\w./-]+\.(?:py|sh))`(?: \(((?:[^()]|\([^()]*\))+)\))?")


class Row:
    """An attack: its id, where it stands, its cells, and the tests that hold it."""

    def __init__(self, place, cells):
        self.place, self.id, self.defence, tests = place, cells[0], cells[3], cells[4]
        self.swift = SWIFT.findall(tests)
        self.scripts = [(path, text.replace("\\|", "|")) for path, text in SCRIPT.findall(tests)]
        self.cannot = tests.lower().startswith("cannot apply")
        self.rest = SCRIPT.sub("", SWIFT.sub("", tests)).strip(" ,;")


def listed(text):
    """The ids that the document promises, and how many it says they are."""
    found = re.search(rf"The (\d+) ids: ((?:{ID}\s+)+)", text + "\n")
    return (int(found.group(1)), found.group(2).split()) if found else (0, [])


def rows(text):
    """The rows of the document's tables, and what is wrong with their form."""
    found, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells or not re.fullmatch(ID, cells[0]):
            continue
        if len(cells) == 5 and all(cells):
            found.append(Row(f"{DOCUMENT}:{number}", cells))
        else:
            problems.append(f"{DOCUMENT}:{number}: {cells[0]} has {sum(map(bool, cells))} of 5 cells")
    return found, problems


def swift_tests(root):
    """Every Swift test: (suite, name) -> (place, ids that it carries, those of its suite included)."""
    tests = {}
    for path in sorted((root / "Tests").rglob("*.swift")):
        source = path.read_text(encoding="utf-8")
        suites = [(match.start(), match.group(2), attacks(match.group(1) or ""))
                  for match in re.finditer(r"^(@Suite(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s*)?(?:(?:public|package|final|private)\s+)*"
                                           r"(?:struct|class|actor|extension) (\w+)", source, re.MULTILINE)]
        for match in re.finditer(r"@Test\b(.*?)\bfunc `?(\w+)`?\(", source, re.DOTALL):
            around = [suite for suite in suites if suite[0] < match.start()]
            if around:
                _, name, ids = around[-1]
                place = f"{path.relative_to(root)}:{source.count(chr(10), 0, match.start()) + 1}"
                tests[name, match.group(2)] = (place, attacks(match.group(1)) | ids)
    return tests


def attacks(text):
    """The ids in the `.attack(…)` traits of a piece of source."""
    return {one for call in re.findall(r"\.attack\(([^)]*)\)", text) for one in re.findall(r'"([^"]*)"', call)}
