"""Reads Swift source just far enough for the checks: code, comments and string literals told apart."""
import pathlib
import re


class SwiftSource:
    """One Swift file, split into code and string literals; comments are gone.

    `code` has the length and the line breaks of the file, with comments and the insides of string
    literals blanked, so that an offset in it is an offset in the file. `strings` holds pairs of
    offset and text, one for each literal.
    """

    def __init__(self, path, text):
        self.path = pathlib.Path(path)
        self.text = text
        self.code, self.strings = _split(text)

    @classmethod
    def read(cls, path):
        return cls(path, pathlib.Path(path).read_text(encoding="utf-8"))

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def imports(self):
        """Yields (module, offset) for each import declaration."""
        pattern = r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*(?:(?:public|package|internal|fileprivate|private)[ \t]+)?import[ \t]+" \
                  r"(?:(?:struct|class|enum|func|var|let|typealias|protocol)[ \t]+)?([A-Za-z_]\w*)"
        for found in re.finditer(pattern, self.code, re.MULTILINE):
            yield found.group(1), found.start(1)


def _split(text):
    code, strings, i, n = list(text), [], 0, len(text)

    def blank(start, end):
        for k in range(start, end):
            if code[k] != "\n":
                code[k] = " "

    while i < n:
        if text.startswith("//", i):
            end = text.find("\n", i)
            end = n if end < 0 else end
            blank(i, end)
            i = end
        elif text.startswith("/*", i):
            depth, end = 1, i + 2
            while end < n and depth:
                if text.startswith("/*", end):
                    depth, end = depth + 1, end + 2
                elif text.startswith("*/", end):
                    depth, end = depth - 1, end + 2
                else:
                    end += 1
            blank(i, end)
            i = end
        elif text[i] == '"' or (text[i] == "#" and re.match(r'#+"', text[i:i + 8])):
            i = _string(text, i, blank, strings)
        else:
            i += 1
    return "".join(code), strings


def _string(text, i, blank, strings):
    """Takes the literal that begins at i; interpolations stay visible as code. Returns the offset after it."""
    hashes = re.match(r"#*", text[i:]).group(0)
    quote = '"""' if text.startswith('"""', i + len(hashes)) else '"'
    start = j = i + len(hashes) + len(quote)
    end_mark, escape = quote + hashes, "\\" + hashes
    kept, literal = start, []
    while j < len(text):
        if text.startswith(end_mark, j):
            break
        if quote == '"' and text[j] == "\n":
            break
        if text.startswith(escape, j):
            j += len(escape)
            if j < len(text) and text[j] == "(":
                literal.append(text[kept:j])
                blank(kept, j)
                j = _interpolation(text, j, blank, strings)
                kept = j
            else:
                j += 1
            continue
        j += 1
    literal.append(text[kept:j])
    blank(kept, j)
    strings.append((start, "".join(literal)))
    return min(j + len(end_mark), len(text))


def _interpolation(text, j, blank, strings):
    depth = 0
    while j < len(text):
        if text[j] == "(":
            depth += 1
        elif text[j] == ")":
            depth -= 1
            if depth == 0:
                return j + 1
        elif text[j] == '"':
            j = _string(text, j, blank, strings)
            continue
        j += 1
    return j
