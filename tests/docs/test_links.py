"""Links lead somewhere, named commands exist, and the pages speak of the project only."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT, Page, anchors, blocks, links, page, pages


@pytest.mark.parametrize("where", pages(), ids=lambda where: where.name)
def test_every_link_resolves(where: Page) -> None:
    broken = [link for link in links(where) if not _resolves(where, link)]
    assert not broken


def _resolves(where: Page, link: str) -> bool:
    if link.startswith("https://"):
        return True
    path, _, anchor = link.partition("#")
    target = (where.path.parent / path).resolve() if path else where.path
    return target.exists() and (not anchor or anchor in anchors(Page(target)))


@pytest.mark.parametrize("where", pages(), ids=lambda where: where.name)
def test_every_make_target_that_a_page_names_exists(where: Page) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^\$ |^)make ([a-z]+)", where.text, re.MULTILINE))
    assert named <= targets


def test_the_demo_of_the_pages_is_the_demo_of_make() -> None:
    """Sessions run ``make demo`` as ``tidegate demo``, without the set-up."""
    assert "\ndemo: setup" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "tidegate demo\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["Makefile", *(where.name for where in pages())])
def test_every_case_that_is_named_exists(name: str) -> None:
    named = re.findall(r"tests/cases/[\w/]+\.case", (ROOT / name).read_text(encoding="utf-8"))
    assert not [case for case in named if not (ROOT / case).exists()]


def test_every_page_of_docs_is_linked_from_another() -> None:
    linked = {(where.path.parent / link.partition("#")[0]).resolve() for where in pages() for link in links(where)}
    assert not {where.name for where in pages() if where.path not in linked} - {"README.md"}


@pytest.mark.parametrize("where", pages(), ids=lambda where: where.name)
def test_no_page_names_an_address_for_mail(where: Page) -> None:
    assert not re.findall(r"[\w.]+@[\w-]+\.[a-z]{2,}\b", where.text)


def test_fences_are_closed() -> None:
    odd = [where.name for where in pages() if len(re.findall(r"^```", where.text, re.MULTILINE)) % 2]
    assert not odd


def test_blocks_have_a_known_kind() -> None:
    known = ("console", "json", "sh", "sql", "text", "python")
    assert {block.info.split(" ")[0] for kind in known for block in blocks(kind)} <= set(known)
    unknown = [f"{block}" for block in blocks("")]
    assert not unknown, "say what the block is, so that it can be tested"


def test_a_broken_link_is_noticed() -> None:
    assert not _resolves(page("README.md"), "docs/nowhere.md")
    assert not _resolves(page("README.md"), "docs/language.md#nowhere")
