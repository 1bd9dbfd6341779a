-- The keyword index is ours, packed: it takes less, a purge touches the purged words alone, and counting needs no text. The writer of this
-- migration packs what is there. Vectors are found by their document without a second index, and a slice's documents without its rows.

DROP TABLE keyword_index;

ALTER TABLE keyword RENAME TO old_keyword;

CREATE TABLE keyword (
  doc    INTEGER PRIMARY KEY,
  words  TEXT NOT NULL,
  length INTEGER NOT NULL
);

INSERT INTO keyword(doc, words, length) SELECT doc, words, length FROM old_keyword ORDER BY doc;
DROP TABLE old_keyword;

CREATE TABLE posting (
  word      TEXT NOT NULL,
  chunk     INTEGER NOT NULL,
  documents BLOB NOT NULL,
  PRIMARY KEY (word, chunk)
) WITHOUT ROWID;

ALTER TABLE vector RENAME TO old_vector;

CREATE TABLE vector (
  id    INTEGER PRIMARY KEY,
  part  TEXT NOT NULL,
  model INTEGER NOT NULL,
  data  BLOB NOT NULL
);

INSERT INTO vector(id, part, model, data)
SELECT (doc << 20) + row_number() OVER (PARTITION BY doc ORDER BY part, model) - 1, part, model, data FROM old_vector ORDER BY doc;
DROP TABLE old_vector;

DROP INDEX state_slice;
CREATE INDEX state_slice ON state(slice, live_to, live_from, visible, version, doc, expires_at) WHERE visible = 1;
CREATE INDEX state_split ON state(doc) WHERE doc < 0;
