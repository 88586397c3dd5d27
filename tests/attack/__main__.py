"""Run the campaigns and print what came of them, as a table."""

import argparse
import sys
import time

from attack import watched

# Seconds of the short form, and inputs of the full one.
CAMPAIGNS = {
    "models": (12, 20_000), "files": (12, 20_000), "api": (12, 6000), "commands": (12, 500),
    "kills": (6, 100),
}  # fmt: skip
COLUMNS = ("inputs", *watched.FAULTS)
HEADINGS = (
    "inputs",
    "crashes",
    "hangs",
    "lost or ruined",
    "foreign",
    "wrong",
    "refused",
    "seconds",
)


def main():
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("campaigns", nargs="*", help=", ".join(CAMPAIGNS))
    parser.add_argument("--full", action="store_true", help="all inputs: an hour")
    parser.add_argument("--inputs", type=int, help="so many inputs of each campaign")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--only", metavar="CAMPAIGN:NUMBER", help="try one input here")
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        name, folder, first, last = asked.work
        return watched.work(name, folder, int(first), int(last))
    if asked.only:
        name, _, number = asked.only.partition(":")
        return watched.only(name, int(number))
    return report(asked)


def report(asked):
    """Run the campaigns; 1 if any input was to blame."""
    print("| campaign |", " | ".join(HEADINGS), "|")
    print("|---" * (len(HEADINGS) + 1) + "|", flush=True)
    all_blamed = []
    for name in asked.campaigns or CAMPAIGNS:
        seconds, inputs = CAMPAIGNS[name]
        limit = {"inputs": inputs} if asked.full else {"seconds": seconds}
        limit = {"inputs": asked.inputs} if asked.inputs else limit
        began = time.monotonic()
        counts, blamed = watched.run(name, first=asked.first, **limit)
        refused = sum(n for what, n in counts.items() if what.startswith("refused"))
        figures = [counts.total(), *(counts[fault] for fault in watched.FAULTS), refused]
        cells = [*figures, round(time.monotonic() - began)]
        print("|", name, "|", " | ".join(f"{cell:,}" for cell in cells), "|", flush=True)
        all_blamed += [f"{name}:{number} {said}" for number, said in blamed]
    print(*all_blamed, sep="\n")
    return int(bool(all_blamed))


if __name__ == "__main__":
    sys.exit(main())
