"""The passphrase prompt on a pseudo terminal; run by prompt.sh in an empty directory."""
import os
import signal
import time

from lib_pty import Counter, Terminal

count = Counter()
check = count.check

# Twice on keygen, never shown, echo off meanwhile.
terminal = Terminal("keygen", "root")
check("asks", terminal.wait_for("New passphrase for root.secret: "), terminal.text)
check("switches echo off", not terminal.echoes)
terminal.type("correct horse\n")
check("asks again", terminal.wait_for("The same again: "), terminal.text)
check("echo is still off", not terminal.echoes)
terminal.type("correct horse\n")
check("makes the key", terminal.end() == 0, terminal.text)
check("never shows the passphrase", "horse" not in terminal.text, terminal.text)
check("seals it", "argon2id" in open("root.secret").read())
check("the secret is its owner's", os.stat("root.secret").st_mode & 0o777 == 0o600)

# Two that differ, and an empty one.
terminal = Terminal("keygen", "other")
terminal.wait_for("other.secret: ")
terminal.type("one\n")
terminal.wait_for("again: ")
terminal.type("two\n")
check("two that differ: usage", terminal.end() == 2, terminal.text)
check("says so", "differ" in terminal.text, terminal.text)
check("echo is back", terminal.status is not None)
terminal = Terminal("keygen", "other")
terminal.wait_for("other.secret: ")
terminal.type("\n")
check("an empty one: usage", terminal.end() == 2, terminal.text)
terminal = Terminal("keygen", "other")
terminal.wait_for("other.secret: ")
terminal.type("x" * 4095 + "\n")
terminal.type("y\n")
check("no key is made of either", terminal.end() != 0 and not os.path.exists("other.secret"), terminal.text)

# To open a key, asked once; nothing is asked when the key needs none.
certify = ["certify", "--key", "release.pub", "--publisher", "P", "--apps", "com.example.a", "--days", "1"]
terminal = Terminal(*certify, "--root", "root.secret", "-o", "a.cert")
check("asks once", terminal.wait_for("Passphrase of root.secret: "), terminal.text)
terminal.type("correct horse\n")
check("opens the key", terminal.end() == 0 and os.path.exists("a.cert"), terminal.text)
terminal = Terminal(*certify, "--root", "root.secret", "-o", "b.cert")
terminal.wait_for("root.secret: ")
terminal.type("wrong horse\n")
check("a wrong one: could not decide", terminal.end() == 3 and "wrongPassphrase" in terminal.text, terminal.text)
terminal = Terminal(*certify, "--root", "plain.secret", "-o", "c.cert")
check("an unsealed key asks nothing", terminal.end() == 0 and "assphrase" not in terminal.text, terminal.text)

# A usage mistake is found before anybody types a passphrase.
terminal = Terminal(*certify[:-1], "0", "--root", "root.secret", "-o", "d.cert")
check("mistakes come first", terminal.end() == 2 and "Passphrase" not in terminal.text, terminal.text)

# Signals: the terminal comes back, then the signal acts.
for name, how in (
    ("Ctrl-C", lambda terminal: terminal.type("\x03")), ("Ctrl-\\", lambda terminal: terminal.type("\x1c")),
    ("SIGTERM", lambda terminal: terminal.signal(signal.SIGTERM)), ("SIGHUP", lambda terminal: terminal.signal(signal.SIGHUP)),
):
    expected = {"Ctrl-C": signal.SIGINT, "Ctrl-\\": signal.SIGQUIT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}[name]
    terminal = Terminal("keygen", "signalled")
    check(f"{name}: is asked", terminal.wait_for("signalled.secret: "), terminal.text)
    check(f"{name}: echo is off before", not terminal.echoes)
    terminal.type("secr")
    how(terminal)
    check(f"{name}: ends by the signal", terminal.end() == -expected, f"{terminal.status} {terminal.text}")
    check(f"{name}: echo is back", terminal.echoes)
    check(f"{name}: nothing is left", not [file for file in os.listdir(".") if "signalled" in file])

# Ctrl-Z: stopped with echo on; going on asks again, with echo off.
terminal = Terminal("keygen", "stopped", as_job=True)
terminal.wait_for("stopped.secret: ")
terminal.type("half\x1a")
check("Ctrl-Z stops", terminal.stopped(), terminal.text)
check("stopped with echo on", terminal.echoes)
terminal.output = b""
terminal.signal(signal.SIGCONT)
check("asks again", terminal.wait_for("stopped.secret: "), terminal.text)
check("echo is off again", not terminal.echoes)
terminal.type("whole\n")
terminal.wait_for("again: ")
terminal.type("whole\n")
check("and makes the key", terminal.end() == 0 and os.path.exists("stopped.secret"), terminal.text)
check("echo is back in the end", terminal.echoes)

# End of input is no passphrase.
terminal = Terminal("keygen", "ended")
terminal.wait_for("ended.secret: ")
terminal.type("\x04")
check("Ctrl-D: no key", terminal.end() == 2 and not os.path.exists("ended.secret"), terminal.text)
count.finish()
