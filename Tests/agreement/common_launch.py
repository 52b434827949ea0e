"""Starts commands for common.py and reports how each ended, what it took, and its peak memory.

A process begins as a copy of the one that starts it, and the kernel counts that copy's memory into the new program's peak:
started from a script that holds packages and a reference reader, every program seems to need what the script needs. So
this one stays small (no import that is not built in) and is started once for each worker.

Requests and answers are marshalled over standard input and output: (argv, environment, directory, input, output, errors,
seconds) in, (status, seconds, kibibytes) out; the status is negative for a signal, None when the time was up.
"""
import marshal
import posix
import time
import _signal as signal
import sys


def start(argv, environment, directory, stdin, stdout, stderr):
    pid = posix.fork()
    if pid:
        return pid
    try:
        posix.setsid()
        posix.chdir(directory)
        for number, path in enumerate((stdin, stdout, stderr)):
            flags = posix.O_RDONLY if number == 0 else posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC
            posix.dup2(posix.open(path, flags, 0o600), number)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        posix.execve(argv[0], argv, environment)
    except OSError as error:
        posix.write(2, f"{argv[0]}: {error}\n".encode())
    posix._exit(127)


def main():
    while True:
        try:
            argv, environment, directory, stdin, stdout, stderr, limit = marshal.load(sys.stdin.buffer)
        except EOFError:
            return
        begun = time.monotonic()
        pid = start(argv, environment, directory, stdin, stdout, stderr)
        over = []

        def stop(*_):
            over.append(True)
            posix.kill(-pid, signal.SIGKILL)
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, limit)
        _, status, usage = posix.wait4(pid, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        code = posix.waitstatus_to_exitcode(status)
        marshal.dump((None if over else code, time.monotonic() - begun, usage.ru_maxrss), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
