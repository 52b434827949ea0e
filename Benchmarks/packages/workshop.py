"""What bench.py measures with: keys, programs and directories, and one app in one packing, signed by everybody."""

import base64
import itertools
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

import page
import trees
from measure import Row
from page import TOOL

ZSTD_LEVEL = "3"
PROGRAMS = {
    "gcc": "gcc",
    "minisign": "minisign",
    "bsdtar": "libarchive-tools",
    "gpg": "gnupg",
    "gpgv": "gpgv",
    "tar": "tar",
    "zstd": "zstd",
}


def quiet(*command, **options):
    """Runs a command of the preparation; its output is shown when it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    if done.returncode:
        sys.exit(f"bench: {' '.join(map(str, command))}\n{done.stdout}")


class Workshop:
    """Keys, programs and directories that all apps share."""

    def __init__(self, memory, disk):
        self.memory, self.disk = memory, disk
        self.numbers = itertools.count()
        self.timed = page.compiled("common/timed")
        self.floor = page.compiled("packages/floor", "-lsodium", "-lnettle", "-lzstd", "-lpthread")
        for name in ("root", "release"):
            quiet(TOOL, "keygen", memory / name, "--no-password")
        quiet(
            TOOL,
            "certify",
            "--root",
            memory / "root.secret",
            "--key",
            memory / "release.pub",
            "--publisher",
            "Bench",
            "--apps",
            trees.APP,
            "--days",
            "365",
            "-o",
            memory / "release.cert",
        )
        subprocess.run(
            ["minisign", "-G", "-W", "-f", "-p", memory / "mini.pub", "-s", memory / "mini.key"],
            input="\n\n",
            text=True,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        (memory / "gnupg").mkdir(mode=0o700)
        os.environ["GNUPGHOME"] = str(memory / "gnupg")
        quiet("gpg", "--batch", "-q", "--passphrase", "", "--quick-gen-key", "bench", "ed25519", "sign", "never")
        with open(memory / "gpg.pub", "wb") as file:
            subprocess.run(["gpg", "--export"], stdout=file, check=True)

    def close(self):
        """Ends the agent that gpg started."""
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False)

    def path(self, name):
        return str(self.memory / name)

    def starts(self):
        """What starting a process costs by itself: rows that do no work."""
        return [
            Row("nsh-pkgtool --version", [[TOOL, "--version"]]),
            Row("minisign -v", [[shutil.which("minisign"), "-v"]]),
            Row("gpgv --version", [[shutil.which("gpgv"), "--version"]]),
            Row("true", [[shutil.which("true")]]),
        ]


class Package:
    """One app in one packing, signed by everybody."""

    def __init__(self, shop, shape, tree, compression):
        self.shop, self.tree, self.compression = shop, tree, compression
        base = shop.memory / f"{shape.replace(' ', '-')}-{compression}"
        self.path = f"{base}.nshpkg"
        quiet(*self.publish())
        with open(self.path, "rb") as file:
            certificate, header = struct.unpack("<8x4xII", file.read(20))
            file.seek(20 + certificate)
            envelope = json.loads(file.read(header))
        chunk = json.loads(base64.b64decode(envelope["payload"]))["payload"]["chunkSize"]
        quiet(shop.floor, "seal", self.path, 20 + certificate + header, chunk, "zstd" if compression == "zstd" else "tar")
        self.archive = f"{base}.tar" + (".zst" if compression == "zstd" else "")
        for command in self.publish_with_others():
            quiet(*command)
        quiet("gpg", "--batch", "-q", "--yes", "--detach-sign", "-o", self.archive + ".gpg", self.archive)

    def remove(self):
        """Removes every file of the package, so that the next finds room."""
        for path in (self.path, self.path + ".floor", *(self.archive + end for end in ("", ".gpg", ".minisig"))):
            os.unlink(path)
        pathlib.Path(self.archive.removesuffix(".zst")).unlink(missing_ok=True)
        for name in ("out", "state", "store-without-trees"):
            shutil.rmtree(self.shop.path(name), ignore_errors=True)

    def prove(self):
        """Every program accepts the package and makes the same files of it, and each that hashes refuses it with one bit flipped.

        What is compared later is then known to do what its row says.
        """
        jobs = dict(itertools.islice(self.jobs(), 2))
        for row in jobs["verify"] + jobs["extract"]:
            if row.prepare:
                row.prepare()
            for command in row.commands:
                quiet(*command)
            if row in jobs["extract"]:
                self._compare(row.name)
        self._flip()
        for row in jobs["verify"]:
            if (
                not row.name.startswith("SHA-256")
                and subprocess.run(row.commands[0], capture_output=True, check=False).returncode == 0
            ):
                sys.exit(f"bench: {row.name} accepts a package with one bit flipped")
        self._flip()

    def _compare(self, name):
        """Every file of the app but app.json, which publish may write anew, is in the unpacked tree as it was."""
        out = pathlib.Path(self.shop.path("out"))
        for path in self.tree.rglob("*"):
            same = (
                path.is_dir()
                or path.name == "app.json"
                or path.read_bytes() == (out / path.relative_to(self.tree)).read_bytes()
            )
            if not same:
                sys.exit(f"bench: {name} unpacks {path.relative_to(self.tree)} otherwise than it was")

    def _flip(self):
        """Changes one bit in the middle of package and archive; a second time changes it back."""
        for path in (self.path, self.archive):
            with open(path, "r+b") as file:
                file.seek(os.path.getsize(path) // 2)
                byte = file.read(1)[0]
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte ^ 1]))

    def publish(self):
        level = ["--level", ZSTD_LEVEL] if self.compression == "zstd" else []
        return [
            TOOL,
            "publish",
            str(self.tree),
            "--key",
            self.shop.path("release.secret"),
            "--certificate",
            self.shop.path("release.cert"),
            "-q",
            "--compression",
            self.compression,
            *level,
            "-o",
            self.path,
        ]

    def publish_with_others(self):
        plain = self.archive.removesuffix(".zst")
        compress = (
            [[shutil.which("zstd"), "-q", "-f", "-" + ZSTD_LEVEL, plain, "-o", self.archive]]
            if self.compression == "zstd"
            else []
        )
        return [
            [shutil.which("tar"), "--format=ustar", "--sort=name", "-C", str(self.tree), "-cf", plain, "."],
            *compress,
            [shutil.which("minisign"), "-S", "-W", "-s", self.shop.path("mini.key"), "-m", self.archive],
        ]

    # What comes before a round, and is not timed.

    def _gone(self):
        shutil.rmtree(self.shop.path("out"), ignore_errors=True)

    def _emptied(self):
        self._gone()
        os.mkdir(self.shop.path("out"))

    def _without_tree(self):
        """The store is there and knows the build; the tree has to be made again."""
        if os.path.exists(self.shop.path("state")):
            quiet(TOOL, "store", "remove", trees.APP, "--state", self.shop.path("state"))

    def _on_disk(self, path, like=None):
        """Moves the last round's result away on the disk, and puts a store there that is like another.

        Nothing is deleted before the end, for some file systems are slow to make files soon after many were deleted.
        """

        def prepare():
            if os.path.exists(path):
                os.rename(path, self.shop.disk / f"out-{next(self.shop.numbers)}")
            if like:
                shutil.copytree(like, path)
            os.sync()

        return prepare

    def jobs(self):
        """(name, rows) of each job, ours first."""
        shop = self.shop
        ours = lambda verb, *words: [TOOL, verb, "-q", self.path, *words, "--root", shop.path("root.pub")]
        minisign = [shutil.which("minisign"), "-Vqm", self.archive, "-p", shop.path("mini.pub")]
        gpgv = [shutil.which("gpgv"), "-q", "--keyring", shop.path("gpg.pub"), self.archive + ".gpg", self.archive]
        out, state, store = shop.path("out"), shop.path("state"), shop.path("store-without-trees")
        disk_out, disk_state = str(shop.disk / "out"), str(shop.disk / "state")
        unpack = [shutil.which("bsdtar"), "-xf", self.archive, "-C", out]
        gnu = [
            shutil.which("tar"),
            *(["--zstd"] if self.compression == "zstd" else []),
            "-xf",
            self.archive,
            "-C",
            out,
            "--no-same-owner",
        ]
        floor = [shop.floor, "run", self.path]
        yield "verify", [
            Row("nsh-pkgtool", [ours("verify")]),
            Row("floor, 1 thread", [floor]),
            Row("floor, 2 threads", [[*floor, "-t"]]),
            Row("floor + file digests", [[*floor, "-t", "-f"]]),
            Row("SHA-256, 2 threads", [[shop.floor, "hash", self.path]]),
            Row("minisign -V", [minisign]),
            Row("gpgv", [gpgv]),
        ]
        yield "extract", [
            Row("nsh-pkgtool", [ours("extract", out)], self._gone),
            Row("floor, 1 thread", [[*floor, "-d", out]], self._gone),
            Row("floor, 2 threads", [[*floor, "-d", out, "-t"]], self._gone),
            Row("floor + file digests", [[*floor, "-d", out, "-t", "-f"]], self._gone),
            Row("minisign + bsdtar", [minisign, unpack], self._emptied),
            Row("minisign + tar", [minisign, gnu], self._emptied),
            Row("gpgv + tar", [gpgv, gnu], self._emptied),
        ]
        yield "open", [
            Row("nsh-pkgtool", [ours("open", "--state", state)], self._without_tree),
            Row("floor, 2 threads", [[*floor, "-d", out, "-t"]], self._gone),
            Row("floor + file digests", [[*floor, "-d", out, "-t", "-f"]], self._gone),
            Row("minisign + bsdtar", [minisign, unpack], self._emptied),
        ]
        yield "open again", [
            Row("nsh-pkgtool", [ours("open", "--state", state)]),
            Row("its process start", [[TOOL, "--version"]]),
            Row("minisign -V", [minisign]),
        ]
        self._without_tree()
        shutil.move(state, store)
        yield "open on disk, durable", [
            Row("nsh-pkgtool", [ours("open", "--state", disk_state)], self._on_disk(disk_state, store)),
            Row("floor, 2 threads, syncfs", [[*floor, "-d", disk_out, "-t", "-s"]], self._on_disk(disk_out)),
        ]
        yield "publish", [Row("nsh-pkgtool", [self.publish()]), Row("tar, zstd, minisign", self.publish_with_others())]
