#!/usr/bin/env python3
"""The daemon's life: how it starts, says so, reloads, ends, is killed, and what stands in its way."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time

from common_daemon import (DAEMON, ENGINE_GROUP, ENGINE_GROUP_NAME, IS_ROOT, MIB, PACKAGE, PROJECT, Checks, Daemon, UnixConnection,
                           ask, connect, digest, head, needs_programs, scratch, tool, tool_json, within, world)

checks = Checks()
equal, true = checks.equal, checks.true


class Manager:
    """What a service manager listens on: READY=1 and the like."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        os.chmod(path, 0o666)
        self.said = []  # (when, text)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.suppress(OSError):
            while True:
                self.said.append((time.monotonic(), self.socket.recv(65536).decode()))

    def lines(self):
        return [line for _, text in self.said for line in text.splitlines()]

    def hears(self, line, seconds=10, count=1):
        return within(seconds, lambda: self.lines().count(line) >= count)


def notify():
    publisher, daemon = world(start=False)
    manager = Manager(daemon.directory / "notify")
    daemon.environment = {"NOTIFY_SOCKET": str(daemon.directory / "notify"), "WATCHDOG_USEC": "1000000"}
    daemon.start(wait=False)
    true("READY=1", manager.hears("READY=1"), manager.lines())
    equal("when it says so it answers", ask(daemon.socket, "GET", "/v1/health").status, 200)
    true("signs of life, at least twice in the time the manager allows", manager.hears("WATCHDOG=1", 5, 6), manager.lines())
    beats = [when for when, text in manager.said if "WATCHDOG=1" in text]
    checks.check("none of them late", *[f"{after - before:.2f} s" for before, after in zip(beats, beats[1:]) if after - before > 0.95])
    daemon.signal(signal.SIGHUP)
    true("SIGHUP: RELOADING=1, then READY=1 again", manager.hears("RELOADING=1") and manager.hears("READY=1", count=2), manager.lines())
    true("with the time that Type=notify-reload asks for", any(line.startswith("MONOTONIC_USEC=") for line in manager.lines()))
    # A daemon that hangs gives no sign of life, and its manager notices.
    os.kill(daemon.pid, signal.SIGSTOP)
    time.sleep(0.3)
    before = manager.lines().count("WATCHDOG=1")
    time.sleep(1.5)
    equal("a daemon that stands still gives none", manager.lines().count("WATCHDOG=1"), before)
    os.kill(daemon.pid, signal.SIGCONT)
    equal("SIGTERM: exit status", daemon.stop(20), 0)
    true("STOPPING=1", "STOPPING=1" in manager.lines())
    equal("the socket file is gone", daemon.socket.exists(), False)

    name = f"\0nsh-daemon-test-{os.getpid()}"
    abstract = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    abstract.bind(name)
    abstract.settimeout(10)
    daemon.environment = {"NOTIFY_SOCKET": "@" + name[1:]}
    with daemon.start():
        equal("an abstract socket of the manager", abstract.recv(4096).decode().splitlines()[0], "READY=1")
    daemon.environment = {"WATCHDOG_USEC": "200000", "WATCHDOG_PID": "1", "NOTIFY_SOCKET": str(daemon.directory / "notify")}
    before = manager.lines().count("WATCHDOG=1")
    with daemon.start():
        time.sleep(0.7)
        equal("a watchdog of another process is none of its business", manager.lines().count("WATCHDOG=1"), before)
    for interval in ("-5", "-inf", "nan", "0", "x", "18446744073709551616"):
        daemon.environment = {"WATCHDOG_USEC": interval, "NOTIFY_SOCKET": str(daemon.directory / "notify")}
        with daemon.start():
            equal(f"a watchdog of {interval} microseconds is none", daemon.get("/v1/health").status in (200, 503), True)


def activation():
    """LISTEN_FDS, by hand and by systemd-socket-activate."""
    publisher, daemon = world(start=False)
    package = publisher.package(1)
    path = daemon.directory / "given"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    os.chmod(path, 0o640)
    listener.listen(64)
    early = connect(path)  # a client that comes before the daemon
    early.sendall(head("GET", "/v1/health", "Connection: close"))

    def start(kind=listener):
        def hand_over():
            if kind.fileno() == 3:
                os.set_inheritable(3, True)
            else:
                os.dup2(kind.fileno(), 3)

        environment = {**os.environ, "LISTEN_FDS": "1"}
        log = open(daemon.log_path, "ab")  # noqa: SIM115
        # LISTEN_PID must be that of the daemon: a shell that becomes it knows its own number.
        process = subprocess.Popen(["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *daemon.command()], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env=environment, preexec_fn=hand_over, close_fds=False)
        log.close()
        return process

    process = start()
    data = b""
    with contextlib.suppress(socket.timeout):
        early.settimeout(15)
        while piece := early.recv(4096):
            data += piece
    true("a client that came first is answered", data.startswith(b"HTTP/1.1 200"), data[:100] or daemon.log())
    equal("it serves on the given socket", ask(path, "POST", "/v1/packages/open", {"path": str(package)}).status, 200)
    equal("and makes none of its own", daemon.socket.exists(), False)
    process.terminate()
    equal("SIGTERM", process.wait(20), 0)
    equal("the manager's socket file stays as it was", stat.S_IMODE(path.stat().st_mode), 0o640)
    later = connect(path)
    process = start()
    later.sendall(head("GET", "/v1/health", "Connection: close"))
    later.settimeout(15)
    true("nobody is turned away between two daemons", later.recv(4096).startswith(b"HTTP/1.1 200"))
    process.terminate()
    process.wait(20)

    network = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    network.bind(("127.0.0.1", 0))
    network.listen(1)
    process = start(network)
    equal("a network socket is never served", process.wait(20), 3)
    datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    datagram.bind(str(daemon.directory / "datagram"))
    process = start(datagram)
    equal("nor one for datagrams", process.wait(20), 3)
    # LISTEN_FDS that is for another process counts for nothing.
    daemon.environment = {"LISTEN_FDS": "1", "LISTEN_PID": "1"}
    with daemon.start():
        true("what was meant for another process is not taken", daemon.socket.exists())
    daemon.environment = {}

    activate = shutil.which("systemd-socket-activate")
    if not activate:
        checks.skip(2, "systemd-socket-activate is not there")
        return
    path = daemon.directory / "activated"
    log = open(daemon.log_path, "ab")  # noqa: SIM115
    process = subprocess.Popen([activate, "-l", str(path), *daemon.command()], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    true("systemd-socket-activate listens", within(10, path.exists))
    true("and the daemon answers the first client", within(10, lambda: ask(path, "GET", "/v1/health").status == 200), daemon.log()[-500:])
    process.terminate()
    equal("SIGTERM ends it", process.wait(20), 0)


def sockets():
    """The socket file: whom it lets in, and what may stand in its place."""
    publisher, daemon = world(start=False)
    mode = lambda: stat.S_IMODE(daemon.socket.stat().st_mode)
    with daemon.start():
        equal("its mode unless it is told otherwise", f"{mode():o}", "660")
        second = Daemon(daemon.directory, wait=None)
        second.state = daemon.directory / "second"
        second.start(wait=False)
        equal("a live socket is not replaced", second.process.wait(20), 3)
        equal("the first one goes on", daemon.get("/v1/health").status, 200)
        second.state, second.socket = daemon.state, daemon.directory / "elsewhere"
        second.start(wait=False)
        equal("a second daemon on one state directory is refused", second.process.wait(20), 3)
        equal("and leaves no socket", second.socket.exists(), False)
        daemon.kill()
    true("a killed daemon leaves its socket file", daemon.socket.is_socket())
    with daemon.start():
        equal("which the next one replaces", daemon.get("/v1/health").status, 200)
    daemon.socket.write_text("precious")
    daemon.start(wait=False)
    equal("another kind of file is not replaced", (daemon.process.wait(20), daemon.socket.read_text()), (3, "precious"))
    daemon.socket.unlink()
    os.symlink("/nothing", daemon.socket)
    daemon.start(wait=False)
    equal("nor is a symbolic link", (daemon.process.wait(20), daemon.socket.is_symlink()), (3, True))
    daemon.socket.unlink()
    long = daemon.directory / ("x" * 100)
    daemon.socket = long
    before = len(daemon.log())
    daemon.start(wait=False)
    equal("a path that is too long for a socket", daemon.process.wait(20), 3)
    true("is reported with what is allowed", re.search(r"\b(107|108)\b", daemon.log()[before:]), daemon.log()[before:])
    room = 107 - len(os.fsencode(daemon.directory)) - 1
    daemon.socket = daemon.directory / ("y" * room)
    if room > 0:
        with daemon.start():
            equal("the longest path that is allowed", len(os.fsencode(daemon.socket)), 107)
    daemon.socket = daemon.directory / "s"

    open_area = daemon.directory / "open"
    open_area.mkdir()
    os.chmod(open_area, 0o777)
    daemon.socket = open_area / "s"
    daemon.start(wait=False)
    equal("a directory in which others could replace the socket", daemon.process.wait(20), 3)
    daemon.socket = daemon.directory / "s"

    if IS_ROOT:
        daemon.options = ["--socket-mode", "0640", "--socket-group", ENGINE_GROUP_NAME]
        with daemon.start():
            equal("mode and group as asked", (f"{mode():o}", daemon.socket.stat().st_gid), ("640", ENGINE_GROUP))
    else:
        checks.skip(1, "another group needs root")
    daemon.options = []

    # No wider access for a moment: with every permission allowed by the mask, looked at as fast as possible and by strace.
    daemon.options = ["--socket-mode", "0600"]
    daemon.limits = lambda: os.umask(0)
    seen, stop = set(), threading.Event()

    def look():
        while not stop.is_set():
            with contextlib.suppress(OSError):
                seen.add(stat.S_IMODE(os.lstat(daemon.socket).st_mode))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    for _ in range(5):
        with daemon.start():
            pass
    stop.set()
    watcher.join(5)
    checks.check("the socket never had a wider mode", *[f"{one:o}" for one in seen if one & ~0o600])
    true("it was seen", seen)
    daemon.limits = None
    shutil.rmtree(daemon.state)
    daemon.limits = lambda: os.umask(0)
    with daemon.start():
        wide = [f"{path}: {stat.S_IMODE(path.lstat().st_mode):o}" for path in [daemon.state, *daemon.state.rglob("*")] if path.lstat().st_mode & 0o022]
        checks.check("nothing in the state directory is for others to write, whatever the mask", *wide)
    if shutil.which("strace"):
        trace = daemon.directory / "trace"
        process = subprocess.Popen(["strace", "-f", "-qq", "-o", str(trace), "-e", "trace=bind,umask,chmod,fchmod,fchmodat,chown,fchownat,listen", *daemon.command()],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lambda: os.umask(0))
        true("it starts under strace", within(30, daemon.is_there))
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGTERM)
        process.wait(30)
        calls = [line.split(None, 1)[1] for line in trace.read_text().splitlines() if re.search(r"\b(bind|umask)\(", line)]
        place = next((number for number, call in enumerate(calls) if call.startswith("bind(") and str(daemon.socket) in call), None)
        true("the socket is made while the mask takes every permission of others",
             place and re.match(r"umask\(0?(777|177|077)\)", calls[place - 1]), calls)
    else:
        checks.skip(2, "strace is not there")


def logs():
    publisher, daemon = world(["--log-format", "text"])
    with daemon:
        daemon.open(publisher.package(1))
        daemon.apply(publisher.list("--package", publisher / "orders-1.nshpkg"))
        (daemon.roots / "bad.pub").write_text("\x1b[31mno key\n<0>forged\n")
        daemon.signal(signal.SIGHUP)
        within(5, lambda: "bad.pub" in daemon.log())
    lines = daemon.log().splitlines()
    checks.check("each line has a priority for journald", *[line for line in lines if not re.match(r"<[3-7]>\S", line)][:3], not lines and "no line")
    true("a bad root file is a warning", any(line.startswith("<4>") and "bad.pub" in line for line in lines), lines)
    true("nothing in it that a terminal acts on", "\x1b" not in daemon.log())
    publisher, daemon = world(["--log-format", "json"])
    with daemon:
        (daemon.roots / "bad.pub").write_text("\x1b[31mno key\n<0>forged\n")
        daemon.signal(signal.SIGHUP)
        within(5, lambda: "bad.pub" in daemon.log())
    faults, rows = [], []
    for line in daemon.log().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            faults.append(line)
    checks.check("with --log-format json each line is an object", *faults[:3], not rows and "no line")
    checks.check("with time, level and message", *[str(row) for row in rows if not {"time", "level", "message"} <= set(row)][:3])

    # A log that nobody reads any more must not end the daemon.
    publisher, daemon = world(start=False)
    reading, writing = os.pipe()
    process = subprocess.Popen(daemon.command(), stdin=subprocess.DEVNULL, stdout=writing, stderr=writing)
    os.close(writing)
    true("it starts", within(20, daemon.is_there))
    os.close(reading)
    (daemon.roots / "bad.pub").write_text("x")
    process.send_signal(signal.SIGHUP)
    time.sleep(1.5)
    true("a log whose reader has gone does not end it", process.poll() is None and daemon.is_there(), process.poll())
    process.terminate()
    equal("SIGTERM", process.wait(20), 0)


def usage():
    """Command lines that are wrong: exit status 2, one line that says what, and nothing is made."""
    directory = scratch()
    good = ["--state", str(directory / "state"), "--roots", str(directory), "--socket", str(directory / "s")]
    for name, arguments in {
            "no option": [], "an unknown option": [*good, "--verbose"], "an abbreviation": [*good, "--socket-m", "0660"], "an operand": [*good, "x"],
            "no value": [*good, "--workers"], "a relative state directory": ["--state", "x", *good[2:]], "a relative socket": [*good[:4], "--socket", "s"],
            "an empty socket": [*good[:4], "--socket", ""], "a mode that is none": [*good, "--socket-mode", "rw"], "a mode over 777": [*good, "--socket-mode", "1777"],
            "no worker": [*good, "--workers", "0"], "a size that is none": [*good, "--max-package", "1GB"], "an unknown format": [*good, "--log-format", "xml"],
            "an option twice": [*good, "--socket", str(directory / "t")]}.items():
        done = subprocess.run([DAEMON, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
        checks.check(f"usage: {name}", done.returncode != 2 and f"exit status {done.returncode}", not done.stderr.startswith(b"nsh-trustd: ") and repr(done.stderr[:200]),
                     b"Fatal" in done.stderr and repr(done.stderr[:200]))
    for name, arguments in {"an unknown user": [*good, "--engine", "no-such-user"], "an unknown group": [*good, "--admin", "@no-such-group"],
                            "an unknown socket group": [*good, "--socket-group", "no-such-group"]}.items():
        done = subprocess.run([DAEMON, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
        true(f"{name}: it does not start", done.returncode in (2, 3) and b"no-such" in done.stderr, (done.returncode, done.stderr))
    equal("nothing was made", (directory / "state").exists(), False)
    for option, text in (("--version", b"nsh-trustd "), ("--help", b"usage: nsh-trustd"), ("--openapi", b"{")):
        done = subprocess.run([DAEMON, option], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
        equal(option, (done.returncode, done.stdout.startswith(text), done.stderr), (0, True, b""))
    (directory / "corrupt").mkdir()
    (directory / "corrupt" / "trust.sqlite").write_bytes(b"no database" * 100)
    done = subprocess.run([DAEMON, "--state", str(directory / "corrupt"), *good[2:]], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
    true("a damaged store: it does not start, and says so", done.returncode == 3 and b"storeCorrupt" in done.stderr, (done.returncode, done.stderr))


def slow_open(daemon, package, seconds=60):
    """An open in a thread of its own: ([answer or exception], thread)."""
    answers = []

    def work():
        try:
            answers.append(daemon.open(package, timeout=seconds))
        except Exception as error:  # noqa: BLE001 - told to who waits
            answers.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return answers, thread


def whole(daemon, name):
    rows = tool("store", "check", "--state", daemon.state, status=None)
    checks.check(f"{name}: the store is whole", not rows.startswith("OK") and rows)


def ends():
    """SIGTERM and kill -9 in the middle of work."""
    publisher, daemon = world()
    package = publisher.package(1, size=200 * MIB)
    with daemon:
        daemon.open(publisher.package(1, app="small"))
        answers, thread = slow_open(daemon, package)
        staged = lambda: any((daemon.state / "staging").glob("*"))
        true("work is under way", within(10, staged, 0.001))
        idle = connect(daemon.socket)
        started = time.monotonic()
        status = daemon.stop(80)
        seconds = time.monotonic() - started
        thread.join(10)
        print(f"  SIGTERM during an open of 200 MiB: ended after {seconds:.1f} s; the client got {answers[0]!r:.100}")
        equal("exit status", status, 0)
        finished = not isinstance(answers[0], Exception) and answers[0].status == 200
        installed = tool_json("store", "apps", "--state", daemon.state)
        equal("it ended before and is installed, or is not there at all", any(row["id"] == "com.example.orders" for row in installed), finished)
        true("work under way was finished", finished, repr(answers[0]))
        equal("nothing half done is left", list((daemon.state / "staging").glob("*")), [])
        equal("the socket file is gone", daemon.socket.exists(), False)
        idle.close()
        whole(daemon, "after SIGTERM")

    package = publisher.package(2, size=200 * MIB)
    for round_number, delay in enumerate((0.0, 0.1, 0.3)):
        with daemon.start():
            answers, thread = slow_open(daemon, package)
            within(10, staged, 0.001)
            time.sleep(delay)
            daemon.kill()
            thread.join(10)
            true("the client of a killed daemon hears nothing, or that it was done",
                 isinstance(answers[0], Exception) or answers[0].status == 200, answers[0])
            tool("store", "prune", "--state", daemon.state, "--dry-run", status=None)
            whole(daemon, f"after kill -9 ({round_number})")
    with daemon.start():
        equal("abandoned work is cleared away", within(10, lambda: not list((daemon.state / "staging").glob("*")), 0.1), True)
        equal("and is done again", daemon.open(package, timeout=60).status, 200)
        equal("check", daemon.check(digest(package)).json["verdict"], "accepted")
        whole(daemon, "after the restart")

    daemon.options = ["--client-timeout", "5s"]
    with daemon.start():
        body = publisher / "orders-2.nshpkg"
        connection = UnixConnection(daemon.socket, timeout=60)
        connection.putrequest("POST", "/v1/packages/open")
        for name, value in (("Content-Type", PACKAGE), ("Content-Length", str(body.stat().st_size))):
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(body.read_bytes()[:MIB])
        started = time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.signal(signal.SIGTERM)
            daemon.process.wait(80)
        print(f"  SIGTERM during an upload that does not go on: ended after {time.monotonic() - started:.1f} s")
        equal("an upload that does not go on does not keep it", daemon.process.poll(), 0)
        connection.close()
    for number in (signal.SIGINT, signal.SIGQUIT):
        daemon.start()
        daemon.signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.process.wait(20)
        true(f"{signal.Signals(number).name} ends it", daemon.process.poll() is not None, daemon.process.poll())
        daemon.kill()
    with daemon.start():
        daemon.signal(signal.SIGPIPE)
        time.sleep(0.2)
        equal("SIGPIPE does not", daemon.get("/v1/health").status, 200)
        for _ in range(50):
            daemon.signal(signal.SIGHUP)
        equal("fifty SIGHUP: it serves", daemon.get("/v1/health").status, 200)


def units():
    """The units, as systemd judges them, and where make install puts everything."""
    place = scratch()
    done = subprocess.run(["scripts/install", str(place / "usr")], cwd=PROJECT, capture_output=True, timeout=120, check=False,
                          env={**os.environ, "PREFIX": "/usr"})
    if not equal("install", (done.returncode, done.stderr[-300:]), (0, b"")):
        return
    for file, mode in (("bin/nsh-trustd", 0o755), ("bin/nsh-pkgtool", 0o755), ("share/man/man8/nsh-trustd.8", 0o644), ("lib/systemd/system/nsh-trustd.service", 0o644),
                       ("lib/systemd/system/nsh-trustd.socket", 0o644), ("lib/sysusers.d/nsh-trust.conf", 0o644), ("lib/tmpfiles.d/nsh-trust.conf", 0o644)):
        path = place / "usr" / file
        true(f"installed: {file}", path.is_file() and stat.S_IMODE(path.stat().st_mode) == mode, path)
    service = (place / "usr/lib/systemd/system/nsh-trustd.service").read_text()
    true("no placeholder is left in the unit", not re.search(r"@[A-Z]+@", service))
    equal("the installed daemon runs", subprocess.run([place / "usr/bin/nsh-trustd", "--version"], capture_output=True, timeout=20, check=False).returncode, 0)
    removed = subprocess.run(["scripts/install", "--remove", str(place / "usr")], cwd=PROJECT, capture_output=True, timeout=60, check=False)
    equal("what install put there is removed again", (removed.returncode, [path for path in place.rglob("*") if path.is_file()]), (0, []))

    if not shutil.which("systemd-analyze"):
        checks.skip(4, "systemd-analyze is not there")
        return
    system = place / "units"
    system.mkdir()
    for name in ("nsh-trustd.service", "nsh-trustd.socket"):
        text = (PROJECT / "packaging/systemd" / name).read_text().replace("@PREFIX@/bin/nsh-trustd", DAEMON)
        (system / name).write_text(text)
    done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=20", str(system / "nsh-trustd.service")],
                          capture_output=True, text=True, timeout=60, check=False)
    level = re.search(r"Overall exposure level for \S+: (\d+\.\d+)", done.stdout)
    true("systemd-analyze security", level, done.stdout[-300:] + done.stderr[-300:])
    if level:
        print(f"  exposure level {level.group(1)}")
        true("is below 2.0", float(level.group(1)) < 2.0, level.group(1))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(system / "nsh-trustd.socket"), str(system / "nsh-trustd.service")],
                          capture_output=True, text=True, timeout=60, check=False)
    complaints = [line for line in done.stderr.splitlines() if "nsh-trust" in line and "ser nsh" not in line]
    checks.check("systemd-analyze verify has nothing to say about the units", *complaints[:3])
    # The options of the unit are options of the daemon.
    command = re.search(r"^ExecStart=\S+ (.*)$", service, re.MULTILINE).group(1)
    options = subprocess.run([DAEMON, "--help"], capture_output=True, text=True, timeout=20, check=False).stdout
    checks.check("the unit's options exist", *[word for word in command.split() if word.startswith("--") and word not in options])
    if shutil.which("systemd-sysusers") and shutil.which("systemd-tmpfiles"):
        root = place / "root"
        (root / "etc").mkdir(parents=True)
        for name in ("passwd", "group"):
            (root / "etc" / name).write_text("root:x:0:0:root:/root:/bin/sh\n" if name == "passwd" else "root:x:0:\n")
        made = subprocess.run(["systemd-sysusers", f"--root={root}", str(PROJECT / "packaging/systemd/nsh-trust.sysusers")], capture_output=True, text=True,
                              timeout=60, check=False)
        true("sysusers.d makes the user and the groups", made.returncode == 0 and "nsh-trust" in (root / "etc/passwd").read_text()
             and "nsh-engines" in (root / "etc/group").read_text(), made.stderr)
        made = subprocess.run(["systemd-tmpfiles", f"--root={root}", "--create", str(PROJECT / "packaging/systemd/nsh-trust.tmpfiles")], capture_output=True,
                              text=True, timeout=60, check=False)
        true("tmpfiles.d makes the directories", (root / "etc/nsh-trust/roots.d").is_dir(), made.stderr)
    else:
        checks.skip(2, "systemd-sysusers is not there")


def unit_user():
    """As the unit runs it: a user of its own with two capabilities, and callers' paths opened with their rights."""
    if not IS_ROOT or not shutil.which("setpriv"):
        checks.skip(3, "setpriv as root is not there")
        return
    from common_daemon import ADMIN, ADMIN_GROUP, ENGINE, OTHER, as_user
    publisher, daemon = world(["--socket-mode", "0666", "--engine", "games"], start=False)
    package = publisher.package(1)
    daemon.state.mkdir(mode=0o711)
    os.chown(daemon.state, *ADMIN)
    os.chown(daemon.directory, *ADMIN)
    daemon.log_path.touch()
    os.chown(daemon.log_path, *ADMIN)
    command = daemon.command()
    daemon.command = lambda: ["setpriv", f"--reuid={ADMIN[0]}", f"--regid={ADMIN[1]}", "--clear-groups", "--inh-caps=-all,+setuid,+setgid",
                              "--ambient-caps=-all,+setuid,+setgid", "--bounding-set=-all,+setuid,+setgid", "--no-new-privs", *command]
    with daemon.start():
        private = daemon.directory / "private"
        private.mkdir()
        shutil.copy(package, private / "package")
        os.chown(private, 0, ADMIN_GROUP)
        os.chmod(private, 0o750)
        os.chmod(private / "package", 0o640)
        os.chown(private / "package", 0, ADMIN_GROUP)
        opened = lambda: (lambda answer: (answer.status, answer.code))(ask(daemon.socket, "POST", "/v1/packages/open", {"path": str(private / "package")}))
        equal("an engine's own path, by a supplementary group", as_user(*ENGINE, [ADMIN_GROUP], opened), (200, None))
        equal("and not without it", as_user(*ENGINE, [], opened), (404, "noSuchFile"))
        mine = daemon.directory / "mine"
        shutil.copy(package, mine)
        os.chown(mine, *ADMIN)
        os.chmod(mine, 0o600)
        judge = lambda: ask(daemon.socket, "POST", "/v1/packages/verify", {"path": str(mine)}).status
        equal("what only the daemon's user may read stays so for others", as_user(*OTHER, [], judge), 404)
        equal("its own user reads it", as_user(*ADMIN, [], judge), 200)


def main():
    needs_programs()
    for part in (notify, activation, sockets, logs, usage, ends, units, unit_user):
        with checks.part(part.__name__):
            part()
    checks.finish()


if __name__ == "__main__":
    main()
