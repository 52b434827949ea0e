"""A file system that loses power, rebuilt from the log of one run.

strace writes down what a run did to the disk, bytes included. `Log` reads that into *operations* (an entry of a directory
that comes, goes or moves; bytes written to a file; a file cut off) and *syncs*. An operation is safe once its file, or each
directory that it changes, was synced after it, or the whole file system was. `Log.tree` builds what is there when
the power goes at some moment and, of what is not safe by then, only chosen operations have reached the disk.

The model is harsher than file systems are: what is not safe may come or not in any combination, entries of one directory
too. It takes two things for granted: a rename comes whole or not at all, and so does one write.
"""
import os
import pathlib
import re
import stat

LINE = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(?:\.\.\.)?')
OPTIONS = ["-xx", "-s", "16777216"]


class Node:
    """A file or directory; `entries` or `data` are what was there before the run."""

    def __init__(self, mode, entries=None):
        self.mode, self.entries, self.data = mode, entries, b""

    @classmethod
    def of(cls, path):
        path = pathlib.Path(path)
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.is_dir():
            return cls(mode, {child.name: cls.of(child) for child in path.iterdir()})
        node = cls(mode)
        node.data = path.read_bytes()
        return node


class Operation:
    """What one call changes: `entries` are (directory, name, node or None); or `node` gets `data` at `offset`, or `size`."""

    def __init__(self, text, entries=(), node=None, offset=0, data=None, size=None):
        self.text, self.entries, self.node = text, entries, node
        self.offset, self.data, self.size = offset, data, size
        self.open = {id(directory) for directory, _, _ in entries} or {id(node)}  # what is still to be synced
        self.moment = self.safe_at = None

    def note_sync(self, node, moment):
        """Takes note that a node was synced, or with None everything."""
        self.open = self.open - {id(node)} if node else set()
        if not self.open and self.safe_at is None:
            self.safe_at = moment

    def is_safe(self, moment):
        return self.safe_at is not None and self.safe_at < moment


class Log:
    """One run's operations; `moments` are the numbers of operations and syncs, `done_at` is when success was reported.

    `forget` says of a sync (its call and whether it is of a directory) whether it is taken out of the log: a planted fault.
    """

    def __init__(self, place, before, lines, forget=lambda call, is_directory: False):
        self.place, self.forget = str(place), forget
        self.root = before
        self.now = {id(before): dict(before.entries)}  # entries as the process sees them
        self.operations, self.moment, self.done_at, self.syncs = [], 0, None, 0
        self.files = {}  # descriptor: [node, position]
        self._enter(before)
        for line in lines:
            self._read(line)

    def _enter(self, node):
        for child in (node.entries or {}).values():
            if child.entries is not None:
                self.now[id(child)] = dict(child.entries)
                self._enter(child)

    # ---- finding names ----

    def _find(self, directory, path):
        """(directory, last name) of a path, or None when it leads outside of the place."""
        if path.startswith("/"):
            if path != self.place and not path.startswith(self.place + "/"):
                return None
            node, path = self.root, path[len(self.place):]
        else:
            node = directory and directory[0]
        names = [name for name in path.split("/") if name not in ("", ".")]
        if node is None or node.entries is None:
            return None
        for name in names[:-1]:
            node = self.now[id(node)][name]
        return node, names[-1] if names else "."

    def _node(self, found):
        return found[0] if found[1] == "." else self.now[id(found[0])].get(found[1])

    # ---- reading the log ----

    def _read(self, line):
        found = LINE.match(line)
        if not found or int(found.group(3)) < 0:
            return
        call, arguments, result = found.group(1), found.group(2), int(found.group(3))
        texts = [bytes.fromhex(text.replace("\\x", "")) for text in TEXT.findall(arguments)]
        plain = TEXT.sub('""', arguments).split(", ")
        reader = getattr(self, f"on_{call}", None)
        if reader:
            reader(plain, texts, result)

    def _add(self, text, **parts):
        self.operations.append(Operation(text, **parts))
        self.operations[-1].moment = self.moment
        self.moment += 1

    def _change(self, text, *entries):
        for directory, name, node in entries:
            if node is None:
                del self.now[id(directory)][name]
            else:
                self.now[id(directory)][name] = node
        self._add(text, entries=entries)

    def _file(self, number):
        return self.files.get(int(number))

    def _directory(self, number):
        return None if number == "AT_FDCWD" else self._file(number)

    def on_openat(self, plain, texts, result):
        found = self._find(self._directory(plain[0]), os.fsdecode(texts[0]))
        if not found:
            self.files.pop(result, None)
            return
        node = self._node(found)
        if node is None and "O_CREAT" in plain[2]:
            node = Node(int(plain[3], 8))
            self._change(f"create {found[1]}", (*found, node))
        self.files[result] = [node, 0]

    def on_openat2(self, plain, texts, result):
        self.on_openat([plain[0], "", ""], texts, result)

    def on_close(self, plain, _, result):
        self.files.pop(int(plain[0]), None)

    def on_fcntl(self, plain, _, result):
        if "DUPFD" in plain[1]:
            self.files[result] = self._file(plain[0])

    def on_mkdirat(self, plain, texts, _):
        self._make(self._find(self._directory(plain[0]), os.fsdecode(texts[0])), plain[2])

    def on_mkdir(self, plain, texts, _):
        self._make(self._find(None, os.fsdecode(texts[0])), plain[1])

    def _make(self, found, mode):
        if found:
            node = Node(int(mode, 8), {})
            self.now[id(node)] = {}
            self._change(f"mkdir {found[1]}", (*found, node))

    def on_fchmod(self, plain, *_):
        if self._file(plain[0]):
            self._file(plain[0])[0].mode = int(plain[1], 8)

    def on_chmod(self, plain, texts, _):
        if found := self._find(None, os.fsdecode(texts[0])):
            self._node(found).mode = int(plain[1], 8)

    def on_write(self, plain, texts, result):
        if plain[0] == "1":
            self.done_at = self.moment
            self.moment += 1
        elif file := self._file(plain[0]):
            self._add("write", node=file[0], offset=file[1], data=texts[0][:result])
            file[1] += result

    def on_pwrite64(self, plain, texts, result):
        if file := self._file(plain[0]):
            self._add("pwrite", node=file[0], offset=int(plain[3]), data=texts[0][:result])

    def on_ftruncate(self, plain, *_):
        if file := self._file(plain[0]):
            self._add("truncate", node=file[0], size=int(plain[1]))

    def on_renameat2(self, plain, texts, _):
        old = self._find(self._directory(plain[0]), os.fsdecode(texts[0]))
        new = self._find(self._directory(plain[2]), os.fsdecode(texts[1]))
        if old and new:
            self._change(f"rename {old[1]} to {new[1]}", (*new, self._node(old)), (*old, None))

    on_renameat = on_renameat2

    def on_unlinkat(self, plain, texts, _):
        if found := self._find(self._directory(plain[0]), os.fsdecode(texts[0])):
            self._change(f"unlink {found[1]}", (*found, None))

    def on_unlink(self, _, texts, result):
        self.on_unlinkat(["AT_FDCWD"], texts, result)

    def on_fsync(self, plain, *_):
        if file := self._file(plain[0]):
            self._sync("fsync", file[0])

    def on_fdatasync(self, plain, *_):
        if file := self._file(plain[0]):
            self._sync("fdatasync", file[0])

    def on_syncfs(self, plain, *_):
        self._sync("syncfs", None)

    def _sync(self, call, node):
        is_directory = node is not None and node.entries is not None
        if self.forget(call, is_directory):
            return
        self.syncs += 1
        for operation in self.operations:
            operation.note_sync(node, self.moment)
        self.moment += 1

    # ---- losing power ----

    def loose(self, moment):
        """Numbers of the operations made before a moment: those that may be lost then, and those that are safe."""
        made = [number for number, one in enumerate(self.operations) if one.moment < moment]
        safe = frozenset(number for number in made if self.operations[number].is_safe(moment))
        return frozenset(made) - safe, safe

    def tree(self, kept):
        """The tree of what was there before and of these operations: {path: (mode, bytes or None)}."""
        entries, data = {}, {}
        for number in sorted(kept):
            one = self.operations[number]
            for directory, name, node in one.entries:
                inner = entries.setdefault(id(directory), dict(directory.entries or {}))
                if node is None:
                    inner.pop(name, None)
                else:
                    inner[name] = node
            if one.node is not None:
                content = data.setdefault(id(one.node), bytearray(one.node.data))
                if one.size is not None:
                    del content[one.size:]
                    content.extend(bytes(one.size - len(content)))
                else:
                    content.extend(bytes(max(0, one.offset - len(content))))
                    content[one.offset:one.offset + len(one.data)] = one.data
        tree = {}

        def walk(node, path):
            for name, child in sorted(entries.get(id(node), node.entries).items()):
                below = f"{path}{name}"
                if child.entries is None:
                    tree[below] = (child.mode, bytes(data.get(id(child), child.data)))
                else:
                    tree[below] = (child.mode, None)
                    walk(child, below + "/")
        walk(self.root, "")
        return tree


def build(tree, place):
    """Makes the files and directories of a tree."""
    for path, (mode, data) in tree.items():
        target = place / path
        if data is None:
            target.mkdir()
        else:
            target.write_bytes(data)
            target.chmod(mode)
    for path, (mode, data) in reversed(tree.items()):
        if data is None:
            (place / path).chmod(mode)
