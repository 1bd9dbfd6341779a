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

CREATE INDEX state_slice ON state(slice, live_to, live_from) WHERE visible = 1;
CREATE INDEX state_key ON state(slice, key, live_to) WHERE key IS NOT NULL;
CREATE INDEX state_parent ON state(parent) WHERE parent IS NOT NULL;

-- Writes that may be sent again.
CREATE TABLE retry (
  slice           INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  record          BLOB NOT NULL,
  PRIMARY KEY (slice, idempotency_key)
) WITHOUT ROWID;

CREATE INDEX retry_record ON retry(record);

-- The vectors of a version's parts. A caller's own cannot be made again, so rebuild() leaves them.
CREATE TABLE vector (
  doc   INTEGER NOT NULL,
  part  TEXT NOT NULL,
  model INTEGER NOT NULL,
  data  BLOB NOT NULL
);

-- Not the primary key of a table without rowid: there a row of this size would spill onto a page of its own.
CREATE UNIQUE INDEX vector_part ON vector(doc, part, model);

CREATE TABLE model (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

-- Which records are, or were, indexed together with which others' text.
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
