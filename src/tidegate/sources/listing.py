"""Which files of a directory are new: each is taken once, whatever its age, and none is forgotten while it is there.

Spark's own file source goes by age: a file that comes late with an old date is dropped without a word, a directory that
vanishes is an empty one, and a file that changes after it was read is not noticed. Here an offset holds eight bytes for
each file that is still in the directory (six of its name, two of its date and size), and the names of its micro-batch.
It is bounded by the directory, so moving files away after they were taken is all that retention needs.

Reads: errors.  Read by: directory.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from tidegate.errors import SourceError

MOST_FILES = 256
MOST_BYTES = 256 << 20
MOST_PRESENT = 200_000  # files of a directory: an offset stays below two megabytes
_KEY, _STATE = 6, 2


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was seen; its order is that of its date, then its name."""

    modified: int
    name: str
    size: int

    @property
    def key(self) -> bytes:
        """Stands for the name: two of 200,000 files look alike once in ten thousand directories."""
        return blake2b(os.fsencode(self.name), digest_size=_KEY).digest()

    @property
    def state(self) -> bytes:
        """Changes when the file does, but once in 65,536 times."""
        return blake2b(f"{self.modified} {self.size}".encode(), digest_size=_STATE).digest()


Taken = dict[bytes, bytes]


def look(directory: str) -> list[File]:
    """The files of a directory in order; not what is hidden by a leading dot or underscore, nor what is below."""
    try:
        with os.scandir(directory) as entries:
            seen = [_seen(entry) for entry in entries if not entry.name.startswith((".", "_"))]
    except FileNotFoundError:
        raise SourceError("the directory does not exist", directory, "make it, or correct the path") from None
    except NotADirectoryError:
        raise SourceError("this is not a directory", directory, "give the directory that the file is in") from None
    except PermissionError:
        raise SourceError("the directory may not be read", directory, "change its permissions") from None
    files = sorted((file for file in seen if file), key=lambda file: (file.modified, file.name))
    if len(files) > MOST_PRESENT:
        raise SourceError(f"there are more than {MOST_PRESENT} files", directory, "move away what was taken")
    return files


def _seen(entry: os.DirEntry[str]) -> File | None:
    try:
        status = entry.stat()
        return File(status.st_mtime_ns, entry.name, status.st_size) if entry.is_file() else None
    except FileNotFoundError:
        return None  # gone since it was listed


def new_files(directory: str, files: Iterable[File], taken: Taken) -> list[File]:
    """What was not taken yet; a file that changed after it was taken is refused: its new tuples would be lost."""
    new = list[File]()
    for file in files:
        state = taken.get(file.key)
        if state is None:
            new.append(file)
        elif state != file.state:
            hint = "give what is new a name of its own, or move the file away; write elsewhere first, then rename"
            raise SourceError("the file changed after it was taken", os.path.join(directory, file.name), hint)
    return new


def first_of(files: list[File], most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> list[File]:
    """As many as fit into a micro-batch, in order; one always does."""
    size = 0
    for count, file in enumerate(files):
        size += file.size
        if count == most_files or (count and size > most_bytes):
            return files[:count]
    return files


def shares(files: list[File], tasks: int) -> list[list[File]]:
    """Runs of neighbours with about as many bytes each, in order, none empty."""
    total, passed, cut = sum(file.size + 1 for file in files), 0, list[list[File]]()
    for file in files:
        if passed * tasks >= total * len(cut):
            cut.append([])
        cut[-1].append(file)
        passed += file.size + 1
    return cut


def packed(taken: Taken) -> str:
    """Taken files as text, the same for the same files."""
    return base64.b64encode(b"".join(key + state for key, state in sorted(taken.items()))).decode("ascii")


def unpacked(text: str) -> Taken:
    """Taken files from text."""
    data, width = base64.b64decode(text), _KEY + _STATE
    return {data[at : at + _KEY]: data[at + _KEY : at + width] for at in range(0, len(data), width)}
