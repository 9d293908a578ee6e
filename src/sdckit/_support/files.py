"""Files that appear whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from sdckit.errors import FileError


@contextmanager
def atomic_write(target: Path, ending: str = "") -> Iterator[Path]:
    """A temporary file next to the target that takes its place only when all went well."""
    real = target.resolve()  # a link stays a link
    if not real.parent.is_dir():
        raise FileError("The folder does not exist.", given=real.parent)
    temporary = real.with_name(f".{uuid4().hex}{ending or real.suffix}")
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        if real.exists():
            shutil.copymode(real, temporary)
        temporary.replace(real)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(text: str, path: str | Path) -> Path:
    """Write a text file, whole or not at all."""
    path = Path(path)
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
