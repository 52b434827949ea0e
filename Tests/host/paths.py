#!/usr/bin/env python3
"""What an operating system can put behind a path, and what it can start a program with: an answer with a code, never a hang,
a crash, or a verdict.

    NSH_PKGTOOL=… NSH_TRUSTD=… python3 Tests/host/paths.py

Short, every seventh pair of file and place, and every third pair of start and act; NSH_LONG=1: all of them.

Every odd file (FIFOs, sockets, devices, directories, files of /proc and /sys, deleted files, loops of links, very long names,
names that are not UTF-8) goes to every verb in every place where a path is taken; each must end within a few seconds with the
expected exit status and leave nothing. Then every odd start: descriptors closed, limits of 0, no /proc, a working directory
that is gone, no HOME, masks of 000 and 777, ignored signals, hundreds of inherited descriptors, a stop in the middle.
"""
import contextlib
import itertools
import os
import pathlib
import resource
import shutil
import signal
import socket
import stat
import subprocess
import time

from common_host import (IS_REAL_ROOT, KIB, LONG, TOOL, Checks, enter, libc, mount, publisher, run, scratch, tree)
from common_daemon import DAEMON, Daemon

checks = Checks()
check = checks.check
TIME = 20


def sample(items, step):
    """All of them, or every so many."""
    return list(items) if LONG else list(items)[::step]


# ---- odd files --------------------------------------------------------------------------------------------------


def odd_files(place):
    """Names of odd files: (what it is, path). What cannot be made here is left out."""
    place.mkdir()
    os.mkfifo(place / "fifo")
    os.mkdir(place / "directory")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(place / "socket"))
    os.symlink("loop", place / "loop")
    os.symlink("nowhere", place / "dangling")
    os.symlink("fifo", place / "link-to-fifo")
    (place / "empty").touch()
    (place / "unreadable").write_bytes(b"x")
    os.chmod(place / "unreadable", 0)
    gone = os.open(place / "gone", os.O_RDWR | os.O_CREAT)
    os.write(gone, b"\x89NSHPKG\n")
    os.unlink(place / "gone")
    (place / "no\nOK  com.example.fake\x1b[2J.nshpkg").write_bytes(b"x")
    yield from ((path.name.split("\n")[0], str(path)) for path in sorted(place.iterdir()))
    yield "a deleted file, by its descriptor", f"/proc/{os.getpid()}/fd/{gone}"
    yield "below a file", str(place / "empty" / "x")
    yield "a name of 255 bytes", str(place / ("n" * 255))
    yield "a name of 256 bytes", str(place / ("n" * 256))
    yield "a path of 4,096 bytes", "/" + "d/" * 2047 + "x"
    yield "a path of 100,000 bytes", "/" + "d" * 100000
    yield "nothing", ""
    yield "a name that is not UTF-8", os.fsencode(place) + b"/\xff\xfe\x80.nshpkg"
    for path in ("/", ".", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/tty", "/dev/ptmx", "/dev/stdin", "/dev/fd/0",
                 "/dev/fd/9", "/proc/self/mem", "/proc/self/maps", "/proc/self/environ", "/proc/self/pagemap", "/proc/self/fd",
                 "/proc/self/fd/0", "/proc/self/ns/mnt", "/proc/self/exe/x", "/proc/self/root", "/proc/1/mem", "/proc/kmsg", "/proc/kcore",
                 "/proc/sysrq-trigger", "/proc/kpagecount", "/proc/self/task", "/proc/sys/vm/drop_caches", "/sys/kernel/notes",
                 "/sys/kernel/debug/tracing/trace_pipe", "/sys/kernel/tracing/trace_pipe", "/proc/mounts", "/proc/self/mountinfo"):
        if os.path.lexists(path) or path.startswith("/dev/fd"):
            yield path, path


#: The verbs with a path in each place: `{}` is the odd file. Where an output or a new directory is named, most of these are refused too.
INPUTS = (
    ["verify", "{}", "--root", "ROOT"], ["verify", "PACKAGE", "--root", "{}"], ["verify", "PACKAGE", "--root", "ROOT", "--revocations", "{}"],
    ["verify", "PACKAGE", "--root", "ROOT", "--state", "{}"], ["verify", "PACKAGE", "--root", "ROOT", "--socket", "{}"],
    ["open", "{}", "--root", "ROOT", "--state", "NEW"], ["extract", "{}", "NEW", "--root", "ROOT"], ["inspect", "{}"], ["inspect", "{}", "--root", "ROOT"],
    ["certify", "--root", "{}", "--key", "KEY", "--publisher", "P", "--apps", "a.b", "--days", "1", "-o", "NEW"],
    ["certify", "--root", "SECRET", "--key", "{}", "--publisher", "P", "--apps", "a.b", "--days", "1", "-o", "NEW"],
    ["certify", "--root", "SECRET", "--key", "KEY", "--publisher", "P", "--apps", "a.b", "--days", "1", "--renew", "{}", "-o", "NEW"],
    ["publish", "{}", "--key", "KEYSECRET", "--certificate", "CERT", "-o", "NEW"], ["publish", "APP", "--key", "{}", "--certificate", "CERT", "-o", "NEW"],
    ["publish", "APP", "--key", "KEYSECRET", "--certificate", "{}", "-o", "NEW"], ["recertify", "{}", "--certificate", "CERT", "-o", "NEW"],
    ["recertify", "PACKAGE", "--certificate", "{}", "-o", "NEW"], ["revoke", "--root", "SECRET", "--previous", "{}", "-o", "NEW"],
    ["revoke", "--root", "SECRET", "--first", "--certificate", "{}", "-o", "NEW"], ["revoke", "--root", "SECRET", "--first", "--package", "{}", "-o", "NEW"],
    ["cosign", "{}", "--root", "SECRET", "-o", "NEW"], ["pae", "{}", "-o", "NEW"],
    ["attach", "{}", "--signature", "AAAA", "--key", "KEY", "-o", "NEW"], ["update-revocations", "{}", "--root", "ROOT", "--state", "NEW"],
    ["rotate", "--check", "--old", "{}", "--new", "ROOT", "--package", "PACKAGE"], ["rotate", "--check", "--old", "ROOT", "--new", "ROOT", "--package", "{}"],
    ["store", "import", "{}", "--root", "ROOT", "--state", "NEW"], ["store", "status", "--state", "{}"], ["roots", "--root", "{}"],
)
OUTPUTS = (
    ["extract", "PACKAGE", "{}", "--root", "ROOT"], ["keygen", "{}", "--no-password"], ["open", "PACKAGE", "--root", "ROOT", "--state", "{}"],
    ["certify", "--root", "SECRET", "--key", "KEY", "--publisher", "P", "--apps", "a.b", "--days", "1", "-o", "{}"],
    ["publish", "APP", "--key", "KEYSECRET", "--certificate", "CERT", "-o", "{}"], ["store", "export", "--state", "STATE", "-o", "{}"],
)
#: An odd file that is right in a place where it makes sense: a directory of roots or of an app, an empty file with no root in it.
SOUND = {("--root", "directory"), ("--root", "/proc/self/fd"), ("--root", "/"), ("--root", ".")}


def fill(words, odd, world, new):
    places = {"{}": odd, "NEW": new, **world}
    return [places.get(word, word) for word in words]


def inputs(made, world, odd):
    """Every odd file in every place from which something is read."""
    new = made / "new"
    before = sorted(os.listdir(made.directory))
    pairs = sample(itertools.product(INPUTS, odd), 7)
    for words, (what, path) in pairs:
        done = run(*fill(words, path, world, new), seconds=TIME, stdin=subprocess.DEVNULL)
        name = f"{what} as {words[words.index('{}') - 1]} of {words[0]}"
        check(f"{name}: an answer", done.status not in (0, 1, 2, 3) and str(done),
              done.status == 0 and not harmless(words, what) and f"success: {done}", unsafe(done))
        # A store that was made to no purpose is no harm, but nothing may be in it.
        if new.is_dir() and not list(new.glob("apps/*")):
            shutil.rmtree(new)
        if sorted(os.listdir(made.directory)) != before and not harmless(words, what):
            check(f"{name}: nothing left", f"{set(os.listdir(made.directory)) - set(before)}")
        for left in set(os.listdir(made.directory)) - set(before):
            (shutil.rmtree if (made / left).is_dir() else os.unlink)(made / left)
    print(f"inputs: {len(INPUTS)} places, {len(odd)} files, {len(pairs)} pairs")


def harmless(words, what):
    """Whether the place takes what lies there: an empty standard input, a directory of roots, a state directory."""
    return words[0] in ("roots", "store") and what in ("directory",)


def unsafe(done):
    """What a terminal would act on."""
    raw = [byte for byte in done.out + done.err if byte < 0x20 and byte != 0x0A or byte == 0x7F]
    return raw and f"raw control bytes: {done}"


def outputs(made, world, odd):
    """Every odd file as the place of an output: never followed, opened for writing, or replaced unless it is a plain file."""
    place = pathlib.Path(odd[0][1]).parent
    for words, (what, path) in sample(itertools.product(OUTPUTS, odd), 4):
        if isinstance(path, bytes) or not str(path).startswith(str(place)) and not (what.startswith("/dev/") or what.startswith("/proc/")):
            continue
        before = names(place)
        done = run(*fill(words, path, world, made / "new"), seconds=TIME)
        after = names(place)
        changed = {name for name in before if before[name] != after.get(name)}
        target = os.path.basename(str(path))
        took = words[0] in ("keygen", "open", "store", "extract") and done.status == 0
        name = f"{what} as the output of {words[0]}"
        check(f"{name}: refused, or made beside and renamed", done.status not in (0, 1, 2, 3) and str(done), unsafe(done),
              changed - {target} and f"changed: {changed}",
              target in changed and not stat.S_ISREG(before[target][0]) and what != "directory" and f"replaced: {done}",
              any(left.startswith(".nsh-") for left in after) and f"left: {after}")
        for left in set(after) - set(before):
            (shutil.rmtree if (place / left).is_dir() and not (place / left).is_symlink() else os.unlink)(place / left)
        restore(place, took)
    print(f"outputs: {len(OUTPUTS)} places")


def restore(place, took):
    if took and (place / "directory").is_dir():
        shutil.rmtree(place / "directory")
        os.mkdir(place / "directory")
    (place / "empty").write_bytes(b"")
    os.chmod(place / "empty", 0o644)


def names(place):
    return {path.name: (path.lstat().st_mode, path.lstat().st_ino, path.lstat().st_size if path.is_file() else 0) for path in place.iterdir()}


def daemon_inputs(made, odd):
    """Every odd file as a package named to the daemon, as a root and as a list in its directories."""
    served = Daemon(scratch(), wait=None)
    served.trust(made / "root.pub")
    odd_place = pathlib.Path(odd[0][1]).parent
    for path in odd_place.iterdir():
        os.symlink(path, served.roots / f"{path.name}-link.pub")
        os.symlink(path, served.lists / f"{path.name}-link.json")
    for directory, end in ((served.roots, ".pub"), (served.lists, ".json")):
        os.mkfifo(directory / f"fifo{end}")
        os.mkdir(directory / f"directory{end}")
        os.symlink("/dev/zero", directory / f"zero{end}")
        (directory / f"huge{end}").touch()
        os.truncate(directory / f"huge{end}", 1 << 40)
        (directory / f"esc\x1b[2J\n{end}").write_bytes(b"x")
    with served.start():
        status = served.get("/v1/status").json
        check("odd files as roots and lists: the daemon starts, trusts the good root, names the others",
              len(status["roots"]) != 1 and f"{status['roots']}", len(status["badRoots"]) < 8 and f"{status['badRoots']}", len(status["badLists"]) < 8 and f"{status['badLists']}")
        for what, path in odd:
            if isinstance(path, bytes) or "\0" in path:
                continue
            for target in ("verify", "open"):
                answer = served.post(f"/v1/packages/{target}", {"path": path}, timeout=TIME)
                check(f"{what} named to the daemon: {target}", answer.status not in (400, 404, 413) and not (answer.status in (200, 403) and answer.code in (
                    "truncated", "unsupportedFormat")) and str(answer))
        check("the daemon runs on", served.get("/v1/health").status != 200 and served.log())
        raw = [byte for byte in served.log().encode() if byte < 0x20 and byte != 0x0A or byte == 0x7F]
        check("M8 names of odd files reach the log escaped", raw and served.log())


# ---- odd starts -------------------------------------------------------------------------------------------------


def acts(made, world, new):
    """One run of each kind: (name, arguments, whether it made what it should have)."""
    verified = ["verify", "PACKAGE", "--root", "ROOT"]
    yield "verify", verified, lambda: True
    yield "open", ["open", "PACKAGE", "--root", "ROOT", "--state", "NEW"], lambda: list(new.glob("apps/*/*/SHA256SUMS"))
    yield "extract", ["extract", "PACKAGE", "NEW", "--root", "ROOT"], lambda: (new / "SHA256SUMS").exists()
    yield "keygen", ["keygen", "NEW", "--no-password"], lambda: key_is_whole(new)
    yield ("certify", ["certify", "--root", "SECRET", "--key", "KEY", "--publisher", "P", "--apps", "a.b", "--days", "1", "-o", "NEW"],
           lambda: run("inspect", new, "--root", made / "root.pub").out.startswith(b"OK") or b"verified" in run("inspect", new, "--root", made / "root.pub").out)
    yield "publish", ["publish", "APP", "--key", "KEYSECRET", "--certificate", "CERT", "-o", "NEW"], lambda: run("verify", new, "--root", made / "root.pub").status == 0


def key_is_whole(new):
    secret, public = new.with_name(new.name + ".secret"), new.with_name(new.name + ".pub")
    return public.exists() and public.stat().st_size == 45 and stat.S_IMODE(secret.stat().st_mode) == 0o600 and b'"format"' in secret.read_bytes()


def clear(new):
    for path in (new, new.with_name(new.name + ".secret"), new.with_name(new.name + ".pub")):
        with contextlib.suppress(OSError):
            (shutil.rmtree if path.is_dir() else os.unlink)(path)


turn = [0]


def each(name, made, world, statuses=(0,), judge=None, only=None, **options):
    """Every act under the same odd circumstances."""
    for number, (act, words, is_made) in enumerate(acts(made, world, made / "new")):
        if only and act not in only:
            continue
        turn[0] += 1
        if not LONG and not only and turn[0] % 3:
            continue
        clear(made / "new")
        before = sorted(os.listdir(made.directory))
        done = run(*fill(words, None, world, made / "new"), seconds=60, **options)
        made_it = bool(is_made())
        left = {path for path in os.listdir(made.directory) if path not in before and not path.startswith("new")}
        check(f"{name}: {act}", done.status not in statuses and str(done), done.status == 0 and not made_it and f"success, and nothing made: {done}",
              left and f"left: {left}", judge and judge(act, done, made_it))
    clear(made / "new")


def descriptors(made, world):
    """Standard descriptors that are closed, full or broken, and hundreds that are inherited."""
    for closed in itertools.chain.from_iterable(itertools.combinations((0, 1, 2), count) for count in (1, 2, 3)):
        def close_them(closed=closed):
            for number in closed:
                os.close(number)
        # What is printed cannot be printed: not decided. Nothing of it may land in a file that was opened in its place.
        each(f"descriptors {closed} closed", made, world, statuses=(0, 3) if 1 in closed else (0,), preexec_fn=close_them)
    with open("/dev/full", "wb") as full:
        each("M1 standard output on a full disk: not 0", made, world, statuses=(3,), stdout=full)
        each("standard error on a full disk", made, world, stderr=full)
    reading, writing = os.pipe()
    os.close(reading)
    each("L19 standard output is a broken pipe", made, world, statuses=(3,), stdout=writing)
    each("L19 the same, the signal not ignored", made, world, statuses=(3,), stdout=writing, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
    os.close(writing)
    many = [os.open("/dev/null", os.O_RDONLY) for _ in range(600)]
    each("600 inherited descriptors", made, world, pass_fds=many)
    for number in many:
        os.close(number)


def limits(made, world):
    """Limits of the process: not decided at worst, and what was made is whole."""
    def limited(which, value):
        return lambda: resource.setrlimit(which, (value, value))
    for count in (3, 4, 5, 6, 7, 8, 10, 12, 16):
        each(f"{count} descriptors", made, world, statuses=(0, 3), preexec_fn=limited(resource.RLIMIT_NOFILE, count))
    for size in (0, 1, 100, 4096, 65536):
        each(f"files of at most {size} bytes", made, world, statuses=(0, 3), preexec_fn=limited(resource.RLIMIT_FSIZE, size))
    each("no core files, no locked memory", made, world, preexec_fn=limited(resource.RLIMIT_MEMLOCK, 0))
    each("a stack of 256 KiB", made, world, statuses=(0, 3), preexec_fn=limited(resource.RLIMIT_STACK, 256 * KIB))
    each("30 seconds of the processor", made, world, preexec_fn=limited(resource.RLIMIT_CPU, 30))
    if not os.geteuid():
        nobody = (lambda: (resource.setrlimit(resource.RLIMIT_NPROC, (0, 0)), os.setgroups([]), os.setgid(65534), os.setuid(65534)))
        if IS_REAL_ROOT:
            os.chmod(made.directory, 0o755)
            done = run("verify", made / "orders-5.nshpkg", "--root", made / "root.pub", preexec_fn=nobody)
            check("no thread may be started: verify", done.status not in (0, 3) and str(done))
    # Memory may run out in the middle of anything, which ends a Swift program: never with success, and what is there stays whole.
    ended = {}
    for mebibytes in (1, 8, 24, 40, 64, 96, 128, 256, 512):
        for act, words, is_made in acts(made, world, made / "new"):
            clear(made / "new")
            done = run(*fill(words, None, world, made / "new"), seconds=60, preexec_fn=limited(resource.RLIMIT_AS, mebibytes << 20))
            ended[done.status] = ended.get(done.status, 0) + 1
            check(f"{mebibytes} MiB of address space: {act}", done.status is None and str(done), done.status == 0 and not is_made() and f"success: {done}")
    clear(made / "new")
    print(f"address space: ended {ended}")


def surroundings(made, world):
    """What a process inherits besides descriptors and limits."""
    for mask in (0o000, 0o777, 0o077):
        def judge(act, done, made_it):
            return modes(act, made / "new")
        each(f"M4 umask {mask:03o}: modes are ours", made, world, preexec_fn=lambda mask=mask: os.umask(mask), judge=judge,
             only=("verify", "open", "extract", "keygen"))
    gone = made / "cwd"
    def in_a_gone_directory():
        gone.mkdir(exist_ok=True)
        os.chdir(gone)
        os.rmdir(gone)
    each("the working directory is gone", made, world, preexec_fn=in_a_gone_directory)
    for name, changes in (("no HOME, no PATH", {"HOME": "", "PATH": ""}), ("TMPDIR and SQLITE_TMPDIR nowhere", {"TMPDIR": "/nowhere", "SQLITE_TMPDIR": "/nowhere"}),
                          ("Turkish", {"LC_ALL": "tr_TR.UTF-8"}), ("the C locale", {"LC_ALL": "C"}), ("no such locale", {"LC_ALL": "\x1b[2J/../x"}),
                          ("TZ of a file", {"TZ": ":/dev/zero"}), ("an environment of 100 KiB", {f"V{n}": "x" * 1000 for n in range(100)}),
                          ("crash reports wanted", {"SWIFT_BACKTRACE": "enable=yes,interactive=yes,output-to=/tmp"})):
        each(name, made, world, environment=changes)
    ignored = [number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP)]
    each("L19 every signal ignored", made, world, preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in ignored if number < 32 or number > 33])
    each("every signal blocked", made, world, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, ignored))
    done = run(*["verify", *[made / "orders-5.nshpkg"] * 2000], "--root", made / "root.pub", "--quiet")
    check("2,000 operands", done.status != 0 and str(done))


def modes(act, new):
    """What is wrong with the modes of what was made."""
    wanted = {}
    if act == "open":
        wanted = {new: 0o700, new / "apps": 0o700, new / "trust.sqlite": 0o600, new / "staging": 0o700}
    wanted |= {path: 0o755 if path.is_dir() else 0o644 for path in (new.glob("apps/*/*/**/*") if act == "open" else new.rglob("*") if act == "extract" else ())}
    return "; ".join(f"{path.name}: {stat.S_IMODE(path.stat().st_mode):o}" for path, mode in wanted.items() if stat.S_IMODE(path.stat().st_mode) != mode)


def stopped(made, world):
    """Stopped for a while in the middle, again and again: the same answer."""
    for act, words, is_made in acts(made, world, made / "new"):
        clear(made / "new")
        process = subprocess.Popen([TOOL, *map(str, fill(words, None, world, made / "new"))], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(20):
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.002)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.0005)
        _, err = process.communicate(timeout=60)
        check(f"stopped twenty times: {act}", process.returncode != 0 and f"{process.returncode} {err!r}", not is_made() and "nothing made")
    clear(made / "new")


def without_proc(made, world):
    """No /proc: a path cannot be opened safely and says so; bytes from standard input can be judged."""
    with tmpfs_over("/proc"):
        done = run("verify", made / "orders-5.nshpkg", "--root", made / "root.pub", "--json")
        # Swift's runtime ends the program at its start when it cannot find itself there: no verdict either way.
        check("no /proc: no verdict on a path", done.status not in (3, -signal.SIGABRT) and str(done), b"accepted" in done.out and str(done))
        done = run("open", made / "orders-5.nshpkg", "--root", made / "root.pub", "--state", made / "new", "--json")
        check("no /proc: nothing is opened", done.status not in (3, -signal.SIGABRT) and str(done), list((made / "new").glob("apps/*/*")) and "a tree")
        clear(made / "new")
    with tmpfs_over("/dev"):
        done = run("keygen", made / "new", "--no-password", stdin=subprocess.PIPE)
        check("no /dev, no /dev/urandom: keys are made of the kernel's random numbers", done.status != 0 and str(done), not key_is_whole(made / "new") and "no key")
        clear(made / "new")


@contextlib.contextmanager
def tmpfs_over(place):
    mount("-t", "tmpfs", "none", place)
    try:
        yield
    finally:
        libc.umount2(place.encode(), 2)


def main():
    mounted = enter()
    made = publisher(scratch() / "p", 300 * KIB, builds=(5,))
    app = made / "app"
    run("extract", made / "orders-5.nshpkg", app, "--root", made / "root.pub")
    os.unlink(app / "SHA256SUMS")
    world = {"ROOT": made / "root.pub", "SECRET": made / "root.secret", "KEY": made / "release.pub", "KEYSECRET": made / "release.secret",
             "CERT": made / "release.cert", "PACKAGE": made / "orders-5.nshpkg", "APP": app, "STATE": made / "state"}
    run("open", made / "orders-5.nshpkg", "--root", made / "root.pub", "--state", made / "state")
    # To each its own: what is named as an output may be another file afterwards.
    odd = [list(odd_files(scratch() / f"odd-{number}")) for number in range(3)]
    for part, arguments in ((inputs, (made, world, odd[0])), (outputs, (made, world, odd[1])), (daemon_inputs, (made, odd[2])),
                            (descriptors, (made, world)), (limits, (made, world)), (surroundings, (made, world)), (stopped, (made, world))):
        with checks.part(part.__name__):
            part(*arguments)
    if mounted:
        with checks.part("without /proc"):
            without_proc(made, world)
    else:
        checks.skip(8, "the system gives no mount namespace, so /proc stays")
    checks.finish()


if __name__ == "__main__":
    main()
