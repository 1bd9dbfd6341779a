-- The whole schema, for reading: what the migrations add up to. A test compares the two.

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

-- Views on the log, kept current as events arrive; rebuild() makes them anew.

-- A namespace and scope that has, or had, records. Ids are never used twice, so caches of them cannot lie.
CREATE TABLE slice (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace    TEXT NOT NULL,
  agent_id     TEXT,
  user_id      TEXT,
  org_id       TEXT,
  workspace_id TEXT
);

CREATE UNIQUE INDEX slice_identity ON slice(
  namespace, ifnull(agent_id, x''), ifnull(user_id, x''), ifnull(org_id, x''), ifnull(workspace_id, x'')
);
CREATE INDEX slice_user ON slice(user_id, agent_id);

-- How a record stood over an interval of versions; live_to is 2^63-1 for what still stands.
CREATE TABLE state (
  record     BLOB NOT NULL,
  live_from  INTEGER NOT NULL,
  live_to    INTEGER NOT NULL,
  version    INTEGER NOT NULL,
  doc        INTEGER NOT NULL,
  slice      INTEGER NOT NULL,
  key        TEXT,
  parent     TEXT,
  visible    INTEGER NOT NULL,
  created    INTEGER NOT NULL,
  updated    INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (record, live_from)
) WITHOUT ROWID;

CREATE INDEX state_slice ON state(slice, live_to, live_from, visible, version, doc, expires_at) WHERE visible = 1;
CREATE INDEX state_key ON state(slice, key, live_to) WHERE key IS NOT NULL;
CREATE INDEX state_parent ON state(parent) WHERE parent IS NOT NULL;
CREATE INDEX state_split ON state(doc) WHERE doc < 0;

-- Writes that may be sent again, and under which version each stands; after a merge a key may have several, and the first one answers.
CREATE TABLE retry (
  slice           INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  version         INTEGER NOT NULL,
  record          BLOB NOT NULL,
  PRIMARY KEY (slice, idempotency_key, version)
) WITHOUT ROWID;

CREATE INDEX retry_record ON retry(record);

-- The vectors of a document's parts, numbered from 2^20 times the document. A caller's own cannot be made again, so rebuild() leaves them.
CREATE TABLE vector (
  id    INTEGER PRIMARY KEY,
  part  TEXT NOT NULL,
  model INTEGER NOT NULL,
  data  BLOB NOT NULL
);

-- Most vectors lie together with others of their slice and model, one after another: of each its document, in eight bytes with the highest
-- first, and the name of its part, in a JSON array that is missing where all are ''.
CREATE TABLE pack (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  slice INTEGER NOT NULL,
  model INTEGER NOT NULL,
  docs  BLOB NOT NULL,
  parts TEXT,
  data  BLOB NOT NULL
);

CREATE INDEX pack_slice ON pack(slice);

-- In which pack a document's vectors lie. It may have others in ``vector``, of other models.
CREATE TABLE packed (
  doc  INTEGER PRIMARY KEY,
  pack INTEGER NOT NULL
);

CREATE TABLE model (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

-- Which versions take their index text also from which records.
CREATE TABLE neighbour (
  record    BLOB NOT NULL,
  dependent BLOB NOT NULL,
  PRIMARY KEY (record, dependent)
) WITHOUT ROWID;

CREATE INDEX neighbour_dependent ON neighbour(dependent);

-- Caches of other systems: outside the log, without history.
CREATE TABLE cache (
  namespace  TEXT NOT NULL,
  key        TEXT NOT NULL,
  value      BLOB NOT NULL,
  updated    INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (namespace, key)
) WITHOUT ROWID;

-- The keyword index: the words of each document, already normalised, and for each word the documents that hold it, 65,536 numbers to a
-- row. The newest documents are not in there yet. It finds and counts; scoring is done elsewhere.

CREATE TABLE keyword (
  doc    INTEGER PRIMARY KEY,
  words  TEXT NOT NULL,
  length INTEGER NOT NULL
);

CREATE TABLE posting (
  word      TEXT NOT NULL,
  chunk     INTEGER NOT NULL,
  documents BLOB NOT NULL,
  PRIMARY KEY (word, chunk)
) WITHOUT ROWID;
