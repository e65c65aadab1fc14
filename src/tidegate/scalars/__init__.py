"""One value at a time: arithmetic, casts, built-in functions and aggregates, as functions without state.

The reference evaluates everything with them. Kernels use them for what has no faster form of equal bits.
"""
