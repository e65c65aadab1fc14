"""The executable specification: a tuple at a time, slow, obviously right.

Each function stands beside the sentence of the specification that it executes. Every fast path must equal it.
"""
