"""The text form of cases: from a `.case` file to a case and its expected output, and back (see README.md here)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate.case import Case, read_case
from tidegate.reference.replay import replay

HEAD = re.compile(r"#\s*((?:[A-Z]-\d+[a-z]?\s*)+):\s*\S")
STATEMENT = re.compile(r"(\S+) @(\S+?)(?: (\S+?))?: (.*)", re.DOTALL)
QUERY = re.compile(r"query (\S+) @(\S+?)(?: (\S+?))?: (.*)", re.DOTALL)
FUNCTION = re.compile(r"function @(\S+?): (.*)", re.DOTALL)
TABLE = re.compile(r"(stream|relation) (\S+?)\s*\((.*)\)", re.DOTALL)


@dataclass
class TextCase:
    """A parsed file: the JSON value of the case, and what is expected of it."""

    path: Path
    raw: dict[str, Any]
    sections: dict[str, list[str]]

    @property
    def ids(self) -> list[str]:
        """The specification lines that the case names."""
        match = HEAD.match(self.path.read_text(encoding="utf-8").split("\n", 1)[0])
        assert match, f"{self.path}: the first line must be '# <ids>: <claim>'"
        return match[1].split()

    @property
    def expected(self) -> list[str]:
        return self.sections.get("output", [])

    @property
    def reader(self) -> str | None:
        return next((name.removeprefix("as ") for name in self.sections if name.startswith("as ")), None)

    def case(self) -> Case:
        return read_case(json.dumps(self.raw))

    def output(self) -> list[str]:
        """What the reference says, in the text form."""
        case = self.case()
        reader = case.lattice.level(self.reader) if self.reader else None
        return [short(line) for line in replay(case, reader)]

    def accept(self) -> None:
        """Rewrite the expected output with the actual one."""
        text = self.path.read_text(encoding="utf-8")
        head = text[: text.index("---- output")]
        self.path.write_text(head + "\n".join(["---- output", *self.output()]) + "\n", encoding="utf-8")


def short(line: str) -> str:
    """A JSON line as one line of a text case."""
    value = json.loads(line)
    time = re.search(r'"time": ([^,]+),', line)
    assert time is not None
    name = value["query"] if value["query"] is not None else "-"
    if "error" in value:
        return f"{time[1]} {name} ! {value['error']['code']}"
    if "shown" in value:
        return f"{time[1]} - = {json.dumps(value['shown'])}"
    row = line[line.index('"row": ') + len('"row": ') : -1]
    return f"{time[1]} {name} {value['op']} {value['level']} {row}"


def load(path: Path) -> TextCase:
    """Read one file."""
    sections: dict[str, list[str]] = {"head": []}
    current = "head"
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("---- "):
            current = line[5:].strip()
            sections[current] = []
        elif line.strip() and not line.lstrip().startswith("#"):
            sections[current].append(line)
    sections = {name: joined(lines) for name, lines in sections.items()}
    raw = head_of(sections["head"])
    columns = {name: [column for column, _ in types.items()] for name, types in raw["streams"].items()}
    raw["input"] = [entry(line, columns) for line in sections.get("input", [])]
    return TextCase(path, raw, sections)


def joined(lines: list[str]) -> list[str]:
    """Indented lines continue the one above, except the rows of a relation."""
    result: list[str] = []
    for line in lines:
        if line[0].isspace() and result and not result[-1].split("\n")[0].startswith("relation"):
            result[-1] += " " + line.strip()
        elif line[0].isspace() and result:
            result[-1] += "\n" + line.strip()
        else:
            result.append(line.rstrip())
    return result


def head_of(lines: list[str]) -> dict[str, Any]:
    raw: dict[str, Any] = {"levels": "U < C < S < TS", "streams": {}, "relations": {}, "queries": [], "functions": []}
    for line in lines:
        word, rest = line.split(" ", 1)
        if match := TABLE.fullmatch(line.split("\n")[0]):
            declare_table(raw, match, line.split("\n")[1:])
        elif match := QUERY.fullmatch(line):
            raw["queries"].append(spoken({"name": match[1], "at": match[2], "text": match[4]}, match[3]))
        elif match := FUNCTION.fullmatch(line):
            raw["functions"].append({"at": match[1], "text": match[2]})
        elif word in ("users", "options", "sites"):
            raw[word] = json.loads(rest)
        elif word.rstrip(":") == "levels":
            raw["levels"] = json.loads(rest) if rest.lstrip().startswith("{") else rest.strip()
        else:
            raise ValueError(f"unknown line: {line}")
    return raw


def spoken(fields: dict[str, Any], user: str | None) -> dict[str, Any]:
    return {**fields, "user": user} if user else fields


def declare_table(raw: dict[str, Any], match: re.Match[str], rows: list[str]) -> None:
    pairs = [pair.strip().split(None, 1) for pair in re.split(r",(?![^(]*\))", match[3])]
    schema = Declared([(name.strip("`"), kind) for name, kind in pairs])
    if match[1] == "stream":
        raw["streams"][match[2]] = schema
        return
    names = list(schema)
    parsed = [row.split(None, 1) for row in rows]
    raw["relations"][match[2]] = {
        "schema": schema,
        "rows": [{"level": level, **dict(zip(names, json.loads(f"[{rest}]"), strict=True))} for level, rest in parsed],
    }


class Declared(dict[str, str]):
    """Columns as written; a repeated name reaches the JSON text, so that the case can be refused for it."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def items(self) -> Any:
        return self.pairs


def entry(line: str, columns: dict[str, list[str]]) -> dict[str, Any]:
    if line.startswith("{"):
        return dict(json.loads(line))
    if match := STATEMENT.fullmatch(line):
        return spoken({"time": number(match[1]), "at": match[2], "statement": match[4]}, match[3])
    parts = line.split(None, 3)
    if len(parts) == 1:
        return {"time": number(parts[0])}
    values = json.loads(f"[{parts[3]}]")
    names = columns.get(parts[1], [f"column{n}" for n in range(len(values))])
    row = dict(zip(names, values, strict=True))
    return {"stream": parts[1], "time": number(parts[0]), "level": parts[2], "row": row}


def number(text: str) -> Any:
    return json.loads(text)


def runnable() -> list[Path]:
    """Every text case that is not malformed."""
    found = sorted(Path(__file__).parent.rglob("*.case"))
    return [path for path in found if "---- malformed" not in path.read_text(encoding="utf-8")]
