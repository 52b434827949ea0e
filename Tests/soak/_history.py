"""What a soak leaves to be judged: rows of the log and answers of processes; and what follows from rows for the store."""
import bisect
import dataclasses

#: What a client of a daemon may be told when the daemon is killed or has too much to do.
CUT_OFF = {"ioFailure", "stopping", "overloaded", "noTrustedRoots"}
FOREVER = 1 << 62


@dataclasses.dataclass
class Call:
    """What a process asked and was told. `code` is None where nothing came back."""

    pid: int
    mode: str  # library, client, tool
    roots: frozenset
    op: str
    x: int
    begin: int
    end: int = FOREVER
    code: str = None
    more: dict = dataclasses.field(default_factory=dict)

    @property
    def unknown(self):
        return self.code is None or self.mode == "client" and self.code in CUT_OFF

    def __str__(self):
        return f"{self.op} {self.x} by {self.mode} {self.pid}: {self.code}"


@dataclasses.dataclass
class History:
    facts: dict
    rows: list  # of the log, as the tool shows them
    calls: list
    seen: dict = dataclasses.field(default_factory=dict)  # number of a row -> when somebody saw it
    files: list = dataclasses.field(default_factory=list)  # (pid, {name: number}) of workers that ended


class Lists:
    """The lists in force, and what they take."""

    def __init__(self, facts, heads=None, united=None):
        self.facts, self.heads, self.united = facts, heads or {}, united or {}
        lists = list(self.heads.values()) + list(self.united.values())
        self.keys = {key for known in lists for key in known["keys"]}
        self.certificates = {serial for known in lists for serial in known["certificates"]}
        self.packages = {digest for known in lists for digest in known["packages"]}
        self.withdrawn = {letter for letter, key in facts["roots"].items() if key in self.keys}
        self.withdrawn |= {known["root"] for known in self.heads.values() if known["revokesIssuer"]}
        self.minimum, self.maximum = {}, {}
        for known in lists:
            for app, build in known["minimumBuilds"].items():
                self.minimum[app] = max(build, self.minimum.get(app, 0))
            for app, build in known.get("maximumBuilds", {}).items():
                self.maximum[app] = min(build, self.maximum.get(app, FOREVER))

    def after(self, new):
        """The lists when a new one has been applied; a withdrawal keeps what was there."""
        old, united = self.heads.get(new["root"]), dict(self.united)
        if new["revokesIssuer"] and old:
            united[new["root"]] = old
        return Lists(self.facts, {**self.heads, new["root"]: new}, united)


class Timeline:
    """Values by the number of rows that lead to them."""

    def __init__(self, first):
        self.places, self.values = [0], [first]

    def set(self, place, value):
        self.places.append(place)
        self.values.append(value)

    def at(self, place):
        return self.values[bisect.bisect_right(self.places, place) - 1]

    def within(self, low, high):
        """Places from low to high at which the value may differ from the one before."""
        return self.places[bisect.bisect_right(self.places, low):bisect.bisect_right(self.places, high)]
