"""`python -m labelrank` is the command line."""

from labelrank.cli import main

main()
