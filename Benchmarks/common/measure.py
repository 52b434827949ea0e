"""Times commands by turns: A B C A B C …, so that whatever the machine does meanwhile hits them alike."""

import dataclasses
import statistics
import subprocess
import sys


@dataclasses.dataclass
class Row:
    """One way of doing a job: commands one after another, with what is prepared before each round and not timed."""

    name: str
    commands: list
    prepare: object = None
    seconds: list = dataclasses.field(default_factory=list)
    processor: list = dataclasses.field(default_factory=list)
    peak: int = 0

    def document(self):
        """The row's figures: medians, the extremes, and the peak of the largest process."""
        thousand = lambda seconds: round(seconds * 1000, 3)
        return {
            "name": self.name,
            "milliseconds": thousand(statistics.median(self.seconds)),
            "fastest": thousand(min(self.seconds)),
            "slowest": thousand(max(self.seconds)),
            "processor": thousand(statistics.median(self.processor)),
            "peakMiB": round(self.peak / 2**20, 1),
        }


def interleaved(rows, rounds, timed, warm=True):
    """Runs all rows by turns, once without counting (unless not `warm`) and then `rounds` times.

    The order is turned round every other time.

    `timed` is the program of timed.c. A command that fails ends the benchmark: what failed is not a time.
    """
    for number in range(0 if warm else 1, rounds + 1):
        for row in rows if number % 2 else reversed(rows):
            if row.prepare:
                row.prepare()
            words = [timed]
            for command in row.commands:
                words += [*command, ":::"]
            done = subprocess.run(words[:-1], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"bench: exit status {done.returncode} of {' '.join(words[1:-1])}\n{done.stderr}")
            seconds, processor, peak = done.stdout.split()
            if number:
                row.seconds.append(float(seconds))
                row.processor.append(float(processor))
                row.peak = max(row.peak, int(peak) * 1024)
    return rows
