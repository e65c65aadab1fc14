"""What a query means: types, expressions and nodes, frozen and checked when built."""
