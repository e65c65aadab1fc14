"""tidegate: continuous queries over labelled streams; a tuple moves only to where its level is dominated."""
