"""How fast, how small and how good it is, each number beside a physical reference of the same run. ``python -m benchmarks --help``."""
