"""What the curves are measured with: keys, packages, signatures, timed commands, and loads on a daemon."""

import base64
import ctypes
import ctypes.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import page
from common_daemon import Daemon, Publisher, digest
from measure import Row, interleaved
from page import TOOL

LIST_TYPE = b"application/vnd.nsh.revocations.v1+json"


class Host:
    """A publisher, the programs that measure, and a directory of its own for each curve."""

    def __init__(self, directory, quick):
        self.directory, self.quick = pathlib.Path(directory), quick
        os.chmod(directory, 0o711)
        self.publisher = Publisher(self.directory / "p")
        self.timed, self.load_program = page.compiled("common/timed"), page.compiled("daemon/load")
        self.sodium = ctypes.CDLL(ctypes.util.find_library("sodium") or "libsodium.so.23")
        self.digests = {}

    def folder(self, name):
        """A new directory, an old one of this name removed."""
        path = self.directory / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def sign(self, message):
        """The root's Ed25519 signature, by libsodium."""
        document = json.loads((self.publisher / "root.secret").read_bytes())
        seed, public = base64.b64decode(document["secret"]), base64.b64decode(document["public"])
        signature = ctypes.create_string_buffer(64)
        self.sodium.crypto_sign_detached(signature, None, message, ctypes.c_ulonglong(len(message)), seed[:32] + public)
        return signature.raw

    def envelope(self, payload):
        """A revocation list, signed by the root."""
        message = b"DSSEv1 %d %s %d %s" % (len(LIST_TYPE), LIST_TYPE, len(payload), payload)
        return {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": LIST_TYPE.decode(),
            "signatures": [{"sig": base64.b64encode(self.sign(message)).decode()}],
        }

    def tool(self, verb, *words):
        """A command of the tool that trusts the root."""
        return [TOOL, *verb.split(), *map(str, words), "--root", str(self.publisher / "root.pub"), "-q"]

    def time(self, command, rounds, prepare=None, warm=True):
        """Runs a command so often: the document of its row."""
        row = Row(command[1], [command], prepare)
        interleaved([row], max(1, rounds), self.timed, warm=warm)
        return row.document()

    def digest(self, package):
        if package not in self.digests:
            self.digests[package] = digest(package)
        return self.digests[package]

    def daemon(self, state, name):
        """A running daemon on a store that is there already; ends with the block."""
        directory = self.folder(name)
        daemon = Daemon(directory, wait=None)
        daemon.state = pathlib.Path(state)
        daemon.trust(self.publisher / "root.pub")
        return daemon

    def load(self, daemon, requests, connections, seconds):
        """The load generator on a daemon: its numbers. `requests` are (route, document)."""
        files = []
        for index, (route, document) in enumerate(requests):
            body = json.dumps(document).encode()
            files.append(daemon.directory / f"request-{index}")
            files[-1].write_bytes(
                b"POST /v1/packages/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                % (route.encode(), len(body), body)
            )
        words = [self.load_program, daemon.socket, connections, seconds, 0, daemon.pid, '"accepted"', *files]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            sys.exit(
                f"bench-scale: {' '.join(map(str, words[:7]))} …: exit status {done.returncode}\n{done.stdout}{done.stderr}{daemon.log()[-2000:]}"
            )
        return json.loads(done.stdout)


def fits(size):
    """Whether so many bytes may be put into memory."""
    return size <= page.memory_left()


def say(curve, row):
    """Shows one point of a curve as it comes."""
    print(
        f"{curve}: "
        + ", ".join(
            f"{name} {value:,}" if isinstance(value, (int, float)) else f"{name} {value}" for name, value in row.items()
        ),
        flush=True,
    )
    return row
