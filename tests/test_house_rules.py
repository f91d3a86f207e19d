"""The promises of CONTRIBUTING.md that no linter checks, read from the syntax tree."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
PACKAGE = REPOSITORY / "src" / "memolith"

MAX_LINES_OF_A_FILE = 500
MAX_CODE_LINES_OF_A_FUNCTION = 50

# Code lines and modules of each folder: no blanks, comments or docstrings; `__init__.py` is not a
# module. A ceiling goes down with every change that makes a folder smaller. Raising one takes a
# page in docs/decisions that names the promise behind it.
CEILINGS = {
    "(top)": (1_994, 16),
    "adapters": (351, 6),
    "cli": (2_482, 12),
    "config": (580, 4),
    "context": (1_383, 9),
    "embed": (571, 5),
    "engines": (1_253, 7),
    "files": (3_457, 26),
    "hosts": (644, 7),
    "importers": (1_127, 10),
    "index": (1_252, 7),
    "ingest": (798, 5),
    "jobs": (6_740, 41),
    "llm": (330, 4),
    "mcp_server": (1_097, 6),
    "rest": (1_266, 9),
    "search": (1_263, 10),
    "text": (2_155, 20),
    "web": (905, 12),
}

# Only these open, change, move or remove files, so that there is one place to prove that nothing
# is lost: the writes themselves, the lock file, and the handle of the profile's folder.
WRITERS = {"files/atomic_write.py", "files/locks.py", "files/folder.py"}
# These write files that can be made again at any time from those of the profile.
WRITERS_OF_DERIVED_FILES = {
    "engines/chroma.py", "engines/qmd.py",
    "index/database.py", "index/place.py",
    "hosts/local_socket.py",
}  # fmt: skip

# The three places that must survive anything, report it, and hide nothing.
MAY_CATCH_EVERYTHING = {"cli/main.py", "jobs/run.py", "watching.py"}

# Libraries that take longer to load than `memolith remember` takes in all: imported inside the
# function that needs them, or in a module that is itself imported so.
SLOW_LIBRARIES = {
    "apsw", "fastapi", "mcp", "numpy", "pydantic", "rich", "starlette", "tokenizers", "uvicorn",
    "wordllama",
}  # fmt: skip
# The modules every command loads.
LOADED_BY_EVERY_COMMAND = ["cli/main.py", "memory.py"]

Finding = str
Rule = Callable[[str, ast.Module, list[str]], Iterator[Finding]]


def long_files(name: str, tree: ast.Module, lines: list[str]) -> Iterator[Finding]:
    if len(lines) > MAX_LINES_OF_A_FILE:
        yield f"{name} has {len(lines)} lines: it holds two ideas"


def long_functions(name: str, tree: ast.Module, lines: list[str]) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = _code_lines(node, lines)
            if size > MAX_CODE_LINES_OF_A_FUNCTION:
                yield f"{name}:{node.lineno} {node.name} has {size} lines of code"


def _code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if not body:
        return 0
    code = lines[body[0].lineno - 1 : node.end_lineno]
    return sum(1 for line in code if line.strip() and not line.lstrip().startswith("#"))


CHANGES_FILES = {
    "os": {
        "chmod", "chown", "fchmod", "fchown", "fdopen", "ftruncate", "link", "makedirs", "mkdir",
        "mkfifo", "posix_fallocate", "pwrite", "pwritev", "remove", "removedirs", "rename",
        "renames", "replace", "rmdir", "sendfile", "symlink", "truncate", "unlink", "utime",
        "write", "writev",
    },
    "shutil": {"copy", "copy2", "copyfile", "copyfileobj", "copytree", "move", "rmtree"},
}  # fmt: skip
CHANGES_PATHS = {
    "hardlink_to", "lchmod", "rename", "rmdir", "symlink_to", "touch", "unlink", "write_bytes",
    "write_text",
}  # fmt: skip
READING_FLAGS = {"O_RDONLY", "O_DIRECTORY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH"}
WRITING_FLAGS = {"O_APPEND", "O_CREAT", "O_EXCL", "O_RDWR", "O_TMPFILE", "O_TRUNC", "O_WRONLY"}


def writes_outside_the_writers(name: str, tree: ast.Module, lines: list[str]) -> Iterator[Finding]:
    if name in WRITERS | WRITERS_OF_DERIVED_FILES:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _changes_a_file(node):
            yield f"{name}:{node.lineno} {ast.unparse(node.func)} belongs in files/atomic_write.py"
        elif isinstance(node, ast.ImportFrom) and node.module in {*CHANGES_FILES, "tempfile"}:
            yield f"{name}:{node.lineno} write {node.module}.name, so that writers can be seen"
        elif isinstance(node, ast.Import) and any(a.name == "tempfile" for a in node.names):
            yield f"{name}:{node.lineno} temporary files belong in files/atomic_write.py"


def _changes_a_file(call: ast.Call) -> bool:
    match call.func:
        case ast.Name("open") | ast.Attribute(ast.Name("io"), "open"):
            return _mode_writes(call)
        case ast.Attribute(ast.Name("os"), "open"):
            return len(call.args) < 2 or not _only_reads(call.args[1])
        case ast.Attribute(ast.Name(module), function) if module in CHANGES_FILES:
            return function in CHANGES_FILES[module]
        case ast.Attribute(_, "open"):  # folder.open(path, os.O_WRONLY)
            return bool(_attributes(*call.args, *call.keywords) & WRITING_FLAGS)
        case ast.Attribute(_, method):
            return method in CHANGES_PATHS
    return False


def _mode_writes(call: ast.Call) -> bool:
    mode = call.args[1] if len(call.args) > 1 else None
    for keyword in call.keywords:
        if keyword.arg == "mode":
            mode = keyword.value
    if mode is None:
        return False
    if isinstance(mode, ast.Constant) and isinstance(mode.value, str):
        return bool(set(mode.value) & set("wax+"))
    return True  # a mode we cannot read here is a mode that may write


def _attributes(*trees: ast.AST) -> set[str]:
    return {
        node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }


def _only_reads(flags: ast.expr) -> bool:
    names = _attributes(flags)
    variables = {node.id for node in ast.walk(flags) if isinstance(node, ast.Name)} - {"os"}
    return bool(names) and names <= READING_FLAGS and not variables


REASONED_NOQA = re.compile(r"# noqa: BLE001\W+\w+ \w+")


def unexplained_broad_excepts(name: str, tree: ast.Module, lines: list[str]) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ExceptHandler) or not _is_broad(node) or _passes_on(node):
            continue
        if name not in MAY_CATCH_EVERYTHING:
            yield f"{name}:{node.lineno} catches everything"
        elif not REASONED_NOQA.search(lines[node.lineno - 1]):
            yield f"{name}:{node.lineno} catches everything without `noqa: BLE001` and a reason"


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    return bool(names & {"Exception", "BaseException"})


def _passes_on(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


UNFINISHED = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b")


def unfinished_work(name: str, tree: ast.Module, lines: list[str]) -> Iterator[Finding]:
    for number, line in enumerate(lines, start=1):
        if UNFINISHED.search(line):
            yield f"{name}:{number} is unfinished: {line.strip()}"


def code_in_folder_init(name: str, tree: ast.Module, lines: list[str]) -> Iterator[Finding]:
    if name.endswith("/__init__.py") and tree.body:
        yield f"{name} is not empty: import from the module that has the name"


def shapeless_values(name: str, tree: ast.Module, lines: list[str]) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and ast.unparse(node) == "dict[str, Any]":
            yield f"{name}:{node.lineno} passes dict[str, Any]: give it a dataclass"


RULES_FOR_ALL_PYTHON: list[Rule] = [long_files, long_functions, unfinished_work]
RULES_FOR_THE_PACKAGE: list[Rule] = [
    *RULES_FOR_ALL_PYTHON,
    writes_outside_the_writers,
    unexplained_broad_excepts,
    code_in_folder_init,
    shapeless_values,
]


def findings(rule: Rule, folder: Path, source: Path) -> list[Finding]:
    return list(rule(source.relative_to(folder).as_posix(), *_parsed(source)))


@cache
def _parsed(source: Path) -> tuple[ast.Module, list[str]]:
    text = source.read_text(encoding="utf-8")
    return ast.parse(text), text.splitlines()


@pytest.mark.parametrize("rule", RULES_FOR_THE_PACKAGE, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Rule) -> None:
    sources = sorted(PACKAGE.rglob("*.py"))
    assert sources
    found = [finding for source in sources for finding in findings(rule, PACKAGE, source)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("rule", RULES_FOR_ALL_PYTHON, ids=lambda rule: rule.__name__)
def test_tests_scripts_and_benchmarks_keep_the_rule(rule: Rule) -> None:
    folders = ["tests", "scripts", "benchmarks", "examples"]
    sources = sorted(path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))
    found = [finding for source in sources for finding in findings(rule, REPOSITORY, source)]
    assert not found, "\n".join(found)


def test_documents_promise_nothing_unfinished() -> None:
    documents = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    found = [
        f"{document.relative_to(REPOSITORY)}:{number}"
        for document in documents
        for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), start=1)
        if UNFINISHED.search(line)
    ]
    assert found == []


def test_every_module_named_in_a_rule_is_still_there() -> None:
    there = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*")}
    assert there >= WRITERS | WRITERS_OF_DERIVED_FILES | set(LOADED_BY_EVERY_COMMAND)


def test_no_command_loads_a_slow_library_at_its_start() -> None:
    start = "import sys, memolith.cli.main, memolith.memory; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert loaded.isdisjoint(SLOW_LIBRARIES)


def house() -> tuple[Counter[str], Counter[str]]:
    """Code lines and modules of each folder of the package."""
    lines: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for source in PACKAGE.rglob("*.py"):
        parts = source.relative_to(PACKAGE).parts
        room = parts[0] if len(parts) > 1 else "(top)"
        lines[room] += _code_lines_of_file(*_parsed(source))
        modules[room] += source.name != "__init__.py"
    return lines, modules


def _code_lines_of_file(tree: ast.Module, lines: list[str]) -> int:
    prose: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Module(body=[ast.Expr(ast.Constant(str())) as text, *_])
                | ast.ClassDef(body=[ast.Expr(ast.Constant(str())) as text, *_])
                | ast.FunctionDef(body=[ast.Expr(ast.Constant(str())) as text, *_])
                | ast.AsyncFunctionDef(body=[ast.Expr(ast.Constant(str())) as text, *_])
            ):
                prose |= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return sum(
        1
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.lstrip().startswith("#") and number not in prose
    )


def test_every_folder_keeps_its_ceiling() -> None:
    lines, modules = house()
    assert set(lines) == set(CEILINGS), "a new folder needs a ceiling"
    over = [
        f"{room}: {lines[room]} code lines in {modules[room]} modules, ceiling {ceiling}"
        for room, ceiling in CEILINGS.items()
        if lines[room] > ceiling[0] or modules[room] > ceiling[1]
    ]
    assert not over, "\n".join(over)


def test_ceilings_are_no_higher_than_they_must_be() -> None:
    lines, modules = house()
    loose = [
        f"{room}: lower the ceiling to about ({lines[room]}, {modules[room]})"
        for room, ceiling in CEILINGS.items()
        if ceiling[0] > lines[room] * 1.1 + 50 or ceiling[1] > modules[room] + 3
    ]
    assert not loose, "\n".join(loose)


BROKEN = [
    (long_files, "memory.py", "\n" * 501),
    (long_functions, "memory.py", "def f():\n" + "    x = 1\n" * 51),
    (writes_outside_the_writers, "memory.py", "open('x', 'a')"),
    (writes_outside_the_writers, "memory.py", "open('x', mode='r+')"),
    (writes_outside_the_writers, "memory.py", "open('x', mode)"),
    (writes_outside_the_writers, "memory.py", "os.open('x', os.O_RDWR | os.O_CREAT)"),
    (writes_outside_the_writers, "memory.py", "os.open('x', flags)"),
    (writes_outside_the_writers, "memory.py", "folder.open('x', os.O_WRONLY)"),
    (writes_outside_the_writers, "files/journal.py", "os.replace('x', 'y')"),
    (writes_outside_the_writers, "files/journal.py", "from os import unlink"),
    (writes_outside_the_writers, "files/journal.py", "path.write_text('x')"),
    (writes_outside_the_writers, "files/journal.py", "def f():\n    import tempfile"),
    (unexplained_broad_excepts, "memory.py", "try: f()\nexcept Exception: pass"),
    (unexplained_broad_excepts, "memory.py", "try: f()\nexcept (OSError, BaseException): pass"),
    (unexplained_broad_excepts, "cli/main.py", "try: f()\nexcept: pass"),
    (unexplained_broad_excepts, "cli/main.py", "try: f()\nexcept Exception:  # noqa: BLE001\n  x"),
    (unfinished_work, "memory.py", "x = 1  # \x54ODO: more"),
    (code_in_folder_init, "files/__init__.py", "from x import y"),
    (shapeless_values, "memory.py", "def f(x: dict[str, Any]) -> None: ..."),
]


@pytest.mark.parametrize(("rule", "name", "source"), BROKEN)
def test_a_broken_rule_is_found(rule: Rule, name: str, source: str) -> None:
    assert list(rule(name, ast.parse(source), source.splitlines()))


KEPT = [
    (long_functions, "memory.py", "def f():\n" + "    # why\n\n" * 60 + "    x = 1\n" * 50),
    (writes_outside_the_writers, "memory.py", "open('x', encoding='utf-8'); open('x', 'rb')"),
    (writes_outside_the_writers, "memory.py", "os.open('x', os.O_RDONLY | os.O_NOFOLLOW)"),
    (writes_outside_the_writers, "memory.py", "text.replace('a', 'b'); sys.stdout.write('x')"),
    (writes_outside_the_writers, "files/atomic_write.py", "os.replace('x', 'y')"),
    (unexplained_broad_excepts, "memory.py", "try: f()\nexcept BaseException:\n  g()\n  raise"),
    (
        unexplained_broad_excepts,
        "cli/main.py",
        "try: f()\nexcept Exception:  # noqa: BLE001 — the last line of defence\n  x",
    ),
    (code_in_folder_init, "__init__.py", "from memolith.memory import Memory"),
]


@pytest.mark.parametrize(("rule", "name", "source"), KEPT)
def test_a_kept_rule_is_left_in_peace(rule: Rule, name: str, source: str) -> None:
    assert list(rule(name, ast.parse(source), source.splitlines())) == []
