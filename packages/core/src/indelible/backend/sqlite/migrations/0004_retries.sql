-- Two devices may have used one idempotency key. After a merge both writes are kept, so that when the record of the first is purged the
-- second answers a retry, as it does in a view that is made anew.

DROP TABLE retry;

CREATE TABLE retry (
  slice           INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  version         INTEGER NOT NULL,
  record          BLOB NOT NULL,
  PRIMARY KEY (slice, idempotency_key, version)
) WITHOUT ROWID;

CREATE INDEX retry_record ON retry(record);

INSERT INTO retry(slice, idempotency_key, version, record)
SELECT s.slice, json_extract(p.body, '$.idempotency_key'), e.version, e.record
FROM payload p JOIN event e ON e.version = p.version JOIN state s ON s.record = e.record AND s.live_to = 9223372036854775807
WHERE instr(p.body, '"idempotency_key":') AND json_type(p.body, '$.idempotency_key') = 'text' AND e.op IN ('remember', 'revise');
