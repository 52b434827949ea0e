"""A small tracer for what strace cannot do: true short reads and writes, and calls of one chosen thread.

strace counts calls per thread and cannot say which thread it means; and a result that it makes up says that bytes were
written which were not. This tracer (ptrace, x86-64) finds a call by the thread's number in the order of creation, the
call's number and its count in that thread. It then kills the process as it enters the call, lets the call fail with an
error, or halves the number of bytes that are asked for: the kernel does the rest truthfully.
"""
import ctypes
import errno
import os
import pathlib
import platform
import re
import signal
import struct

TRACEME, SYSCALL, GETREGS, SETREGS, SETOPTIONS, SYSCALL_INFO = 0, 24, 12, 13, 0x4200, 0x420E
ENTRY = 1
# TRACESYSGOOD, TRACECLONE, TRACEEXEC, EXITKILL
OPTIONS = 1 | 1 << 3 | 1 << 4 | 1 << 20
WALL = 0x40000000
EVENT_STOP = signal.SIGTRAP | 0x80
REGISTERS = struct.Struct("27Q")
RAX, RDX, ORIG_RAX = 10, 12, 15

HEADER = pathlib.Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")  # it comes with the C library's headers
IS_SUPPORTED = platform.machine() == "x86_64" and HEADER.exists()
# Every number there is: what a later build calls must not be unknown here.
NUMBERS = {}
if IS_SUPPORTED:
    NUMBERS = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text())}
SHORT = ("read", "write", "pread64", "pwrite64")

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def _ptrace(request, pid, address=None, data=None):
    if _libc.ptrace(request, pid, address, data) < 0:
        number = ctypes.get_errno()
        if number != errno.ESRCH:  # the thread was killed meanwhile
            raise OSError(number, f"ptrace {request}: {os.strerror(number)}")
        return False
    return True


class _Thread:
    def __init__(self, index):
        self.index, self.counts, self.after = index, {}, None


class Tracer:
    """One run of a command with one call disturbed; `effect` is "kill", "short", or an error number."""

    def __init__(self, thread, call, number, effect):
        self.target, self.effect = (thread, NUMBERS[call], number), effect
        self.reached, self.threads = False, {}
        self.buffer = ctypes.create_string_buffer(REGISTERS.size)

    def run(self, argv, out, err, environment, limit, directory="/"):
        """The exit status as `subprocess` gives it; None when the time was up."""
        pid = self._start([str(part) for part in argv], out, err, environment, directory)
        over = []

        def stop(*_):
            over.append(True)
            os.kill(pid, signal.SIGKILL)
        old = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            status = self._follow(pid)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
        return None if over else status

    def _start(self, argv, out, err, environment, directory):
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            os.chdir(directory)
            for number, path, flags in ((0, "/dev/null", os.O_RDONLY), (1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
                                        (2, err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)):
                os.dup2(os.open(path, flags, 0o600), number)
            _ptrace(TRACEME, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.execve(argv[0], argv, environment)
        finally:
            os._exit(127)

    def _follow(self, pid):
        if not os.WIFSTOPPED(os.waitpid(pid, WALL)[1]):
            raise RuntimeError("the program could not be started")
        _ptrace(SETOPTIONS, pid, None, OPTIONS)
        self.threads[pid] = _Thread(0)
        _ptrace(SYSCALL, pid)
        while True:
            one, status = os.waitpid(-1, WALL)
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                if one == pid:
                    return os.waitstatus_to_exitcode(status)
                continue
            deliver = os.WSTOPSIG(status)
            thread = self.threads.get(one)
            if thread is None:  # a thread reports itself before or after its parent does
                thread = self.threads[one] = _Thread(len(self.threads))
            if deliver == EVENT_STOP:
                self._at_call(one, thread)
                deliver = 0
            elif deliver in (signal.SIGTRAP, signal.SIGSTOP):
                deliver = 0
            _ptrace(SYSCALL, one, None, deliver)

    def _at_call(self, pid, thread):
        if not _ptrace(SYSCALL_INFO, pid, self.buffer._length_, self.buffer):
            return
        is_entry = self.buffer[0][0] == ENTRY
        if not is_entry and not thread.after or not _ptrace(GETREGS, pid, None, self.buffer):
            return
        registers = list(REGISTERS.unpack_from(self.buffer))
        if is_entry:
            call = registers[ORIG_RAX]
            thread.counts[call] = thread.counts.get(call, 0) + 1
            if (thread.index, call, thread.counts[call]) == self.target:
                self._disturb(pid, thread, registers)
        elif thread.after:
            index, value = thread.after
            thread.after = None
            registers[index] = value
            self._set(pid, registers)

    def _disturb(self, pid, thread, registers):
        if self.effect == "kill":
            self.reached = True
            os.kill(pid, signal.SIGKILL)
        elif self.effect == "short":
            if registers[RDX] > 1:
                self.reached = True
                thread.after = (RDX, registers[RDX])
                registers[RDX] //= 2
                self._set(pid, registers)
        else:
            self.reached = True
            thread.after = (RAX, 2**64 - self.effect)
            registers[ORIG_RAX] = 2**64 - 1
            self._set(pid, registers)

    def _set(self, pid, registers):
        REGISTERS.pack_into(self.buffer, 0, *registers)
        _ptrace(SETREGS, pid, None, self.buffer)
