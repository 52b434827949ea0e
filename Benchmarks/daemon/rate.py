"""The measuring of rate.sh: rounds of daemon and bare server by turns, then the daemon with packages being opened."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "daemon"))
from common_daemon import MIB, Checks, needs_programs, within, world  # noqa: E402

TOOLS = pathlib.Path(sys.argv[1]).resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 3.0
RATIO, SLOWER = float(os.environ.get("NSH_RATIO", "0.6")), float(os.environ.get("NSH_SLOWER", "2.0"))
CONNECTIONS = 64


def load(path, request, *options, pid=None, seconds=SECONDS):
    """One run of the load generator: its numbers."""
    command = [TOOLS / "udsload", "-j", "-s", path, "-c", CONNECTIONS, "-d", seconds, "-w", 0.5, "-r", request, *options]
    done = subprocess.run([str(word) for word in command + (["-P", pid] if pid else [])], capture_output=True, text=True, timeout=seconds + 60, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"udsload: {done.stderr}")
    return json.loads(done.stdout)


def p99(row):
    return row["p99"] if "p99" in row else row["p99_us"]


def errors(row):
    return row.get("errors", 0)


def main():
    checks = Checks()
    needs_programs()
    base = "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 6 << 30 else None
    publisher, daemon = world(base=base)
    packages = []
    with daemon:
        name = daemon.open(publisher.package(1)).json["digest"]
        answer = daemon.check(name).body
        body = json.dumps({"digest": name}, separators=(",", ":")).encode()
        request, fixed = daemon.directory / "request", daemon.directory / "answer"
        request.write_bytes(b"POST /v1/packages/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        fixed.write_bytes(answer)
        threads = min(len(os.sched_getaffinity(0)), 8)
        bare_socket = daemon.directory / "bare"
        bare = subprocess.Popen([str(TOOLS / "bare"), str(bare_socket), str(fixed), str(threads)])
        try:
            within(10, bare_socket.exists)
            load(bare_socket, request, seconds=1), load(daemon.socket, request, seconds=1)
            rows = []
            for number in range(ROUNDS):
                pair = [(load(bare_socket, request, pid=bare.pid), load(daemon.socket, request, "-E", '"accepted"', pid=daemon.pid))]
                for plain, ours in pair:
                    rows.append((plain, ours))
                    print(f"round {number + 1}: bare {plain['rps']:.0f}/s p99 {p99(plain):.0f} us, daemon {ours['rps']:.0f}/s p99 {p99(ours):.0f} us, "
                          f"processor {plain['server_cpu_us']:.1f} and {ours['server_cpu_us']:.1f} us a request, ratio {ours['rps'] / plain['rps']:.3f}", flush=True)
        finally:
            bare.terminate()
            bare.wait(10)
        ratio = statistics.median(ours["rps"] / plain["rps"] for plain, ours in rows)
        print(f"median ratio {ratio:.3f}")
        checks.check("every request was answered", *[str(row) for pair in rows for row in pair if errors(row)][:1])
        checks.check(f"at least {RATIO} of the bare server's rate", ratio < RATIO and f"{ratio:.3f}")

        # Packages of 200 MB, one after another, for as long as the load runs; each of an app of its own, so that each is read whole.
        packages = [publisher.package(1, app=f"large{number}", size=200 * MIB) for number in range(6)]
        stop, opened = threading.Event(), []

        def work():
            while not stop.is_set():
                for package in packages:
                    if stop.is_set():
                        break
                    started = time.monotonic()
                    # Installed packages are opened from their header; verify reads them whole again.
                    route = "open" if len(opened) < len(packages) else "verify"
                    status = daemon.post(f"/v1/packages/{route}", {"path": str(package)}, timeout=120).status
                    opened.append((route, status, time.monotonic() - started))

        seconds = max(SECONDS, 5.0)
        quiet = [load(daemon.socket, request, seconds=seconds) for _ in range(2)]
        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        busy = [load(daemon.socket, request, seconds=seconds) for _ in range(2)]
        stop.set()
        worker.join(120)
        before, during = (statistics.median(p99(row) for row in rows) for rows in (quiet, busy))
        print(f"p99 {before:.0f} us, while {len(opened)} packages of 200 MB were opened or verified {during:.0f} us: {during / before:.2f} times; "
              f"rate {quiet[0]['rps']:.0f}/s and {busy[0]['rps']:.0f}/s; an open took {statistics.median(row[2] for row in opened):.1f} s")
        checks.check("every request was answered meanwhile", *[str(row) for row in quiet + busy if errors(row)][:1])
        checks.check("every package was opened", *[str(row) for row in opened if row[1] != 200][:1], len(opened) < 2 and f"only {len(opened)}")
        checks.check(f"p99 at most {SLOWER} times", during > SLOWER * before and f"{during / before:.2f} times")
    checks.finish()


if __name__ == "__main__":
    main()
