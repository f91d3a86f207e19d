"""`python -m memolith`."""

from memolith.cli.main import main

raise SystemExit(main())
