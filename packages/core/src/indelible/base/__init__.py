"""The bottom layer: canonical JSON, clocks, ids, events, records and the planning of writes. No I/O."""
