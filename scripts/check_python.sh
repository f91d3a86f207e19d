#!/bin/sh
# Say plainly what is missing before `python -m venv` fails with a traceback.
python=$1

if ! command -v "$python" >/dev/null; then
    echo "Memolith needs Python 3.11 or newer, and '$python' is not there." >&2
    echo "Install it, or name another one: make setup PYTHON=/path/to/python3.11" >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "Memolith needs Python 3.11 or newer, and '$python' is $("$python" -V 2>&1)." >&2
    echo "Name a newer one: make setup PYTHON=/path/to/python3.11" >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "'$python' cannot make virtual environments: its venv module is missing." >&2
    echo "On Debian or Ubuntu: sudo apt-get install python3-venv" >&2
    exit 1
fi
