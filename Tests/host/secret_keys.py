#!/usr/bin/env python3
"""Secrets stay where they belong: passphrases and keys are found in locked, undumpable memory only, and in no other output.

    NSH_PKGTOOL=… .venv/bin/python Tests/host/secret_keys.py        NSH_LONG=1: the memory is searched at every system call

Proves M3, M4 and M5. The tool runs under ptrace; at its system calls all of its memory is searched for the passphrase, the seed of
the key, and both in base64. A find outside of pages that are locked and kept out of core files (`lo` and `dd` of smaps) is a
failure, and so is any find when the process ends. What it writes is looked at call by call.
"""
import base64
import ctypes
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

from common_host import IS_REAL_ROOT, LONG, PASSPHRASE, TOOL, Checks, publisher, run, scratch
from common_daemon import needs_programs

checks = Checks()
check = checks.check
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long
TRACEME, SYSCALL, SETOPTIONS, SYSCALL_INFO = 0, 24, 0x4200, 0x420E
GOOD, CLONE, EXITKILL, WALL = 1, 8, 1 << 20, 0x40000000
CALLS = {"write": 1, "fsync": 74, "exit_group": 231, "renameat": 264, "openat": 257, "munmap": 11}


# ---- memory -----------------------------------------------------------------------------------------------------


def secrets_of(seed=None, passphrase=None):
    """What to look for: (its name, its bytes). Parts of them, too: nothing that saves an attacker most of the work."""
    if passphrase:
        yield "passphrase", passphrase[:20].encode()
    if seed:
        text = base64.b64encode(seed)
        yield from (("seed", seed[:16]), ("end of the seed", seed[16:]), ("seed in base64", text[:20]), ("its end", text[-24:]))


class Memory:
    """The memory of a process that was just started; opened before it closes itself to others."""

    def __init__(self, pid):
        self.file, self.map = open(f"/proc/{pid}/mem", "rb", buffering=0), open(f"/proc/{pid}/smaps", "rb", buffering=0)

    def regions(self):
        """(start, end, name, whether it is locked and undumpable)"""
        self.map.seek(0)
        data = b""
        while piece := self.map.read(1 << 20):
            data += piece
        start = None
        for line in data.decode().splitlines():
            if found := re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)", line):
                start, end, rights, name = int(found[1], 16), int(found[2], 16), found[3], found[4]
            elif line.startswith("VmFlags:"):
                flags = line.split()[1:]
                yield start, end, name or rights, {"lo", "dd"} <= set(flags), rights

    def search(self, wanted, whole=False):
        """Finds: (what, in which region, whether that is guarded)."""
        finds = []
        for start, end, name, guarded, rights in self.regions():
            # The memory of Argon2 is noise, and takes a second to look through.
            if name in ("[vvar]", "[vsyscall]", "[vvar_vclock]") or not whole and end - start > 64 << 20:
                continue
            data = self.read(start, end)
            finds += [(what, name, guarded) for what, secret in wanted if secret in data]
        return finds

    def read(self, start, end):
        parts = []
        while start < end:
            try:
                self.file.seek(start)
                piece = self.file.read(min(end - start, 16 << 20))
            except OSError:
                return b"".join(parts)
            if not piece:
                break
            parts.append(piece)
            start += len(piece)
        return b"".join(parts)


def traced(words, visit, limits=None, stdin=None):
    """Runs a command under ptrace and calls `visit(memory, call)` at the start of system calls; (status, output)."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(stdin if stdin is not None else os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        if limits:
            limits()
        libc.ptrace(TRACEME, 0, None, None)
        os.execv(words[0], words)
    os.close(writing)
    os.waitpid(pid, 0)
    memory = Memory(pid)
    libc.ptrace(SETOPTIONS, pid, None, GOOD | CLONE | EXITKILL)
    libc.ptrace(SYSCALL, pid, None, None)
    status = None
    while status is None:
        thread, state = os.waitpid(-1, WALL)
        if os.WIFEXITED(state) or os.WIFSIGNALED(state):
            if thread == pid:
                status = os.waitstatus_to_exitcode(state)
            continue
        number = os.WSTOPSIG(state)
        if number == signal.SIGTRAP | 0x80:
            info = (ctypes.c_uint8 * 88)()
            libc.ptrace(SYSCALL_INFO, thread, 88, ctypes.addressof(info))
            if info[0] == 1:
                visit(memory, int.from_bytes(bytes(info[24:32]), "little"))
            number = 0
        elif number in (signal.SIGTRAP, signal.SIGSTOP):
            number = 0
        libc.ptrace(SYSCALL, thread, None, number)
    out = b""
    while piece := os.read(reading, 65536):
        out += piece
    os.close(reading)
    return status, out


def memory_of(name, words, wanted, expected=0, must_see=(), stdin=None):
    """One run, searched at its system calls."""
    loose, seen, at_end, searched = [], set(), [], 0
    interesting = set(CALLS.values())

    def visit(memory, call):
        nonlocal searched
        # Short, the calls at which most has happened since: what is written, opened, renamed, and the end.
        if not (LONG or call in interesting):
            return
        searched += 1
        finds = memory.search(wanted, whole=call == CALLS["exit_group"])
        seen.update(what for what, _, guarded in finds if guarded)
        loose.extend(f"{what} in {where} at call {call}" for what, where, guarded in finds if not guarded)
        if call == CALLS["exit_group"]:
            at_end.extend(f"{what} in {where}" for what, where, _ in finds)

    status, out = traced([TOOL, *map(str, words)], visit, stdin=stdin)
    check(f"M5 {name}: secrets in guarded memory only ({searched} searches)", sorted(set(loose))[:4], status != expected and f"exit status {status}: {out!r}",
          *[f"{what} was never seen, so nothing was proved" for what in must_see if what not in seen])
    check(f"M5 {name}: none left at the end", at_end)
    check(f"M5 {name}: none printed", [what for what, secret in wanted if secret in out])
    return out


def catches_a_planted_fault():
    """A process that keeps a passphrase in its heap is found out."""
    found = []
    program = f"import os\nsecret = bytes({list(PASSPHRASE.encode())})\nos.write(1, b'x')\n"

    def visit(memory, call):
        if call == CALLS["write"]:
            found.extend(memory.search(list(secrets_of(passphrase=PASSPHRASE))))

    traced([sys.executable, "-c", program], visit)
    check("the search finds a secret in an ordinary heap", not any(not guarded for _, _, guarded in found) and f"{found}")


def seed_of(path, passphrase=None):
    """The seed in a key file, opened by another program."""
    document = json.loads(pathlib.Path(path).read_text())
    secret = base64.b64decode(document["secret"])
    if document["cipher"] == "none":
        return secret
    from nacl import bindings
    nonce, salt = base64.b64decode(document["nonce"]), base64.b64decode(document["salt"])
    key = bindings.crypto_pwhash_alg(32, passphrase.encode(), salt, document["operations"], document["memory"], bindings.crypto_pwhash_ALG_ARGON2ID13)
    data = json.dumps({**document, "secret": ""}, sort_keys=True, separators=(",", ":")).encode()
    return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(secret, data, nonce, key)


def memory(made):
    catches_a_planted_fault()
    word = made / "passphrase"
    word.write_text(PASSPHRASE + "\n")
    run("keygen", made / "sealed", "--password-file", word)
    try:
        sealed = seed_of(made / "sealed.secret", PASSPHRASE)
    except ImportError:
        sealed = None
        checks.skip(1, "no PyNaCl, so the sealed seed is not known")
    plain = seed_of(made / "root.secret")
    certify = ["--key", made / "release.pub", "--publisher", "P", "--apps", "com.example.*", "--days", "1"]
    both = list(secrets_of(sealed, PASSPHRASE))
    memory_of("certify, sealed key", ["certify", "--root", made / "sealed.secret", "--password-file", word, *certify, "-o", made / "a.cert"], both,
              must_see=["passphrase"] + ["seed"] * bool(sealed))
    memory_of("certify, wrong passphrase", ["certify", "--root", made / "sealed.secret", "--password-file", made / "root.pub", *certify, "-o", made / "b.cert"], both, 3)
    memory_of("certify, unsealed key", ["certify", "--root", made / "root.secret", *certify, "-o", made / "c.cert"], list(secrets_of(plain)), must_see=["seed"])
    memory_of("revoke", ["revoke", "--root", made / "root.secret", "--first", "--key", "00" * 32, "-o", made / "l"], list(secrets_of(plain)), must_see=["seed"])
    memory_of("publish", ["publish", made / "app", "--key", made / "release.secret", "--certificate", made / "release.cert", "-o", made / "x.nshpkg"],
              list(secrets_of(seed_of(made / "release.secret"))), must_see=["seed"])
    memory_of("inspect an unsealed key", ["inspect", made / "root.secret"], list(secrets_of(plain)), must_see=["seed"])
    memory_of("keygen, sealed", ["keygen", made / "new", "--password-file", word], list(secrets_of(passphrase=PASSPHRASE)), must_see=["passphrase"])
    reading, writing = os.pipe()
    os.write(writing, PASSPHRASE.encode() + b"\n")
    os.close(writing)
    memory_of("passphrase from a pipe", ["certify", "--root", made / "sealed.secret", "--password-file", "/dev/fd/0", *certify, "-o", made / "d.cert"], both, stdin=reading)
    fresh(made)


def fresh(made):
    """The seed of a key that is just made is known only afterwards: memory is kept and searched then."""
    kept, guarded_count = [], [0]

    def visit(memory, call):
        if call in (CALLS["write"], CALLS["exit_group"], CALLS["fsync"]):
            for start, end, name, guarded, _ in memory.regions():
                guarded_count[0] += guarded
                if not guarded and end - start < 64 << 20 and not name.startswith(("/", "[vv", "[vs")):
                    kept.append((call, name, memory.read(start, end)))

    status, out = traced([TOOL, "keygen", str(made / "fresh"), "--no-password"], visit)
    wanted = list(secrets_of(seed_of(made / "fresh.secret")))
    check("M5 keygen, unsealed: the seed in guarded memory only", status != 0 and f"{status} {out!r}",
          sorted({f"{what} in {name} at call {call}" for call, name, data in kept for what, secret in wanted if secret in data})[:4], not guarded_count[0] and "no guarded memory")


# ---- everything else --------------------------------------------------------------------------------------------


def outputs(made):
    """What is written, and to whom: the key file alone gets the secret, and nothing goes to a network."""
    word = made / "passphrase"
    if subprocess.run(["strace", "-o", "/dev/null", "true"], check=False, capture_output=True).returncode:
        checks.skip(4, "strace is missing or may not trace")
        return
    acts = {"keygen": ["keygen", made / "traced", "--no-password"],
            "certify": ["certify", "--root", made / "sealed.secret", "--password-file", word, "--key", made / "release.pub", "--publisher", "P", "--apps",
                        "com.example.*", "--days", "1", "-o", made / "t.cert"],
            "publish": ["publish", made / "app", "--key", made / "release.secret", "--certificate", made / "release.cert", "-o", made / "t.nshpkg"],
            "verify": ["verify", made / "orders-5.nshpkg", "--root", made / "root.pub"]}
    for name, words in acts.items():
        trace = made / "trace"
        subprocess.run(["strace", "-f", "-y", "-s", "200000", "-e", "trace=write,pwrite64,writev,sendto,sendmsg,renameat2,%network", "-o", str(trace), TOOL,
                        *map(str, words)], check=True, capture_output=True)
        lines = trace.read_text(errors="replace").splitlines()
        wanted = [PASSPHRASE] + [base64.b64encode(seed_of(made / key)).decode() for key in ("root.secret", "release.secret", "traced.secret")]
        # The key file is written beside its place and renamed.
        key = next((found[1] for line in lines if (found := re.search(r'"(\.nsh-[0-9a-f]{16}\.tmp)", [^"]*"traced\.secret"', line))), None)
        check(f"M5 {name}: secrets are written to the key file alone",
              [line[:100] for line in lines if any(secret in line for secret in wanted) and not (key and f"/{key}>" in line)])
        check(f"M3 {name}: no network", [line for line in lines if re.search(r"\b(socket|connect|bind|sendto|sendmsg)\(", line)])
        if name == "keygen":
            check("the trace does show what is written", not any(wanted[-1] in line for line in lines) and "the key is not in it")


def errors(made):
    """Error texts, verbose and JSON answers with a wrong passphrase, a damaged key, a key given in the wrong place."""
    word, wrong = made / "passphrase", made / "wrong"
    wrong.write_text("wrong horse battery staple\n")
    (made / "damaged.secret").write_text((made / "root.secret").read_text().replace('"public":"', '"public":"A', 1))
    os.chmod(made / "damaged.secret", 0o644)
    seed = base64.b64encode(seed_of(made / "root.secret"))
    certify = ["--key", made / "release.pub", "--publisher", "P", "--apps", "com.example.*", "--days", "1", "-o", made / "e.cert"]
    for words in (["certify", "--root", made / "sealed.secret", "--password-file", wrong, *certify], ["certify", "--root", made / "damaged.secret", *certify],
                  ["certify", "--root", made / "root.secret", "--key", made / "root.secret", *certify[2:]], ["verify", made / "root.secret", "--root", made / "root.pub"],
                  ["verify", made / "orders-5.nshpkg", "--root", made / "root.secret"], ["inspect", made / "root.secret"], ["cosign", made / "root.secret", "--root",
                  made / "root.secret", "-o", made / "e"], ["update-revocations", made / "root.secret", "--root", made / "root.pub", "--state", made / "s"],
                  ["pae", made / "root.secret"], ["keygen", made / "root", "--password-file", word], ["recertify", made / "root.secret", "--certificate",
                  made / "root.secret", "-o", made / "e"], ["store", "import", made / "root.secret", "--state", made / "s2", "--root", made / "root.pub"]):
        for more in ([], ["-v"], ["--json"]):
            done = run(*words, *more)
            said = done.out + done.err
            check(f"M5 {words[0]} {' '.join(more)}: no secret in what it says", any(part in said for part in (b"horse", seed[:12], seed[-12:])) and str(done),
                  done.status not in (0, 1, 2, 3) and str(done))
    for name in ("NSH_PASSWORD", "NSH_PASSPHRASE", "NSH_TRUST_PASSWORD", "PASSWORD"):
        done = run("certify", "--root", made / "sealed.secret", *certify, environment={name: PASSPHRASE}, start_new_session=True)
        check(f"M5 {name} of the environment is not taken", done.status != 3 and str(done))
    for option in ("--password", "--passphrase", "--secret"):
        done = run("certify", "--root", made / "sealed.secret", *certify, option, PASSPHRASE, start_new_session=True)
        check(f"M5 {option} is no option", done.status != 2 and str(done), b"horse" in done.out + done.err and f"repeats it: {done}")
    before = (made / "root.secret").read_bytes()
    done = run("keygen", made / "root", "--no-password", "--json")
    check("M4 keygen over a key: refused", (done.status, done.code) != (3, "exists") and str(done), (made / "root.secret").read_bytes() != before and "changed")
    os.symlink(made / "nowhere", made / "linked.secret")
    done = run("keygen", made / "linked", "--no-password", "--json")
    check("M4 keygen over a dangling link: refused", (done.status, done.code) != (3, "exists") and str(done), (made / "nowhere").exists() and "followed")


def process(made):
    """What others may learn of the process while it holds a secret, and what a crash would leave."""
    reading, writing = os.pipe()
    words = [TOOL, "certify", "--root", made / "sealed.secret", "--password-file", "/dev/fd/0", "--key", made / "release.pub", "--publisher", "P", "--apps",
             "com.example.*", "--days", "1", "-o", made / "f.cert"]
    held = subprocess.Popen(list(map(str, words)), stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=made.directory,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2) if IS_REAL_ROOT else None)
    os.close(reading)
    os.write(writing, PASSPHRASE[:10].encode())
    end = time.monotonic() + 20
    limit = ""
    while time.monotonic() < end and "0                    0" not in limit:
        time.sleep(0.05)
        limit = next(line for line in pathlib.Path(f"/proc/{held.pid}/limits").read_text().splitlines() if "core file" in line)
    check("M5 waiting for a passphrase: no core files", "0                    0" not in limit and limit)
    owner = os.stat(f"/proc/{held.pid}/mem")
    check("M5 closed to other processes of the user", owner.st_uid != 0 and f"/proc/PID/mem belongs to {owner.st_uid}")
    shown = pathlib.Path(f"/proc/{held.pid}/cmdline").read_bytes() + (pathlib.Path(f"/proc/{held.pid}/environ").read_bytes() if IS_REAL_ROOT else b"")
    check("M5 nothing in arguments or environment", PASSPHRASE[:10].encode() in shown and "it is there")
    held.send_signal(signal.SIGABRT)
    held.communicate(timeout=20)
    os.close(writing)
    check("M5 a crash leaves no core file", [path.name for path in made.directory.glob("core*")])


def unlocked(made):
    """The process may lock no memory: it says so, works, and still wipes."""
    def limits():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
        if os.geteuid() == 0 and IS_REAL_ROOT:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
    place = made / "open"
    place.mkdir()
    os.chmod(place, 0o777)
    for path in (made.directory, made.directory.parent):
        os.chmod(path, 0o755)
    done = run("keygen", place / "key", "--no-password", preexec_fn=limits)
    check("RLIMIT_MEMLOCK 0: keygen works and warns", done.status != 0 and str(done), "may not lock memory" not in done.said and str(done))
    done = run("keygen", place / "key2", "--no-password")
    check("with the usual limit: no warning", done.status != 0 and str(done), "may not lock memory" in done.said and str(done))


def main():
    needs_programs()
    made = publisher(scratch() / "p", 100, builds=(5,))
    app = made / "app"
    run("extract", made / "orders-5.nshpkg", app, "--root", made / "root.pub")
    os.unlink(app / "SHA256SUMS")
    for part in (memory, outputs, errors, process, unlocked):
        with checks.part(part.__name__):
            part(made)
    checks.finish()


if __name__ == "__main__":
    main()
