#!/usr/bin/env python3
"""Makes every test vector again, byte for byte: keys/, lists/, certificates/, packages/ and index.json.

    make.py            writes the files beside this script, removes those that no vector uses
    make.py --check    compares instead of writing; exits 1 and names what differs
    make.py --count    how many vectors there are, by kind, code and rule
"""
import argparse
import collections
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from maker.book import Book  # noqa: E402
from maker.cases import MODULES  # noqa: E402

FOLDERS = ("keys", "lists", "certificates", "packages")


def make() -> Book:
    book = Book()
    for module in MODULES:
        module.add(book)
    seen = {}
    for v in book.vectors:
        same = repr({k: x for k, x in v.items() if k not in ("name", "title", "rules", "expect")})
        if same in seen:
            raise SystemExit(f"make.py: {v['name']} and {seen[same]} are the same vector")
        seen[same] = v["name"]
    return book


def count(book: Book):
    codes, rules, kinds = collections.Counter(), collections.Counter(), collections.Counter()
    for v in book.vectors:
        kinds[v["kind"]] += 1
        rules.update(v["rules"])
        codes.update(s["expect"]["code"] or "accepted" for s in v["steps"]) if "steps" in v else codes.update([v["expect"]["code"] or "accepted"])
    for title, counter in (("vectors", kinds), ("answers", codes), ("rules", rules)):
        print(f"{title}: {sum(counter.values())}")
        for name, n in sorted(counter.items()):
            print(f"  {n:4} {name}")
    print(f"files: {len(book.files)}, {sum(map(len, book.files.values()))} bytes")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--count", action="store_true")
    options = parser.parse_args()
    book = make()
    if options.count:
        count(book)
        return 0
    wanted = {**book.files, "index.json": book.index()}
    there = {str(f.relative_to(HERE)) for folder in FOLDERS for f in (HERE / folder).glob("**/*") if f.is_file()}
    differing = []
    for path, data in sorted(wanted.items()):
        file = HERE / path
        if file.is_file() and file.read_bytes() == data:
            continue
        differing.append(path)
        if not options.check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    for path in sorted(there - set(wanted)):
        differing.append(path)
        if not options.check:
            (HERE / path).unlink()
    if options.check:
        for path in differing:
            print(f"make.py: {path} is not what the script makes", file=sys.stderr)
        print(f"{len(wanted)} files, {len(differing)} differ")
        return 1 if differing else 0
    print(f"{len(book.vectors)} vectors, {len(wanted)} files, {len(differing)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
