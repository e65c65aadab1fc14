# Each target does the whole set-up first; the second time that takes no time.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check soak bench case clean

RUN := .venv/bin/python -m
CODE := $(wildcard src tests scripts benchmarks)
# What decides flow, with the tests that must reach every branch of it. Only these run under coverage: it is slow.
TRUSTED := $(wildcard src/tidegate/security src/tidegate/gates tests/security tests/gates)

help: ## show this
	@sed -n 's/^\([a-z]*\):.*## /  make \1|/p' Makefile | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'

setup: ## make .venv, install the packages, find Java
	@scripts/setup

demo: setup ## the opening example: one text, two clearances, two answers
	@.venv/bin/tidegate demo

test: check ## everything that a change must pass
	@echo "test: what decides flow, every branch"
	@$(RUN) pytest -q -n 2 $(TRUSTED) --cov
	@echo "test: the rest"
	@$(RUN) pytest -q -n 2 --dist loadgroup --ignore=tests/architecture $(TRUSTED:%=--ignore=%)

check: setup ## lint, format, types, import rule
	@echo "check: ruff"
	@$(RUN) ruff check -q $(CODE)
	@$(RUN) ruff format -q --check $(CODE)
	@echo "check: mypy --strict"
	@$(RUN) mypy --strict $(CODE)
	@echo "check: the shape of the tree"
	@$(RUN) pytest -q tests/architecture

soak: setup ## the long versions of the tests, about an hour; the seed is in the header (SEED=n repeats one)
	@$(RUN) pytest -n 2 --dist loadgroup --soak $(if $(SEED),--seed $(SEED))

bench: setup ## every speed measured, one JSON line per setting
	@ls benchmarks/bench_*.py >/dev/null 2>&1 || echo "bench: there is no benchmarks/bench_*.py yet"
	@for file in $(wildcard benchmarks/bench_*.py); do echo "bench: $$file" >&2; .venv/bin/python $$file || exit 1; done

case: setup ## run one case: make case CASE=tests/cases/…
	@test -n "$(CASE)" || { echo "usage: make case CASE=tests/cases/windows/rows_holds_the_last_n.case" >&2; exit 2; }
	@$(RUN) pytest -q "$(CASE)"

clean: ## remove everything that make made
	rm -rf .venv .venv.lock .venv-flink .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist src/*.egg-info
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +
