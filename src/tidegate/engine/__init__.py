"""The home of Spark: epochs in, results out, with state that survives a crash."""
