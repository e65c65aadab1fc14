"""Orders of levels that many people use already, by name.

Reads: nothing.  Read by: declare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Preset:
    """An order as it would be declared, and one line on what it is."""

    order: str
    meaning: str


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "blp4": Preset("U < C < S < TS", "Bell and LaPadula: unclassified, confidential, secret, top secret"),
        "tlp2": Preset(
            "CLEAR < GREEN < AMBER < AMBER+STRICT < RED",
            "Traffic Light Protocol 2.0: how far a report may be passed on",
        ),
        "hl7": Preset(
            "U < L < M < N < R < V",
            "HL7 confidentiality: unrestricted, low, moderate, normal, restricted, very restricted",
        ),
    }
)
