"""User functions (Q-15): Python that nobody trusts, run beside the processor and never in it.

``definition`` and ``body`` say what a function is, ``host`` calls it, ``check`` tells whether it is deterministic and
row-wise. ``process`` starts and ends the child; ``restraint``, ``child``, ``operators`` and ``results`` run inside it,
``wire`` on both sides.

Reads: errors, plan (types).  Read by: operators, reference, engine, system, cli.
"""
