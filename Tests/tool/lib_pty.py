"""Runs the tool on a pseudo terminal: `Terminal(arguments)` types, reads and looks at the terminal's settings."""
import os
import pty
import select
import signal
import sys
import termios
import time

sys.dont_write_bytecode = True
TOOL = os.environ["NSH_PKGTOOL"]


class Terminal:
    def __init__(self, *arguments, environment=None, as_job=False):
        """Starts the tool; `as_job`: as a shell with job control does, so that it can be stopped."""
        told, tell = os.pipe()
        self.child, self.master = pty.fork()
        if self.child == 0:
            if as_job and (job := os.fork()):
                os.write(tell, b"%d" % job)
                os._exit(os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]))
            if as_job:
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                os.setpgid(0, 0)
                os.tcsetpgrp(0, os.getpid())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, and would stay so
            os.execve(TOOL, [TOOL, *arguments], {**os.environ, **(environment or {})})
        os.close(tell)
        self.pid = int(os.read(told, 20)) if as_job else self.child
        os.close(told)
        self.output = b""
        self.status = None

    @property
    def echoes(self):
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def wait_for(self, text, seconds=20):
        end = time.monotonic() + seconds
        while text.encode() not in self.output:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                return False
            try:
                piece = os.read(self.master, 4096)
            except OSError:
                piece = b""
            if not piece:
                return text.encode() in self.output
            self.output += piece
        return True

    def type(self, text):
        os.write(self.master, text.encode())

    def signal(self, number):
        os.kill(self.pid, number)

    def stopped(self, seconds=20):
        """Waits until the tool is stopped."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "T":
                    return True
            time.sleep(0.01)
        return False

    def end(self, seconds=30):
        """Reads to the end; returns the exit status, or minus the signal's number."""
        stop = time.monotonic() + seconds
        while self.status is None and time.monotonic() < stop:
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.output += os.read(self.master, 4096)
                except OSError:
                    pass
            pid, status = os.waitpid(self.child, os.WNOHANG)
            if pid:
                self.status = status
        if self.status is None:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
            return None
        return os.waitstatus_to_exitcode(self.status)

    @property
    def text(self):
        return self.output.decode("utf-8", "replace")


class Counter:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED  {name}" + (f"\n        {detail}" if detail else ""))

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)
