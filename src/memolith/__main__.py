"""`python -m memolith`."""

from memolith.cli.program import program

program()
