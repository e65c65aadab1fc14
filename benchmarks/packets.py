"""50 network-monitoring queries and the packets that they watch, shaped like paper 003's (P-10, P-11).

47 cheap predicates, 14 of them in several queries and 33 in one each; 46 queries have some. The other four want every
packet in the load called wide, so most rows are wanted; in the load called narrow they are about rare packets too, and
at most a tenth of the rows is wanted by anybody. Both loads have the same 47 predicates.

Packets are headers from a file, repeated; without a file they are made up with the shares of protocols, ports and flags
that ordinary traffic has.

Reads: nothing of ours.  Read by: bench_prefilter, through_packets, tests.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

SHARED = {
    "udp": "proto = 17",
    "tcp": "proto = 6",
    "icmp": "proto = 1",
    "to names": "dport = 53",
    "from names": "sport = 53",
    "question": "dns_qr = 0",
    "answer": "dns_qr = 1",
    "opens": "tcp_flags = 2",
    "resets": "tcp_flags = 4",
    "small": "len < 60",
    "large": "len > 1000",
    "near": "ttl > 120",
    "far": "ttl < 32",
    "known": "dport < 1024",
}
_TCP_PORTS = (21, 22, 23, 25, 80, 110, 143, 443, 445, 853, 993, 1433, 3306, 3389, 5222, 5900, 8080, 8443)
_UDP_PORTS = (67, 123, 137, 161, 427, 500, 1900, 4500, 5060, 5353)
SINGLE = (
    *((f"dport = {port}", ("tcp", "opens")) for port in _TCP_PORTS),
    *((f"dport = {port}", ("udp",)) for port in _UDP_PORTS),
    ("sport = 123", ("udp",)),
    ("sport = 161", ("udp", "small")),
    ("len > 500", ("udp", "from names", "answer")),
    ("ttl = 1", ("udp", "far", "known")),
    ("len = 28", ("icmp", "far", "small")),
)
"""Predicates of one query each, with the shared ones beside them."""
COMBINED = (
    "udp, to names, question",
    "udp, from names, answer",
    "udp, to names, question, far",
    "udp, from names, answer, large",
    "udp, to names, question, known, near, small",
    "tcp, opens, known",
    "tcp, opens, known, far",
    "tcp, resets",
    "tcp, resets, small",
    "icmp",
    "icmp, large",
    "icmp, small",
    "icmp, near",
)
WIDE, NARROW = "wide", "narrow"
LAST = {WIDE: ("", "", "", ""), NARROW: ("udp, to names", "icmp, far", "tcp, resets, near", "udp, from names")}
GROUPINGS = (("src", "dst"), ("src",), ("dst", "dport"))
SECONDS = 60
COLUMNS = ("proto", "src", "sport", "dst", "dport", "len", "ttl", "tcp_flags", "dns_qr")
PER_SECOND = 10_000


@dataclass(frozen=True)
class Watch:
    """One query: sums and counts per minute and group of the packets that meet all predicates."""

    predicates: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def where(self) -> str:
        """The condition, in CQL and in Spark's SQL; empty if every packet is wanted."""
        return " AND ".join(self.predicates)

    def cql(self) -> str:
        """In the form of P-10."""
        keys, where = ", ".join(self.keys), f" WHERE {self.where}" if self.predicates else ""
        return f"SELECT t, {keys}, SUM(len), COUNT(*) FROM Packets{where} GROUP BY time/{SECONDS} AS t, {keys}"


def watches(load: str) -> tuple[Watch, ...]:
    """The 50 queries of a load.

    >>> watches("narrow")[33].cql()
    'SELECT t, src, dst, SUM(len), COUNT(*) FROM Packets WHERE proto = 17 AND dport = 53 AND dns_qr = 0 \
GROUP BY time/60 AS t, src, dst'
    """
    own = [(*(SHARED[name] for name in beside), predicate) for predicate, beside in SINGLE]
    combined = [tuple(SHARED[name] for name in text.split(", ") if name) for text in (*COMBINED, *LAST[load])]
    return tuple(Watch(some, GROUPINGS[n % len(GROUPINGS)]) for n, some in enumerate([*own, *combined]))


def uses(load: str) -> Counter[str]:
    """How many queries have each predicate."""
    return Counter(predicate for watch in watches(load) for predicate in watch.predicates)


# ------------------------------------------------------------------------------ packets


def headers(file: Path | None) -> pa.Table:
    """Packet headers from a CSV file with the columns above, or made up."""
    if file is None:
        return _made_up(108_202)
    found = csv.read_csv(file).select(COLUMNS)
    texts = ("src", "dst")
    return found.cast(pa.schema([(name, pa.string() if name in texts else pa.int64()) for name in COLUMNS]))


def _made_up(count: int) -> pa.Table:
    chance = np.random.default_rng(3)
    proto = chance.choice([6, 17, 1, 113], count, p=[0.66, 0.32, 0.01, 0.01])
    tcp, udp = proto == 6, proto == 17
    names = udp & (chance.random(count) < 0.064)
    asks = chance.random(count) < 0.55
    service = np.where(tcp, chance.choice([443, 80, 6900, 5222, 8080, 22, 25, 853], count, p=_TCP_SHARES),
                       chance.choice([443, 3478, 17500, 1194, 427, 5353, 137, 5060], count))  # fmt: skip
    service, other = np.where(names, 53, service), 1_024 + chance.integers(0, 60_000, count)
    known = names | (chance.random(count) < np.where(tcp, 0.5, 0.2))
    service = np.where(known, service, 1_024 + chance.integers(0, 60_000, count))
    hosts = np.array([f"192.168.{n >> 8}.{n & 255}" for n in range(2_514)])
    pair = chance.zipf(1.2, count) % 4_772
    without_ports = ~(tcp | udp)
    size = np.where(chance.random(count) < 0.6, chance.integers(40, 130, count), chance.integers(130, 1_500, count))
    columns = {
        "proto": pa.array(proto),
        "src": pa.array(hosts[pair * 31 % 2_514]),
        "sport": pa.array(np.where(asks, other, service), mask=without_ports),
        "dst": pa.array(hosts[pair * 17 % 2_514]),
        "dport": pa.array(np.where(asks, service, other), mask=without_ports),
        "len": pa.array(size),
        "ttl": pa.array(chance.choice([64, 128, 52, 116, 255, 16], count, p=[0.55, 0.2, 0.1, 0.1, 0.03, 0.02])),
        "tcp_flags": pa.array(chance.choice([16, 24, 2, 17, 18, 4], count, p=_FLAG_SHARES), mask=~tcp),
        "dns_qr": pa.array(np.where(asks, 0, 1), mask=~names),
    }
    return pa.table([columns[name] for name in COLUMNS], list(COLUMNS))


_TCP_SHARES = (0.56, 0.16, 0.12, 0.05, 0.05, 0.02, 0.02, 0.02)
_FLAG_SHARES = (0.482, 0.402, 0.056, 0.025, 0.024, 0.011)


def repeated(base: pa.Table, first: int, count: int, microseconds: int) -> pa.Table:
    """Rows ``first`` and so on of the headers repeated for ever, one in so many microseconds, with their instants."""
    numbers = np.arange(first, first + count, dtype=np.int64)
    rows = base.take(pa.array(numbers % len(base)))
    return rows.append_column("instant", pa.array(numbers * microseconds)).combine_chunks()
