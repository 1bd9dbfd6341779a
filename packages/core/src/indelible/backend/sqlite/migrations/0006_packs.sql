-- Vectors of one slice that lie together: a slice is read by a few rows of many vectors, not by one row for each, anywhere in the file. The
-- writer of this migration packs what is there.

CREATE TABLE pack (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  slice INTEGER NOT NULL,
  model INTEGER NOT NULL,
  docs  BLOB NOT NULL,
  parts TEXT,
  data  BLOB NOT NULL
);

CREATE INDEX pack_slice ON pack(slice);

CREATE TABLE packed (
  doc  INTEGER PRIMARY KEY,
  pack INTEGER NOT NULL
);
