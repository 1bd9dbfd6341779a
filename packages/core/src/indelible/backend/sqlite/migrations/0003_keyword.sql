-- The keyword index. Its text is already normalised; the index only finds, scoring reads the words.

CREATE TABLE keyword (
  doc    INTEGER PRIMARY KEY,
  record BLOB NOT NULL,
  slice  TEXT NOT NULL,
  words  TEXT NOT NULL,
  stems  TEXT NOT NULL,
  length INTEGER NOT NULL
);

CREATE VIRTUAL TABLE keyword_index USING fts5(
  slice, words, stems, content='keyword', content_rowid='doc', detail='column', columnsize=0, tokenize='ascii'
);
