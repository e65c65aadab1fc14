"""``tidegate share``: what the queries of a case share, pair by pair and merged (Table 6 of the paper)."""

from __future__ import annotations

import json

import click

from tidegate.case import Case
from tidegate.catalog import RegisteredQuery
from tidegate.cli.complain import malformed, print_lines
from tidegate.cli.replay import load_case
from tidegate.language.session import Sessions
from tidegate.log import first_catalog
from tidegate.sharing.compare import Sharing
from tidegate.sharing.merge import Query
from tidegate.sharing.report import Matrix, matrix, merged_drawing
from tidegate.text import one_line


@click.command("share", short_help="Show what the queries of a case share.")
@click.argument("file", metavar="CASE.json")
@click.option("--paper", is_flag=True, help="Only the paper's classes: what is merely implied is none.")
def share(file: str, paper: bool) -> None:
    """Compare the listed queries of CASE.json pair by pair, and merge those of each level.

    Prints JSON: "matrix" by executing, then by incoming query, each cell with its class (complete, strict, loose,
    implied or none) and the shared nodes by name; "plan" is the merged plan as a drawing. CASE.json may be - for
    standard input.
    """
    case = load_case(file)
    queries = _queries(case, file)
    print_lines(_json(matrix(queries, case.lattice, paper=paper), merged_drawing(queries, case.lattice, paper=paper)))


def _queries(case: Case, file: str) -> list[Query]:
    """The listed queries with their plans; streams and functions among them are there to be read, and do not count."""
    sessions, found = Sessions(first_catalog(case), case.users), list[Query]()
    for entry in case.listed:
        for spoken in sessions.say(entry.text, entry.at, entry.user, entry.name):
            if spoken.problem:
                problem = f"{spoken.problem.code}: {spoken.problem.problem}"
                what = f'query "{spoken.name}"' if spoken.name else "a function"
                malformed(one_line(f"{file}: {what} is refused: {problem}"))
            if isinstance(spoken.begun, RegisteredQuery) and spoken.begun.plan:
                found.append(Query(spoken.begun.name, spoken.begun.level, spoken.begun.plan))
    return found


def _json(cells: Matrix, plan: str) -> list[str]:
    """One line for each row of the matrix, so that people can read it too."""
    rows = [
        f"{json.dumps(row)}: {json.dumps({column: _cell(cell) for column, cell in line.items()})}"
        for row, line in cells.items()
    ]
    body = ",\n".join(f"  {row}" for row in rows)
    matrix_text = f"{{\n{body}\n }}" if rows else "{}"
    return [f'{{"matrix": {matrix_text},', f' "plan": {json.dumps(plan, ensure_ascii=False)}}}']


def _cell(found: Sharing) -> dict[str, object]:
    return {"class": found.kind, "nodes": list(found.nodes)}
