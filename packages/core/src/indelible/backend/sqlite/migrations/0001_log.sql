-- The truth: two tables. Everything else in this file is a view on them and can be rebuilt.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value NOT NULL
) WITHOUT ROWID;

-- Who wrote events; a small number in place of sixteen bytes in every row.
CREATE TABLE device (
  id   INTEGER PRIMARY KEY,
  uuid BLOB NOT NULL UNIQUE
);

-- The skeleton: kept for ever.
CREATE TABLE event (
  version     INTEGER PRIMARY KEY,
  txn         INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  device      INTEGER NOT NULL REFERENCES device(id),
  seq         INTEGER NOT NULL,
  clock       INTEGER NOT NULL,
  op          TEXT NOT NULL,
  record      BLOB NOT NULL,
  commitment  BLOB,
  expires_at  INTEGER,
  hash        BLOB NOT NULL
);

CREATE UNIQUE INDEX event_origin ON event(device, seq);
CREATE INDEX event_record ON event(record);

-- The clear text: deleted by a purge and by nothing else.
CREATE TABLE payload (
  version INTEGER PRIMARY KEY REFERENCES event(version),
  salt    BLOB NOT NULL,
  body    TEXT NOT NULL
);

CREATE TRIGGER event_is_never_updated BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'the event log is append-only'); END;

CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'the event log is append-only'); END;

CREATE TRIGGER payload_is_never_updated BEFORE UPDATE ON payload
BEGIN SELECT RAISE(ABORT, 'payloads are never rewritten'); END;

CREATE TRIGGER payload_goes_only_by_purge BEFORE DELETE ON payload
WHEN NOT EXISTS (
  SELECT 1 FROM event AS gone JOIN event AS purge ON purge.record = gone.record
  WHERE gone.version = OLD.version AND purge.op = 'purge' AND gone.op <> 'purge'
)
BEGIN SELECT RAISE(ABORT, 'a payload goes only by a purge'); END;
