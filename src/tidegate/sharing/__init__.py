"""Many plans to one: what queries of a level have in common."""
