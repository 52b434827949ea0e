"""What a terminal sees: colour, progress, escaping; run by output.sh in its directory."""
import os
import signal
import subprocess
import time

from lib_pty import TOOL, Counter, Terminal

count = Counter()
check = count.check
ESCAPE = "\x1b["
plain = {"NO_COLOR": "", "TERM": "xterm"}

verify = ["verify", "a.nshpkg", "--root", "root.pub"]
terminal = Terminal(*verify, environment=plain)
check("accepted on a terminal", terminal.end() == 0)
check("colour on a terminal", f"{ESCAPE}1;32mOK" in terminal.text, repr(terminal.text))
terminal = Terminal("verify", "bad.nshpkg", "--root", "root.pub", environment=plain)
terminal.end()
check("red for a refusal", f"{ESCAPE}1;31mREFUSED" in terminal.text, repr(terminal.text))
for name, environment, arguments in (
    ("NO_COLOR", {"NO_COLOR": "1"}, []), ("TERM=dumb", {"TERM": "dumb"}, []), ("--json", {}, ["--json"]),
):
    terminal = Terminal(*verify, *arguments, environment={**plain, **environment})
    terminal.end()
    check(f"no colour with {name}", ESCAPE not in terminal.text, repr(terminal.text))
piped = subprocess.run([TOOL, *verify], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **plain})
check("no colour into a pipe", b"\x1b" not in piped.stdout + piped.stderr)

# The bytes of pae are not for a terminal.
terminal = Terminal("pae", "release.cert")
check("pae refuses a terminal", terminal.end() == 2 and "not for a terminal" in terminal.text, terminal.text)

# A package that comes slowly: a bar after a second, and none before; wiped away in the end.
# Read through a shell, so that standard input is the slow pipe and the rest the terminal.
with open("assets.bin", "wb") as file:
    file.write(os.urandom(3 << 20))
os.makedirs("big-app/assets", exist_ok=True)
os.rename("assets.bin", "big-app/assets/random.bin")
for name in ("app.json", "bundle.js"):
    with open(f"orders/{name}", "rb") as source, open(f"big-app/{name}", "wb") as target:
        target.write(source.read())
subprocess.run([TOOL, "publish", "big-app", "--quiet", "--key", "release.secret", "--certificate", "release.cert",
                "-o", "big.nshpkg"], check=True)
script = "import os,sys,time\nd=open('big.nshpkg','rb').read()\ns=len(d)//12+1\n" \
         "for i in range(0,len(d),s):\n sys.stdout.buffer.write(d[i:i+s]); sys.stdout.flush(); time.sleep(0.2)\n"
open("slow.py", "w").write(script)


def through_shell(arguments):
    child_tool = os.environ["NSH_PKGTOOL"]
    import lib_pty
    lib_pty.TOOL = "/bin/sh"
    try:
        return Terminal("-c", f"python3 slow.py | '{child_tool}' {arguments}", environment=plain)
    finally:
        lib_pty.TOOL = child_tool


terminal = through_shell("verify - --root root.pub")
check("a slow package is accepted", terminal.end() == 0, repr(terminal.text))
check("a bar is drawn after a second", "\r\x1b[K" in terminal.text and "[#" in terminal.text, repr(terminal.text))
check("the bar is wiped away", terminal.text.rstrip().split("\r\x1b[K")[-1].startswith(f"{ESCAPE}1;32mOK"), repr(terminal.text))
terminal = through_shell("verify - --root root.pub --quiet")
check("no bar when quiet", terminal.end() == 0 and "\x1b[K" not in terminal.text, repr(terminal.text))
terminal = Terminal(*verify, environment=plain)
terminal.end()
check("no bar for what is quick", "\x1b[K" not in terminal.text)

# Ctrl-C in the middle: everything is cleaned up, then the signal acts.
for arguments in ("extract - big --root root.pub", "verify - --root root.pub"):
    terminal = through_shell(arguments)
    time.sleep(1.0)
    terminal.type("\x03")
    check(f"Ctrl-C ends {arguments.split()[0]}", terminal.end() in (-signal.SIGINT, 130, 3), f"{terminal.status} {terminal.text!r}")
    time.sleep(0.2)
    check("nothing is left", not os.path.exists("big") and not [name for name in os.listdir(".") if name.startswith(".nsh")],
          str(os.listdir(".")))

# A pipe that never says anything does not keep it, and so is not decided.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    # Under nohup a hang-up is ignored, and the tool keeps it so; here it is to act.
    process = subprocess.Popen([TOOL, "extract", "-", "big", "--root", "root.pub"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    time.sleep(0.5)
    process.send_signal(number)
    try:
        out, err = process.communicate(timeout=10)
        ended = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        out, ended = process.communicate()[0], None
    check(f"signal {number} ends a read that waits", ended == -number, f"{ended} {out!r}")
    check("and says so", b"ERROR cancelled" in out, repr(out))
    check("nothing is left", not [name for name in os.listdir(".") if name.startswith(".nsh") or name == "big"])
count.finish()
