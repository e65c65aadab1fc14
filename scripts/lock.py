"""Write requirements.lock from what is installed in .venv: exact versions, with the hash of every file.

    .venv/bin/python -m pip install --upgrade <package>     (what should change)
    .venv/bin/python scripts/lock.py <address of a package index, …/simple>

All wheels of a version are listed, not only the one used here, so that the lock holds for every
Python from 3.11 on Linux and macOS. The index is an argument and is not written down.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution, version
from pathlib import Path
from urllib.request import urlopen

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
HEADER = """\
# Exact versions of everything that runs, tests and builds tidegate. Made by scripts/lock.py; do not edit.
"""


def wanted() -> list[Requirement]:
    """What pyproject.toml asks for: to run, to develop and to build."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    run, develop = project["project"]["dependencies"], project["project"]["optional-dependencies"]["dev"]
    texts = [*run, *develop, *project["build-system"]["requires"]]
    return [Requirement(text) for text in texts]


def closure(requirements: Iterable[Requirement]) -> set[str]:
    """The names of the requirements and of all that they need in turn on this machine."""
    seen: set[tuple[str, str]] = set()
    ahead = [end for one in requirements for end in _ends(one)]
    while ahead:
        end = ahead.pop()
        if end not in seen:
            seen.add(end)
            ahead.extend(_needs(*end))
    return {name for name, _ in seen}


def _ends(one: Requirement) -> list[tuple[str, str]]:
    return [(str(canonicalize_name(one.name)), extra) for extra in ("", *one.extras)]


def _needs(name: str, extra: str) -> Iterator[tuple[str, str]]:
    for one in map(Requirement, distribution(name).requires or ()):
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            yield from _ends(one)


def hashes(index: str, name: str, release: str) -> list[str]:
    """The SHA-256 of every wheel of a release that is not for Windows; of its source where there is no wheel."""
    with urlopen(f"{index.rstrip('/')}/{name}/") as page:
        links = re.findall(r'href="[^"]*/([^"/#]+\.(?:whl|tar\.gz))#sha256=([0-9a-f]{64})"', page.read().decode())
    stem = f"{name.replace('-', '_')}-{release}".lower()
    wheels = {digest for file, digest in links if file.lower().startswith(f"{stem}-") and "-win" not in file}
    return sorted(wheels or {digest for file, digest in links if file.lower() == f"{stem}.tar.gz"})


def main() -> None:
    """Write the lock, or say which package the index does not have."""
    if len(sys.argv) != 2:
        sys.exit("usage: scripts/lock.py <address of a package index, …/simple>")
    blocks = [HEADER]
    for name in sorted(closure(wanted())):
        found = hashes(sys.argv[1], name, version(name))
        if not found:
            sys.exit(f"the index has no {name} {version(name)}")
        print(f"{name} {version(name)}: {len(found)} files")
        blocks.append(" \\\n    ".join([f"{name}=={version(name)}", *(f"--hash=sha256:{one}" for one in found)]) + "\n")
    (ROOT / "requirements.lock").write_text("".join(blocks))


if __name__ == "__main__":
    main()
