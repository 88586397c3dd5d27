"""The command `labelrank`, and `python -m labelrank`."""

import sys


def main() -> None:
    try:
        from labelrank.cli import main as run

        run()
    except KeyboardInterrupt:  # while the command line itself is loaded
        sys.exit(130)


if __name__ == "__main__":
    main()
