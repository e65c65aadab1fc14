"""Many queries for the price of one: what queries of a level have in common is done once."""
