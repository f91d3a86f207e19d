"""`python -m memolith`."""

from memolith.cli.main import program

program()
