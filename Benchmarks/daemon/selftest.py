"""Holds the load generator to servers whose answers are known: what it counts, and the latencies that it tells.

python3 Benchmarks/daemon/selftest.py     (needs gcc; seconds)
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

GOOD = b'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"accepted"'
OTHER = b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"refused"'
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def serve(path, answers, wait=0.0, stall=None):
    """Answers the n-th request of each connection with the n-th of `answers`, by turns; an empty one ends the connection.

    `stall` is (after how many seconds, for how long) nothing is answered, once.
    """
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    began = time.monotonic()

    def talk(connection):
        with connection:
            for number in range(1 << 30):
                try:
                    if not connection.recv(4096):
                        return
                    late = stall and stall[0] <= time.monotonic() - began < sum(stall)
                    time.sleep(max(wait, sum(stall) - (time.monotonic() - began)) if late else wait)
                    answer = answers[number % len(answers)]
                    if not answer:
                        return
                    connection.sendall(answer[:20])
                    connection.sendall(answer[20:])
                except OSError:
                    return

    def accept():
        while True:
            threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="nsh-load.") as folder:
        directory = pathlib.Path(folder)
        source = pathlib.Path(__file__).with_name("load.c")
        subprocess.run(
            ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-o", directory / "load", source], check=True
        )
        (directory / "request").write_bytes(REQUEST)

        def load(name, connections, rate=0, **server):
            path = str(directory / name)
            serve(path, **server)
            done = subprocess.run(
                [
                    str(directory / "load"),
                    path,
                    str(connections),
                    "0.7",
                    str(rate),
                    str(os.getpid()),
                    '"accepted"',
                    str(directory / "request"),
                ],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
            return done.returncode, json.loads(done.stdout)

        def claim(what, holds, shown):
            nonlocal failed
            failed += not holds
            print(f"{'ok     ' if holds else 'FAILED '} {what}" + ("" if holds else f": {shown}"))

        status, found = load("good", 2, answers=[GOOD], wait=0.02)
        claim(
            "answers in two pieces are counted, and none is an error",
            status == 0 and found["answers"] > 20 and not found["errors"],
            found,
        )
        claim("a server that takes 20 ms is said to take 20 ms or a little more", 20_000 <= found["p50"] * 1.02 < 60_000, found)
        status, found = load("other", 2, answers=[GOOD, OTHER], wait=0.002)
        claim(
            "an answer without the expected text is an error",
            status == 1 and 0.3 < found["errors"] / found["answers"] < 0.7,
            found,
        )
        status, found = load("busy", 2, answers=[BUSY], wait=0.0)
        claim(
            "503 is overloaded and no error, and rests",
            status == 0 and 0 < found["overloaded"] < 20 and found["rate"] == 0,
            found,
        )
        status, found = load("ends", 2, answers=[GOOD, b""], wait=0.002)
        claim(
            "a connection that ends is an error, and is dialled again",
            status == 1 and found["errors"] > 2 and found["rate"] > 10,
            found,
        )
        status, found = load("odd", 1, answers=[b'HTTP/1.1 200 OK\r\n\r\n"accepted"'], wait=0.002)
        claim("an answer without a length is an error", status == 1 and found["rate"] == 0, found)
        # 50 requests a second, 0.35 s of silence in the middle: the first of those due in it waited nearly as long.
        status, found = load("stall", 4, rate=50, answers=[GOOD], stall=(0.5, 0.35))
        claim(
            "a server that stands still shows in what was due meanwhile",
            status == 0 and found["p90"] > 150_000 and found["p99"] > 250_000,
            found,
        )
        claim("with a rate so many are asked, not more", 20 <= found["answers"] <= 40, found)
    print(f"{8 - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
