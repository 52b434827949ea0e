"""Finds every refusal of the Swift sources and rewrites it so that a number switches it off.

A site is one refusal: a clause of a `guard`, an `if`, a `case`, a lone `throw`, a sentence that says what is wrong, a call of
a check, a bound that is handed on, a permission. Numbers are stable from one build to the next as long as a file keeps its
sites, so that a second build compiles what changed.

How each is taken away, in order of preference:

    guard clause          nsh_passes(N, clause): evaluated, and taken for true
    if … { refusal }      a further clause nsh_keeps(N), which is false
    case …: refusal       a further `where nsh_keeps(N)`, in a switch with a default
    refusal, lone         before it: `continue` in a for loop, `return` where nothing is returned
    refusal, value needed another code is thrown, so that only a test of the exact code fails
    try check(…)          not called
    for: .admin           for: .any
"""
import bisect
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from swift_source import SwiftSource

ID = r"[A-Z]{3}-[0-9]{1,3}"
#: Folders whose every file is searched, and files of which a part is: the functions named, or all of it.
FOLDERS = ("Sources/NshTrust/Policy", "Sources/NshTrust/Format", "Sources/NshTrust/Payload")
DAEMON = "Sources/NshTrustd"
FILES = {
    f"{DAEMON}/Service/Authorization.swift": None,
    f"{DAEMON}/Service/RouteTable.swift": None,
    f"{DAEMON}/Service/Routes.swift": None,
    f"{DAEMON}/Service/CallersFiles.swift": None,
    f"{DAEMON}/Service/TrustService.swift": {"admit"},
    f"{DAEMON}/Service/AdminHandlers.swift": {"importStore"},
    f"{DAEMON}/Service/Handlers.swift": {"events", "eventPage"},
    f"{DAEMON}/HTTP/Peer+Kernel.swift": {"init"},
}
#: Functions whose `return false`, `return nil` or `return 0` behind a guard refuses, by file.
PREDICATES = {
    "CapabilityIntersection.swift": {"init", "allows", "areLabels", "contains"},
    "ContainerPrefix.swift": {"init"},
    "UTF8Sequence.swift": {"count", "text"},
    "JSONReader.swift": {"integer"},
    "FileList.swift": {"isWellFormed", "hasPath"},
    "Peer+Kernel.swift": {"init"},
}
#: Functions that only refuse: a statement that calls one is a refusal at that place.
CHECKS = ("roots certificate limits package scope window revocation builds freshness runtime requireThreshold checkChecksum "
          "checkNothingBehindNUL judgeCollisions judgeRequired judgePaths check use judge finish visit").split()
#: Bounds that a caller hands to a check, and what asks for none.
BOUNDS = {"in": ("integer(", "0...JSONReader.maximumInteger"), "maximum": ("judgeSize(", "nil")}


class Site:
    """One refusal. `key` names it without its line; `rules` are those that the sources name for it."""

    def __init__(self, file, offset, line, function, kind, text, rules):
        self.file, self.offset, self.line, self.function, self.kind = file, offset, line, function, kind
        self.text, self.rules = " ".join(text.split()), rules
        self.number, self.key = 0, ""

    def __str__(self):
        return f"{self.file}:{self.line}: {self.function}: {self.kind} {self.text}"


class Block:
    """One pair of braces and what it is: the keyword, the offset of the keyword, and the place of its condition."""

    def __init__(self, open_, close, kind="closure", start=None):
        self.open, self.close, self.kind = open_, close, kind
        self.start = open_ if start is None else start
        self.name, self.returns, self.parent, self.labels = "", None, None, []


class Rewriter:
    """Rewrites one file."""

    def __init__(self, path, text, functions=None):
        self.path, self.name, self.functions = path, pathlib.PurePath(path).name, functions
        self.source = SwiftSource(path, text)
        self.text, self.code = text, self.source.code
        self.blocks = self._blocks()
        self.sites, self.edits, self.handled = [], [], set()
        for find in (self._throws, self._sentences, self._falsehoods, self._calls, self._bounds, self._permissions):
            find()
        self._number()

    # What the file consists of.

    def _close(self, at):
        """The offset of what closes the bracket at `at`."""
        depth = 0
        for k in range(at, len(self.code)):
            if self.code[k] in "([{":
                depth += 1
            elif self.code[k] in ")]}":
                depth -= 1
                if depth == 0:
                    return k
        raise SystemExit(f"{self.path}: unbalanced brackets at line {self.source.line(at)}")

    def _body(self, at, stop="{"):
        """The first of `stop` at no depth behind `at`; -1 at the end of what surrounds it."""
        while at < len(self.code):
            if self.code[at] in stop:
                return at
            if self.code[at] in "([{":
                at = self._close(at)
            elif self.code[at] in ")]}":
                return -1
            at += 1
        return -1

    def _blocks(self):
        kinds = {}
        for found in re.finditer(r"(?<![.\w`])(guard|if|for|while|repeat|switch|do|catch|else|defer|struct|enum|class|extension|protocol)\b(?!:)",
                                 self.code):
            word, at = found.group(1), found.end()
            if word == "else" and re.match(r"\s*if\b", self.code[at:]):
                continue
            open_ = self._body(at)
            if open_ >= 0 and open_ not in kinds:
                kinds[open_] = (word, found.start(), "", None)
        for found in re.finditer(r"(?<![.\w`])(?:(func)\s+(\w+|[^\s\w(]+)|(init)[?!]?)\s*(<[^(]*>)?\(", self.code):
            after = self._close(found.end() - 1) + 1
            head = re.match(r"(?:\s*(?:async|throws(?:\(\w+\))?|rethrows))*\s*(->[^{}\n]*)?(?:\n?\s*where[^{}]*)?\s*\{", self.code[after:])
            if head:
                returns = (head.group(1) or "")[2:].strip() or ("Self" if found.group(3) else None)
                kinds[after + head.end() - 1] = ("func", found.start(), found.group(2) or "init", returns)
        for found in re.finditer(r"\bvar\s+(\w+)\s*:\s*([^={\n]+?)\s*\{", self.code):
            kinds[found.end() - 1] = ("func", found.start(), found.group(1), found.group(2))
        blocks, stack = [], []
        for at, letter in enumerate(self.code):
            if letter == "{":
                word, start, name, returns = kinds.get(at, ("closure", at, "", None))
                block = Block(at, 0, word, start)
                block.name, block.returns, block.parent = name, returns, stack[-1] if stack else None
                stack.append(block)
                blocks.append(block)
            elif letter == "}" and stack:
                stack.pop().close = at
        for block in blocks:
            if block.kind == "switch":
                block.labels = list(self._labels(block))
        return blocks

    def _labels(self, switch):
        """Yields (start, colon) for each label directly in a switch."""
        at = switch.open + 1
        while at < switch.close:
            found = re.compile(r"(?<=\s)(case\b|default\b(?=\s*:))").match(self.code, at)
            if found:
                colon = self._body(found.end(), ":")
                yield found.start(), colon
                at = colon
            elif self.code[at] in "([{":
                at = self._close(at)
            at += 1

    def _block(self, at):
        """The innermost block around an offset."""
        inner = None
        for block in self.blocks:
            if block.open < at < block.close:
                inner = block
        return inner

    def _chain(self, at):
        block = self._block(at)
        while block:
            yield block
            block = block.parent

    def _function(self, at):
        return next((block for block in self._chain(at) if block.kind == "func"), None)

    def _skipped(self, at):
        function = self._function(at)
        return bool(self.functions) and (function is None or function.name not in self.functions)

    def _rules(self, at):
        """The rules named beside a refusal, at its function, or else at its type."""
        line_start = self.text.rfind("\n", 0, at) + 1
        near = self._comment_above(line_start) + self.text[line_start:self.text.find("\n", at)].partition("//")[2]
        if re.search(rf"\b{ID}\b", near):
            return expand(near)
        for block in self._chain(at):
            if block.kind in ("func", "struct", "enum", "class", "extension"):
                above = self._comment_above(self.text.rfind("\n", 0, block.start) + 1)
                specs = " ".join(re.findall(r"-\s*Spec:(.*)", above))
                if found := expand(specs):
                    return found
        return expand(" ".join(re.findall(r"-\s*Spec:(.*)", self.text)))

    def _comment_above(self, line_start):
        lines, at = [], line_start
        while at > 0:
            before = self.text.rfind("\n", 0, at - 1) + 1
            line = self.text[before:at].strip()
            if not line.startswith(("//", "@")):
                break
            lines.append(line)
            at = before
        return "\n".join(reversed(lines))

    # Making sites.

    def _site(self, at, kind, text):
        function = self._function(at)
        site = Site(self.path, at, self.source.line(at), function.name if function else "-", kind, text, self._rules(at))
        self.sites.append(site)
        return site

    def _insert(self, at, site, text):
        self.edits.append((at, at, site, text))

    def _wrap(self, start, end, site, before, after):
        self._insert(start, site, before)
        self.edits.append((end, end, site, after))

    def _trim(self, start, end):
        while start < end and self.code[start].isspace():
            start += 1
        while end > start and self.code[end - 1].isspace():
            end -= 1
        return start, end

    def _clauses(self, start, end):
        """The comma-separated clauses of a condition, as offsets."""
        clauses, at = [], start
        while True:
            comma = self._body(at, ",")
            if comma < 0 or comma >= end:
                clauses.append(self._trim(at, end))
                return clauses
            clauses.append(self._trim(at, comma))
            at = comma + 1

    def _refuse(self, at, end, what, none=None):
        """Makes the sites of the refusal statement at `at`; `none` is the statement that goes on without it."""
        if at in self.handled or self._skipped(at):
            self.handled.add(at)
            return
        self.handled.add(at)
        block = self._block(at)
        if block.kind in ("guard",):
            self._refuse_guard(block, at, end, what, none)
        elif block.kind == "if":
            condition = self._trim(block.start + 2, block.open)
            site = self._site(block.start, "if", self.text[slice(*condition)])
            self._insert(condition[1], site, ", nsh_keeps({n})")
        elif block.kind == "switch" and self._refuse_case(block, at):
            pass
        else:
            self._refuse_alone(at, end, what, none)

    def _refuse_guard(self, block, at, end, what, none):
        condition_end = self.code.rfind("else", block.start, block.open)
        clauses = self._clauses(block.start + 5, condition_end)
        isolated = [clause for clause in clauses if not re.match(r"(let|var|case)\b", self.code[clause[0]:clause[1]])]
        for start, stop in isolated:
            site = self._site(start, "guard", self.text[start:stop])
            self._wrap(start, stop, site, "nsh_passes({n}, ", ")")
        if len(isolated) < len(clauses):
            bound = next(self.text[a:b] for a, b in clauses if (a, b) not in isolated)
            self._refuse_alone(at, end, what, none, "guard " + bound)

    def _refuse_case(self, switch, at):
        label = max((label for label in switch.labels if label[0] < at), default=None)
        if label is None or self.code.startswith("default", label[0]):
            return False
        if not any(self.code.startswith("default", start) for start, _ in switch.labels):
            return False
        start, colon = label
        site = self._site(start, "case", self.text[start + 4:colon])
        for a, b in self._clauses(start + 4, colon):
            joined = " && " if re.search(r"\bwhere\b", self.code[a:b]) else " where "
            self._insert(b, site, joined + "nsh_keeps({n})")
        return True

    def _refuse_alone(self, at, end, what, none, text=None):
        site = self._site(at, what, text or self.text[at:end])
        exit_ = none or self._way_on(at)
        if exit_:
            self._insert(at, site, "if !nsh_keeps({n}) {{ " + exit_ + " }}; ")
        elif what == "throw":
            start, stop = self._trim(at + len("throw"), end)
            self._wrap(start, stop, site, "nsh_other({n}, ", ")")
            site.kind = "code of"
        else:
            raise SystemExit(f"{self.path}:{site.line}: no way to do without: {site.text}")

    def _way_on(self, at):
        """The statement that goes on as if nothing were wrong, where there is one."""
        for block in self._chain(at):
            if block.kind == "for":
                return "continue"
            if block.kind in ("closure", "while", "repeat", "defer"):
                if block.kind == "closure":
                    return None
                continue
            if block.kind == "func":
                return "return" if block.returns is None else None
        return None

    def _statement_end(self, at):
        """Where the statement that begins at `at` ends."""
        depth = 0
        while at < len(self.code):
            letter = self.code[at]
            if letter in "([{":
                at = self._close(at)
            elif letter in ")]};":
                return at
            elif letter == "\n" and not re.match(r"\s*[.?:+&|]", self.code[at:]):
                return at
            at += 1
        return at

    # Finding refusals.

    def _throws(self):
        for found in re.finditer(r"(?<![\w.`])throw\b", self.code):
            self._refuse(found.start(), self._statement_end(found.start()), "throw")
        for found in re.finditer(r"\breturn\s+\.failure\b", self.code):
            at = found.start()
            end = self._statement_end(at)
            if self._skipped(at):
                continue
            inner = self.code.find("(", at)
            site = self._site(at, "code of", self.text[at:end])
            self._wrap(inner + 1, end - 1, site, "nsh_other({n}, ", ")")

    def _sentences(self):
        """What a function of `String?` says is wrong."""
        for found in re.finditer(r'\breturn\s+#*"', self.code):
            function = self._function(found.start())
            if function and function.returns == "String?":
                self._refuse(found.start(), self._statement_end(found.start()), "sentence", "return nil")
        for found in re.finditer(r"\breturn\s+(\S[^\n?]*?)\s+\?\s+nil\s+:", self.code):
            function = self._function(found.start())
            if function and function.returns == "String?":
                site = self._site(found.start(), "sentence", self.text[found.start():self._statement_end(found.start())])
                self._wrap(found.start(1), found.end(1), site, "nsh_passes({n}, ", ")")
        for found in re.finditer(r"\breturn\s+problem\s*\}", self.code):
            self._refuse(found.start(), found.start() + len("return problem"), "sentence", "return nil")

    def _falsehoods(self):
        """What the functions of PREDICATES refuse by `return false`, `return nil` or `return 0`."""
        names = PREDICATES.get(self.name, set())
        for found in re.finditer(r"\breturn\s+(false|nil|0)\b", self.code):
            at, block, function = found.start(), self._block(found.start()), self._function(found.start())
            if function is None or function.name not in names or self._skipped(at):
                continue
            if block.kind == "guard":
                stop = self.code.rfind("else", block.start, block.open)
                for a, b in self._clauses(block.start + 5, stop):
                    if not re.match(r"(let|var|case)\b", self.code[a:b]) and "isWildcard" not in self.code[a:b]:
                        site = self._site(a, "guard", self.text[a:b])
                        self._wrap(a, b, site, "nsh_passes({n}, ", ")")
                    elif re.match(r"let \w+$", self.code[a:b]) is None and "isWildcard" not in self.code[a:b]:
                        raise SystemExit(f"{self.path}:{self.source.line(a)}: no way to do without: {self.text[a:b]}")
            elif block.kind == "for" and " where " in self.code[block.start:block.open]:
                a, b = self._trim(self.code.rfind(" where ", block.start, block.open) + 7, block.open)
                site = self._site(a, "where", self.text[a:b])
                self._wrap(a, b, site, "!nsh_passes({n}, !(", "))")
        for found in re.finditer(r"\breturn\s+(differences == 0|bytes\.count > suffix\.count.*)", self.code):
            function = self._function(found.start())
            if function and function.name in names:
                site = self._site(found.start(), "return", self.text[found.start(1):found.end(1)])
                self._wrap(found.start(1), found.end(1), site, "nsh_passes({n}, ", ")")

    def _calls(self):
        pattern = r"(?m)^[ \t]*((?:_ = )?try (?:[\w?]+\.)*(?:%s)\()" % "|".join(CHECKS)
        for found in re.finditer(pattern, self.code):
            start = found.start(1)
            if self._skipped(start):
                continue
            end = self._close(found.end() - 1) + 1
            if self.code[end:].lstrip(" ")[:1] not in ("\n", "}"):
                continue
            site = self._site(start, "call", self.text[start:end])
            self._wrap(start, end, site, "if nsh_enters({n}) {{ ", "; nsh_leaves({n}) }}")

    def _bounds(self):
        for label, (call, none) in BOUNDS.items():
            for found in re.finditer(rf"\b{re.escape(call)}", self.code):
                if not re.search(r"try\s+(?:\w+\.)*$", self.code[:found.start()]):
                    continue
                close = self._close(found.end() - 1)
                for a, b in self._clauses(found.end(), close):
                    if argument := re.match(rf"{label}:\s*", self.code[a:b]):
                        start = a + argument.end()
                        site = self._site(start, "bound", self.text[found.start():b])
                        self._wrap(start, b, site, "nsh_keeps({n}) ? (", f") : ({none})")

    def _permissions(self):
        patterns = [
            (r"\bfor: (\.engine|\.admin)\b", "row", "nsh_keeps({n}) ? ", " : .any"),
            (r"(?m)^\s*case \.(?:engine|admin): (\S.*?)$", "permission", "nsh_passes({n}, ", ")"),
            (r"\b(users\.contains\(peer\.uid\) \|\|.*)$", "permission", "nsh_passes({n}, ", ")"),
            (r"\bisAdmin: (grants\.allow\(peer, \.admin\))", "permission", "nsh_passes({n}, ", ")"),
            (r"\bshowsCaller: (call\.isAdmin)\b", "permission", "nsh_passes({n}, ", ")"),
            (r"\bif (head\.isFromBrowser) \{ return true", "permission", "!nsh_passes({n}, !", ")"),
            (r"\breturn (!host\.isEmpty && .*)$", "permission", "!nsh_passes({n}, !(", "))"),
            (r"\bif (takesOnRights\(\)) \{", "permission", "!nsh_passes({n}, !(", "))"),
            (r"\belse if (peer\.uid == ownUser) \{", "permission", "nsh_passes({n}, ", ")"),
            (r"\bnoMagicLinks: (true)\b", "permission", "!nsh_passes({n}, !", ")"),
            (r"\bforbidden: (forbidden)\b", "permission", "nsh_keeps({n}) ? ", " : []"),
        ]
        if not self.path.startswith(DAEMON):
            return
        for pattern, kind, before, after in patterns:
            for found in re.finditer(pattern, self.code, re.MULTILINE):
                line = self.text[self.text.rfind("\n", 0, found.start(1)) + 1:self.text.find("\n", found.start(1))]
                if self._skipped(found.start(1)) or (kind == "row" and "Route(" not in self.code[:found.start()]):
                    continue
                site = self._site(found.start(1), kind, line.strip())
                self._wrap(found.start(1), found.end(1), site, before, after)

    # Numbers and text.

    def _number(self):
        self.sites.sort(key=lambda site: site.offset)
        seen = {}
        for index, site in enumerate(self.sites):
            site.number = index
            key = f"{site.file} | {site.function} | {site.kind} {site.text}"
            seen[key] = seen.get(key, 0) + 1
            site.key = key if seen[key] == 1 else f"{key} #{seen[key]}"

    def unrecognised(self):
        """Constructions of a refusal that are no site and no helper that makes one for a `throw`."""
        for found in re.finditer(r"(?<![\w.])(?:Refusal|Trouble|Problem|TreeFlaw)\(|(?<!\w)\.malformed\(|Refusal\.malformed\(|\bthrow\b", self.code):
            at = found.start()
            if self._skipped(at) or any(start <= at < self._statement_end(start) for start in self.handled):
                continue
            if any(site.offset <= at < self._statement_end(site.offset) for site in self.sites):
                continue
            function = self._function(at)
            if function and (function.returns in ("Refusal", "Trouble", "Problem") or function.name == "mutate"):
                continue
            # A stored refusal: `static let cut = …`, `var problem = …`, which is thrown elsewhere; an argument of finish(…).
            line = self.code[self.code.rfind("\n", 0, at) + 1:self.code.find("\n", at)]
            if re.search(r"\b(?:let|var)\s+\w+\s*=\s*(?:Self\.)?(?:Trouble|Problem|Refusal)\(", line) or "finish(" in line:
                continue
            yield f"{self.path}:{self.source.line(at)}: {line.strip()}"

    def rewritten(self, base):
        """The text with every site switched by `base` and its number."""
        if not self.sites:
            return self.text
        pieces, last = [], 0
        for at, _, site, text in sorted(self.edits, key=lambda edit: edit[0]):
            pieces += [self.text[last:at], text.format(n=base + site.number)]
            last = at
        pieces.append(self.text[last:])
        return "import CLinux\n" * ("import CLinux" not in self.text) + "".join(pieces)


def expand(text):
    """The ids of `- Spec: POL-2 … POL-12, ENV-10`, ranges filled in."""
    ids = set(re.findall(rf"\b{ID}\b", text))
    for first, a, last, b in re.findall(r"\b([A-Z]{3})-(\d+)\s*…\s*([A-Z]{3})-(\d+)", text):
        low, high = (int(a), int(b)) if first == last else (1, 0)
        ids |= {f"{first}-{n}" for n in range(low, high + 1)}
        if first != last:
            ids |= {f"{first}-{n}" for n in range(int(a), 40)} | {f"{last}-{n}" for n in range(1, int(b) + 1)}
    return ids


def files(root):
    """Yields (path, functions) of what is searched, in a fixed order."""
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.swift")):
            yield str(path.relative_to(root)), None
    yield from FILES.items()


def rewriters(root):
    """Yields (rewriter, base) for each file; bases leave room for 100 sites a file."""
    for index, (path, functions) in enumerate(files(root)):
        rewriter = Rewriter(path, (root / path).read_text(encoding="utf-8"), functions)
        if len(rewriter.sites) > 100:
            raise SystemExit(f"{path}: more than 100 sites")
        yield rewriter, 100 * (index + 1)
