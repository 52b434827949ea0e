"""What the suites of the daemon share: keys and packages, a running daemon, requests, other users, and counting.

The daemon is the program in NSH_TRUSTD (default: .build/release/nsh-trustd), the tool that makes keys and packages the
one in NSH_PKGTOOL. Everything lies in a temporary directory that other users may pass through; every wait has a limit,
and every process is ended by its number.
"""
import atexit
import base64
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import pickle
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True

PROJECT = pathlib.Path(__file__).resolve().parents[2]
DAEMON = os.path.abspath(os.environ.get("NSH_TRUSTD", PROJECT / ".build" / "release" / "nsh-trustd"))
TOOL = os.path.abspath(os.environ.get("NSH_PKGTOOL", PROJECT / ".build" / "release" / "nsh-pkgtool"))
LONG = os.environ.get("NSH_LONG") == "1"
IS_ROOT = os.geteuid() == 0
MIB = 1 << 20

PACKAGE = "application/vnd.nsh.package"
JSON = "application/json"
PROBLEM = "application/problem+json"

#: Users and groups that Debian always has and that nothing here runs as: (uid, gid).
ADMIN, ENGINE, OTHER = (34, 34), (5, 60), (33, 33)  # backup, games, www-data
ADMIN_NAME, ENGINE_NAME = "backup", "games"
ADMIN_GROUP, ENGINE_GROUP = 50, 44  # staff, video
ADMIN_GROUP_NAME, ENGINE_GROUP_NAME = "staff", "video"


# ---- counting ------------------------------------------------------------------------------------------------


class Checks:
    """Counts what passed, failed and was skipped, says what failed, and ends the script."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, *faults):
        """One test: passed when no fault is left; None, False and empty text are no faults."""
        faults = [str(fault) for fault in faults if fault]
        if faults:
            self.failed += 1
            print(f"FAILED  {name}: {'; '.join(faults)}", flush=True)
        else:
            self.passed += 1
        return not faults

    def equal(self, name, found, expected):
        return self.check(name, found != expected and f"{found!r}, expected {expected!r}")

    def true(self, name, condition, shown=""):
        return self.check(name, not condition and (shown or "not so"))

    def skip(self, count, why):
        if count:
            self.skipped += count
            print(f"skipped {count}: {why}", flush=True)

    @contextlib.contextmanager
    def part(self, name):
        """A part of a suite: what it raises is one failure, and the next part runs all the same."""
        started = time.monotonic()
        try:
            yield
        except Exception:  # noqa: BLE001 - whatever went wrong is said
            self.failed += 1
            print(f"FAILED  {name}: {traceback.format_exc()}", flush=True)
        print(f"{name}: {time.monotonic() - started:.1f} s", flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""), flush=True)
        sys.stdout.flush()
        sys.exit(1 if self.failed or not (self.passed or self.skipped) else 0)


def needs_programs():
    for program, variable in ((DAEMON, "NSH_TRUSTD"), (TOOL, "NSH_PKGTOOL")):
        if not os.access(program, os.X_OK):
            print(f"no program at {program}; make build, or set {variable}")
            print("0 passed, 1 failed")
            sys.exit(1)


def needs_root(count=1):
    """Ends a suite that nobody but root can run."""
    if not IS_ROOT:
        print("this suite runs processes of other users: it needs root")
        print(f"0 passed, 0 failed, {count} skipped")
        sys.exit(0)


def within(seconds, condition, step=0.01):
    """Waits for a condition at most so long; its last value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)


# ---- scratch space, keys and packages ------------------------------------------------------------------------


def scratch(base=None):
    """A new directory that other users may pass through, removed when the script ends."""
    path = tempfile.mkdtemp(prefix="nsh-daemon.", dir=base)
    os.chmod(path, 0o711)
    owner = os.getpid()

    def remove():
        if os.getpid() == owner:
            shutil.rmtree(path, ignore_errors=True)

    atexit.register(remove)
    return pathlib.Path(path)


def tool(*arguments, status=0, seconds=120):
    """Runs the tool; its standard output. Fails when it ends otherwise than expected (None: however it ends)."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NSH_TRUST", "XDG_"))}
    done = subprocess.run([TOOL, *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=seconds, check=False)
    if status is not None and done.returncode != status:
        raise AssertionError(f"nsh-pkgtool {' '.join(map(str, arguments))}: exit status {done.returncode}\n"
                             + done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace"))
    return done.stdout.decode()


def tool_json(*arguments, status=0, seconds=120):
    return [json.loads(line) for line in tool(*arguments, "--json", status=status, seconds=seconds).splitlines()]


class Publisher:
    """Keys, certificates, packages and lists of a made-up publisher, in a directory of its own."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(mode=0o755, exist_ok=True)
        self.lists = {}
        self.key("root")
        self.key("release")
        self.certify("release.cert")

    def __truediv__(self, name):
        return self.directory / name

    def key(self, name):
        tool("keygen", self / name, "--no-password", "--quiet")
        return self / f"{name}.pub"

    def key_hash(self, name):
        return key_hash(self / f"{name}.pub")

    def certify(self, name, *options, root="root", key="release", days=365, apps="com.example.*"):
        tool("certify", "--quiet", "--root", self / f"{root}.secret", "--key", self / f"{key}.pub", "--publisher", "Example Ltd",
             "--apps", apps, "--days", days, *options, "-o", self / name)
        return self / name

    def package(self, build, app="orders", key="release", certificate="release.cert", name=None, size=None, options=()):
        """A package of a small app; with `size`, one whose one asset has so many bytes, stored as they are."""
        name = name or f"{app}-{build}.nshpkg"
        source = self / f"{name}.app"
        (source / "assets").mkdir(parents=True)
        (source / "bundle.js").write_text('console.log("hello")\n')
        (source / "assets" / "texts.json").write_text(json.dumps({"name": name}))
        (source / "app.json").write_text(
            json.dumps({"id": f"com.example.{app}", "name": app.title(), "version": f"1.{build}.0", "build": build}))
        options = list(options)
        if size:
            with open(source / "assets" / "large", "wb") as file:
                file.truncate(size)
            options += ["--compression", "none"]
        tool("publish", source, "--quiet", "--key", self / f"{key}.secret", "--certificate", self / certificate, *options,
             "-o", self / name, seconds=600)
        shutil.rmtree(source)
        os.chmod(self / name, 0o644)
        return self / name

    def list(self, *options, root="root", name=None):
        """The root's next revocation list."""
        previous = self.lists.get(root)
        number = len(list(self.directory.glob(f"list-{root}-*"))) + 1
        path = self / (name or f"list-{root}-{number}.json")
        tool("revoke", "--quiet", "--root", self / f"{root}.secret", *(["--previous", previous] if previous else ["--first"]),
             *options, "-o", path)
        os.chmod(path, 0o644)
        self.lists[root] = path
        return path


def key_hash(public):
    """The hash by which lists and answers name a key."""
    return hashlib.sha256(base64.b64decode(tool_json("inspect", public)[0]["says"]["key"])).hexdigest()


def digest(package):
    """The package digest, as the tool shows it."""
    return tool_json("inspect", package)[0]["says"]["digest"]


# ---- requests ------------------------------------------------------------------------------------------------


class UnixConnection(http.client.HTTPConnection):
    """http.client over a Unix socket."""

    def __init__(self, path, timeout=30):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    """What came back: `status`, `headers` (lower-case names), `body`."""

    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {}
        for name, value in headers:
            self.headers[name.lower()] = value

    @property
    def type(self):
        return self.headers.get("content-type", "").partition(";")[0].strip()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """The stable code of a problem or of a verdict; None for anything else."""
        try:
            return self.json.get("code")
        except (ValueError, AttributeError):
            return None

    def __repr__(self):
        return f"{self.status} {self.type} {self.body[:300]!r}"


def ask(path, method, target, body=None, headers=None, timeout=30, connection=None):
    """One request. A dictionary or list as the body is sent as JSON, bytes with the type that `headers` give."""
    headers = dict(headers or {})
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
        headers.setdefault("Content-Type", JSON)
    mine = connection or UnixConnection(path, timeout)
    try:
        mine.request(method, target, body=body, headers=headers)
        answer = mine.getresponse()
        return Answer(answer.status, answer.getheaders(), answer.read())
    finally:
        if not connection:
            mine.close()


def connect(path, timeout=30):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Waits while more clients knock than can queue; with a limit of Python's own that would be an error at once.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(timeout), 0))
    sock.connect(str(path))
    sock.settimeout(timeout)
    return sock


def raw(path, data, timeout=15):
    """Sends exactly these bytes; the first answer, or None when the connection ends without one."""
    sock = connect(path, timeout)
    try:
        try:
            sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the answer may be there all the same
        answer = http.client.HTTPResponse(sock, method="HEAD" if data.startswith(b"HEAD ") else "GET")
        try:
            answer.begin()
            return Answer(answer.status, answer.getheaders(), answer.read())
        except (http.client.HTTPException, ConnectionResetError):
            return None
    finally:
        sock.close()


def head(method, target, *headers, host="localhost"):
    """The head of a request as bytes; with `host` None, without one."""
    lines = [f"{method} {target} HTTP/1.1"] + ([] if host is None else [f"Host: {host}"]) + list(headers)
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


class Follower:
    """Server-sent events, read by a thread: `events` are (arrival on the monotonic clock, id, kind, data)."""

    def __init__(self, path, after=None, last_event_id=None, timeout=60):
        headers = {"Accept": "text/event-stream"}
        if last_event_id is not None:
            headers["Last-Event-ID"] = str(last_event_id)
        query = "?follow=true" + (f"&after={after}" if after is not None else "")
        self.connection = UnixConnection(path, timeout)
        self.connection.request("GET", f"/v1/events{query}", headers=headers)
        self.answer = self.connection.getresponse()
        self.status = self.answer.status
        self.headers = {name.lower(): value for name, value in self.answer.getheaders()}
        self.events, self.comments, self.ended = [], [], threading.Event()
        self.more = threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        if self.status == 200:
            self.thread.start()

    def read(self):
        event, kind, data = None, None, []
        try:
            while True:
                line = self.answer.readline()
                if not line:
                    break
                line = line.rstrip(b"\r\n").decode()
                if line.startswith(":"):
                    self.comments.append(time.monotonic())
                elif line.startswith("id:"):
                    event = line[3:].strip()
                elif line.startswith("event:"):
                    kind = line[6:].strip()
                elif line.startswith("data:"):
                    data.append(line[5:].strip())
                elif not line and data:
                    with self.more:
                        self.events.append((time.monotonic(), event and int(event), kind, json.loads("\n".join(data))))
                        self.more.notify_all()
                    event, kind, data = None, None, []
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass
        self.ended.set()

    def wait(self, count=1, seconds=10, kind=None):
        """Waits for so many events; those that are there."""
        matching = lambda: [event for event in self.events if kind is None or event[2] == kind]
        with self.more:
            self.more.wait_for(lambda: len(matching()) >= count, seconds)
            return matching()

    def close(self):
        with contextlib.suppress(OSError):
            if self.connection.sock:
                self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join(5) if self.thread.ident else None
        self.connection.close()


# ---- other users ---------------------------------------------------------------------------------------------


def as_user(uid, gid, groups, function, *arguments, seconds=60):
    """What the function returns in a process of this user and these groups."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            os.setgroups(list(groups))
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            result = (True, function(*arguments))
        except BaseException:  # noqa: BLE001 - told to the parent
            result = (False, traceback.format_exc())
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(0)
    os.close(writing)
    data, end = b"", time.monotonic() + seconds
    try:
        while True:
            ready, _, _ = select.select([reading], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"a process of user {uid} did not end within {seconds} s")
            piece = os.read(reading, 1 << 16)
            if not piece:
                break
            data += piece
    finally:
        os.close(reading)
        if not data or time.monotonic() > end:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    fine, result = pickle.loads(data)
    if not fine:
        raise AssertionError(f"as user {uid}: {result}")
    return result


# ---- the daemon ----------------------------------------------------------------------------------------------


class Daemon:
    """A daemon with a state directory, a directory of roots and a socket of its own."""

    def __init__(self, directory, options=(), environment=None, limits=None, wait=True, name="s"):
        self.directory = pathlib.Path(directory)
        self.state, self.roots, self.lists = (self.directory / part for part in ("state", "roots.d", "lists.d"))
        self.socket = self.directory / name
        self.log_path = self.directory / "log"
        self.options, self.environment, self.limits = list(options), environment or {}, limits
        for part in (self.roots, self.lists):
            part.mkdir(mode=0o755, exist_ok=True)
        self.process = None
        atexit.register(self.kill)
        self.owner = os.getpid()
        if wait is not None:
            self.start(wait)

    def trust(self, *keys):
        """Puts root keys into the directory of roots."""
        for key in keys:
            shutil.copy(key, self.roots)

    def command(self):
        return [DAEMON, "--state", str(self.state), "--roots", str(self.roots), "--revocations", str(self.lists),
                "--socket", str(self.socket), *map(str, self.options)]

    def start(self, wait=True):
        log = open(self.log_path, "ab")  # noqa: SIM115 - handed to the process
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES")}
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=True,
                                        env={**environment, **self.environment}, preexec_fn=self.limits)
        log.close()
        if wait and not within(20, lambda: self.process.poll() is not None or self.is_there()):
            raise AssertionError(f"the daemon does not answer\n{self.log()}")
        if wait and self.process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self.process.returncode}\n{self.log()}")
        return self

    def is_there(self):
        try:
            return ask(self.socket, "GET", "/v1/health", timeout=5).status in (200, 503)
        except (OSError, http.client.HTTPException):
            return False

    @property
    def pid(self):
        return self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, seconds=90):
        """SIGTERM; the exit status."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"the daemon did not end within {seconds} s of SIGTERM\n{self.log()}") from None
        return self.process and self.process.returncode

    def kill(self):
        if self.process and os.getpid() == self.owner and self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)

    def log(self):
        try:
            return self.log_path.read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def ask(self, method, target, body=None, headers=None, **options):
        return ask(self.socket, method, target, body, headers, **options)

    def get(self, target, **options):
        return self.ask("GET", target, **options)

    def post(self, target, body=None, headers=None, **options):
        return self.ask("POST", target, {} if body is None else body, headers, **options)

    def open(self, package, **options):
        return self.post("/v1/packages/open", {"path": str(package)}, **options)

    def check(self, digest, **options):
        return self.post("/v1/packages/check", {"digest": digest}, **options)

    def apply(self, path, query=""):
        """Posts a revocation list."""
        return self.ask("POST", f"/v1/revocations{query}", pathlib.Path(path).read_bytes(), {"Content-Type": JSON})

    # What the kernel says about the process.

    def status(self, name):
        """A number of /proc/PID/status, such as VmHWM in KiB."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
        raise KeyError(name)

    def reset_peak(self):
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def files(self):
        """What its descriptors lead to."""
        found = []
        for number in os.listdir(f"/proc/{self.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                found.append(os.readlink(f"/proc/{self.pid}/fd/{number}"))
        return found

    def descriptors(self):
        """How many descriptors there are, without the leases of trees, which it holds for ten seconds after an answer."""
        return len([file for file in self.files() if not file.endswith("/SHA256SUMS")])

    def leases(self):
        return [file for file in self.files() if file.endswith("/SHA256SUMS")]

    def alive(self):
        return self.process.poll() is None


def world(options=(), base=None, start=True, **extra):
    """A directory, a publisher in it, and a daemon that trusts the publisher's root."""
    directory = scratch(base)
    publisher = Publisher(directory / "p")
    daemon = Daemon(directory, options, wait=None, **extra)
    daemon.trust(publisher / "root.pub")
    if start:
        daemon.start()
    return publisher, daemon
