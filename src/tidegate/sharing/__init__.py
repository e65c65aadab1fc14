"""Many queries for the price of one: what they have in common is done once."""
