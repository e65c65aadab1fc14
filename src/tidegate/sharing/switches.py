"""What can be switched off, by name; the answers are the same with each of them off (Q-10).

Reads: nothing.  Read by: engine, system, cli.
"""

from __future__ import annotations

SHARING, RESIDUAL, IMPLIED, PREFILTER, COLUMNS, BITS = "sharing", "residual", "implied", "prefilter", "columns", "bits"

SWITCHES = {
    SHARING: "windows held once, and relations computed once, for all queries of a level",
    RESIDUAL: "conditions in normal form, built on those that run already",
    IMPLIED: "conditions also built on those that only follow from them",
    PREFILTER: "tuples that no query wants and columns that none reads left where they are",
    COLUMNS: "columns that no query reads left where they are",
    BITS: "conditions that were tested in the prefilter not tested again",
}
