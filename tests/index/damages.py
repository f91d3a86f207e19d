"""Ways to damage an index that other processes are using."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    Damage = Callable[[Path, random.Random], None]


def index_folder(root: Path) -> Path:
    return root / ".memolith" / "index"


def database(folder: Path) -> Path:
    """The newest database."""
    return max(folder.glob("index-v*.db"))


def flip_a_byte(folder: Path, chance: random.Random) -> None:
    _overwrite(database(folder), chance, 1)


def overwrite_a_page(folder: Path, chance: random.Random) -> None:
    _overwrite(database(folder), chance, 4096)


def overwrite_all(folder: Path, chance: random.Random) -> None:
    path = database(folder)
    with path.open("r+b") as file:
        file.write(chance.randbytes(path.stat().st_size))


def break_the_header(folder: Path, chance: random.Random) -> None:
    with database(folder).open("r+b") as file:
        file.write(chance.randbytes(16))


def change_the_version(folder: Path, chance: random.Random) -> None:
    with database(folder).open("r+b") as file:
        file.seek(60)
        file.write(chance.choice([1, 99]).to_bytes(4, "big"))


def truncate(folder: Path, chance: random.Random) -> None:
    path = database(folder)
    os.truncate(path, chance.randrange(path.stat().st_size + 1))


def delete_the_database(folder: Path, chance: random.Random) -> None:
    database(folder).unlink()


def delete_the_log(folder: Path, chance: random.Random) -> None:
    _part(folder, "-wal").unlink(missing_ok=True)


def delete_the_map(folder: Path, chance: random.Random) -> None:
    _part(folder, "-shm").unlink(missing_ok=True)


def delete_log_and_map(folder: Path, chance: random.Random) -> None:
    delete_the_log(folder, chance)
    delete_the_map(folder, chance)


def flip_a_byte_of_the_log(folder: Path, chance: random.Random) -> None:
    _overwrite(_part(folder, "-wal"), chance, 1)


def truncate_the_log(folder: Path, chance: random.Random) -> None:
    path = _part(folder, "-wal")
    if path.exists():
        os.truncate(path, chance.randrange(path.stat().st_size + 1))


def delete_everything(folder: Path, chance: random.Random) -> None:
    shutil.rmtree(folder)


def put_a_folder_there(folder: Path, chance: random.Random) -> None:
    path = database(folder)
    path.unlink()
    path.mkdir()


def put_a_link_there(folder: Path, chance: random.Random) -> None:
    path = database(folder)
    elsewhere = folder.parent / f"elsewhere-{chance.random()}.db"
    shutil.copyfile(path, elsewhere)
    path.unlink()
    path.symlink_to(elsewhere)


ALL: list[Damage] = [
    flip_a_byte,
    overwrite_a_page,
    overwrite_all,
    break_the_header,
    change_the_version,
    truncate,
    delete_the_database,
    delete_the_log,
    delete_the_map,
    delete_log_and_map,
    flip_a_byte_of_the_log,
    truncate_the_log,
    delete_everything,
    put_a_folder_there,
    put_a_link_there,
]


def _part(folder: Path, ending: str) -> Path:
    path = database(folder)
    return path.with_name(path.name + ending)


def _overwrite(path: Path, chance: random.Random, size: int) -> None:
    if not path.exists() or not path.stat().st_size:
        return
    with path.open("r+b") as file:
        at = chance.randrange(path.stat().st_size) // size * size
        file.seek(at)
        old = file.read(1) or b"\0"
        file.seek(at)
        file.write(
            bytes([old[0] ^ 1 << chance.randrange(8)]) if size == 1 else chance.randbytes(size)
        )
