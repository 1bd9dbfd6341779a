"""The search layer: words, scoring, filters, fusion, priors, diversity and budgets. Pure functions on plain values, no I/O."""
