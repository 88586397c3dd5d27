"""Run the benchmarks and print one table; `--out FILE` appends JSON lines."""

import argparse
import importlib
import json
import pkgutil
import platform
import sys

from rich.console import Console
from rich.table import Table

import benchmarks
from labelrank.errors import MissingError

_PARTS = {
    "timing",
    "__main__",
    "rivals",
    "peers",
    "peer_pages",
    "suite",
    "suite_data",
    "suite_tables",
}
COLUMNS = ("name", "ours_s", "rival_s", "ratio", "target")


def names() -> list[str]:
    found = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return [name for name in found if name not in _PARTS and not name.startswith("_")]


def show(title: str, records: list[dict]) -> None:
    table = Table(title=title, title_justify="left")
    for column in (*COLUMNS, "more"):
        table.add_column(
            column, justify="left" if column in ("name", "more", "target") else "right"
        )
    for one in records:
        rest = {k: v for k, v in one.items() if k not in COLUMNS}
        more = ", ".join(f"{key} {_cell(value)}" for key, value in rest.items())
        table.add_row(*(_cell(one.get(column, "")) for column in COLUMNS), more)
    Console(width=160).print(table)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> None:
    if sys.argv[1:2] == ["suite"]:
        from benchmarks import suite

        suite.main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(names())} (default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller data")
    parser.add_argument("--out", help="append results to this file as JSON lines")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(names())
    if unknown:
        parser.error(f"no benchmark {sorted(unknown)}; there are {', '.join(names())}")
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    for name in chosen.names or names():
        try:
            records = importlib.import_module(f"benchmarks.{name}").run(quick=chosen.quick)
        except MissingError as error:
            sys.exit(f"{name}: {error}")
        show(name, records)
        if chosen.out:
            with open(chosen.out, "a", encoding="utf-8") as file:
                file.writelines(json.dumps({"benchmark": name, **one}) + "\n" for one in records)


if __name__ == "__main__":
    main()
