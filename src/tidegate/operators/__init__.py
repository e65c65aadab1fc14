"""Batch in, batch out: kernels over Arrow columns, with no Spark inside."""
