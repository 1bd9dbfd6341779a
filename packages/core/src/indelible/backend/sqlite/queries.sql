-- Every fixed statement of the backend, by name. Selections are put together in selection.py from fixed pieces.

-- name: newest
SELECT version, recorded_at FROM event ORDER BY version DESC LIMIT 1

-- name: mark
SELECT ifnull(max(version), 0), ifnull((SELECT value FROM meta WHERE name = 'projection_epoch'), 0), ifnull(max(recorded_at), 0)
FROM (SELECT version, recorded_at FROM event ORDER BY version DESC LIMIT 1)

-- name: chain_end
SELECT seq, hash, clock FROM event WHERE device = ? ORDER BY seq DESC LIMIT 1

-- name: device_by_uuid
SELECT id FROM device WHERE uuid = ?

-- name: add_device
INSERT INTO device(uuid) VALUES (?)

-- name: devices
SELECT id, uuid FROM device

-- name: meta
SELECT value FROM meta WHERE name = ?

-- name: set_meta
INSERT INTO meta(name, value) VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value

-- name: delete_meta
DELETE FROM meta WHERE name = ?

-- name: drop_settings_of_empty_namespaces
DELETE FROM meta WHERE instr(name, '@') > 0 AND NOT EXISTS (
  SELECT 1 FROM slice WHERE substr(namespace, 1, length(meta.name) - instr(meta.name, '@')) = substr(meta.name, instr(meta.name, '@') + 1))

-- name: raise_epoch
INSERT INTO meta(name, value) VALUES ('projection_epoch', 1) ON CONFLICT(name) DO UPDATE SET value = value + 1

-- name: find_slice
SELECT id FROM slice WHERE namespace = ? AND ifnull(agent_id, x'') = ifnull(?, x'') AND ifnull(user_id, x'') = ifnull(?, x'')
  AND ifnull(org_id, x'') = ifnull(?, x'') AND ifnull(workspace_id, x'') = ifnull(?, x'')

-- name: add_slice
INSERT INTO slice(namespace, agent_id, user_id, org_id, workspace_id) VALUES (?, ?, ?, ?, ?)

-- name: slice_by_id
SELECT namespace, agent_id, user_id, org_id, workspace_id FROM slice WHERE id = ?

-- name: drop_empty_slices
DELETE FROM slice WHERE id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM state WHERE state.slice = slice.id)

-- name: drop_unused_slices
DELETE FROM slice WHERE NOT EXISTS (SELECT 1 FROM state WHERE state.slice = slice.id)

-- name: current
SELECT record, live_from, live_to, version, doc, slice, key, parent, visible, created, updated, expires_at
FROM state WHERE record = ? ORDER BY live_from DESC LIMIT 1

-- name: holder
SELECT s.record, s.live_from, s.live_to, s.version, s.doc, s.slice, s.key, s.parent, s.visible, s.created, s.updated, s.expires_at
FROM state s JOIN event e ON e.version = s.version JOIN device d ON d.id = e.device
WHERE s.slice = ? AND s.key = ? AND s.live_to = 9223372036854775807
ORDER BY e.clock DESC, d.uuid DESC, e.seq DESC LIMIT 1

-- name: claimants
SELECT record, live_from, live_to, version, doc, slice, key, parent, visible, created, updated, expires_at
FROM state WHERE slice = ? AND key = ? AND live_to = 9223372036854775807

-- name: claimants_of_keys
SELECT record, live_from, live_to, version, doc, slice, key, parent, visible, created, updated, expires_at
FROM state WHERE slice = ? AND key IN (SELECT value FROM json_each(?)) AND live_to = 9223372036854775807

-- name: records_under_key
SELECT DISTINCT record FROM state WHERE slice = ? AND key = ?

-- name: sharing_key
SELECT DISTINCT other.record FROM state mine JOIN state other ON other.slice = mine.slice AND other.key = mine.key
WHERE mine.record = ? AND mine.key IS NOT NULL AND other.record <> ?

-- name: body
SELECT body FROM payload WHERE version = ?

-- name: retried
SELECT s.record, s.live_from, s.live_to, s.version, s.doc, s.slice, s.key, s.parent, s.visible, s.created, s.updated, s.expires_at
FROM retry r JOIN state s ON s.record = r.record AND s.live_to = 9223372036854775807
WHERE r.slice = ? AND r.idempotency_key = ? ORDER BY r.version LIMIT 1

-- name: add_retry
INSERT INTO retry(slice, idempotency_key, version, record) VALUES (?, ?, ?, ?)

-- name: written_since
SELECT s.record, s.live_from, s.live_to, s.version, s.doc, s.slice, s.key, s.parent, s.visible, s.created, s.updated, s.expires_at
FROM state s JOIN payload p ON p.version = s.version
WHERE s.slice = ? AND s.visible = 1 AND s.live_to = 9223372036854775807 AND s.live_from > ? AND instr(p.body, ?)

-- name: state_event
SELECT e.version, e.op, p.body, e.expires_at FROM event e JOIN payload p ON p.version = e.version
WHERE e.record = ? AND e.version = ? AND e.op IN ('remember', 'revise', 'restore', 'forget')

-- name: state_event_before
SELECT e.version, e.op, p.body, e.expires_at FROM event e JOIN payload p ON p.version = e.version
WHERE e.record = ? AND e.version < ? AND e.op IN ('remember', 'revise', 'restore', 'forget') ORDER BY e.version DESC LIMIT 1

-- name: add_event
INSERT INTO event(version, txn, recorded_at, device, seq, clock, op, record, commitment, expires_at, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: add_payload
INSERT INTO payload(version, salt, body) VALUES (?, ?, ?)

-- name: close_state
UPDATE state SET live_to = ?1 WHERE record = ?2 AND live_from = (SELECT max(live_from) FROM state WHERE record = ?2 AND live_from < ?1)

-- name: add_state
INSERT INTO state(record, live_from, live_to, version, doc, slice, key, parent, visible, created, updated, expires_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: drop_states
DELETE FROM state WHERE record = ?

-- name: event_versions
SELECT version, op FROM event WHERE record = ?

-- name: slices_of_record
SELECT DISTINCT slice FROM state WHERE record = ?

-- name: docs_of_record
SELECT DISTINCT doc FROM state WHERE record = ?

-- name: drop_payloads
DELETE FROM payload WHERE version IN (SELECT version FROM event WHERE record = ? AND op <> 'purge')

-- name: drop_retries
DELETE FROM retry WHERE record = ?

-- name: drop_vectors
DELETE FROM vector WHERE id BETWEEN ?1 * 1048576 AND ?1 * 1048576 + 1048575

-- name: is_purged
SELECT 1 FROM event WHERE record = ? AND op = 'purge' LIMIT 1

-- name: purged_records
SELECT DISTINCT record FROM event WHERE op = 'purge'

-- name: event_by_origin
SELECT version, hash FROM event WHERE device = ? AND seq = ?

-- name: events_of_record
SELECT e.version, e.op, e.clock, d.uuid, e.seq, e.expires_at, p.body
FROM event e JOIN device d ON d.id = e.device LEFT JOIN payload p ON p.version = e.version
WHERE e.record = ? AND e.op IN ('remember', 'revise', 'restore', 'forget', 'touch') ORDER BY e.version

-- name: all_records
SELECT DISTINCT record FROM event WHERE op IN ('remember', 'revise', 'restore', 'forget') ORDER BY record

-- name: position_of_version
SELECT version, txn, recorded_at FROM event WHERE version = ?

-- name: find_keyword
SELECT words FROM keyword WHERE doc = ?

-- name: add_keyword
INSERT INTO keyword(doc, words, length) VALUES (?, ?, ?)

-- name: keywords_between
SELECT doc, words FROM keyword WHERE doc BETWEEN ? AND ? ORDER BY doc

-- name: least_keyword
SELECT min(doc) FROM keyword

-- name: keywords_after
SELECT doc, words FROM keyword WHERE doc > ? ORDER BY doc

-- name: keywords_of
SELECT doc, words FROM keyword WHERE doc IN (SELECT value FROM json_each(?))

-- name: waiting_stamp
SELECT ifnull((SELECT value FROM meta WHERE name = 'packed'), 0), ifnull((SELECT value FROM meta WHERE name = 'projection_epoch'), 0)

-- name: posting
SELECT documents FROM posting WHERE word = ? AND chunk = ?

-- name: postings
SELECT chunk, documents FROM posting WHERE word = ?

-- name: postings_among
SELECT word, chunk, documents FROM posting WHERE word IN (SELECT value FROM json_each(?)) AND chunk BETWEEN ? AND ?

-- name: set_posting
INSERT INTO posting(word, chunk, documents) VALUES (?, ?, ?) ON CONFLICT(word, chunk) DO UPDATE SET documents = excluded.documents

-- name: append_posting
INSERT INTO posting(word, chunk, documents) VALUES (?, ?, ?)
ON CONFLICT(word, chunk) DO UPDATE SET documents = CAST(documents || excluded.documents AS BLOB)

-- name: drop_posting
DELETE FROM posting WHERE word = ? AND chunk = ?

-- name: clear_postings
DELETE FROM posting

-- name: all_postings
SELECT word, chunk, documents FROM posting ORDER BY chunk, word

-- name: drop_keyword
DELETE FROM keyword WHERE doc = ?

-- name: model
SELECT id FROM model WHERE name = ?

-- name: add_model
INSERT INTO model(name) VALUES (?)

-- name: add_vector
INSERT INTO vector(id, part, model, data) VALUES (?, ?, ?, ?)

-- name: set_vector
INSERT OR REPLACE INTO vector(id, part, model, data) VALUES (coalesce(
  (SELECT id FROM vector WHERE id BETWEEN ?1 * 1048576 AND ?1 * 1048576 + 1048575 AND part = ?2 AND model = ?3),
  (SELECT max(id) + 1 FROM vector WHERE id BETWEEN ?1 * 1048576 AND ?1 * 1048576 + 1048575 HAVING max(id) < ?1 * 1048576 + 1048575),
  -- Each move to another model counts on, and gives up what was counted before; the last number there is must not be followed by another's.
  (SELECT ?1 * 1048576 WHERE NOT EXISTS (SELECT 1 FROM vector WHERE id = ?1 * 1048576)),
  (SELECT v.id + 1 FROM vector v WHERE v.id BETWEEN ?1 * 1048576 AND ?1 * 1048576 + 1048574
   AND NOT EXISTS (SELECT 1 FROM vector n WHERE n.id = v.id + 1) ORDER BY v.id LIMIT 1),
  'there are as many vectors as a document can have'
), ?2, ?3, ?4)

-- name: has_vectors
SELECT 1 FROM vector WHERE id BETWEEN ?1 * 1048576 AND ?1 * 1048576 + 1048575 LIMIT 1

-- name: vectors_of
SELECT part, model, data FROM vector WHERE id BETWEEN ?1 * 1048576 AND ?1 * 1048576 + 1048575

-- name: add_pack
INSERT INTO pack(slice, model, docs, parts, data) VALUES (?, ?, ?, ?, ?)

-- name: set_pack
UPDATE pack SET docs = ?, parts = ?, data = ? WHERE id = ?

-- name: move_pack
UPDATE pack SET slice = ? WHERE id = ?

-- name: drop_pack
DELETE FROM pack WHERE id = ?

-- name: pack
SELECT model, docs, parts, data FROM pack WHERE id = ?

-- name: packs
SELECT model, docs, parts, data FROM pack
WHERE id IN (SELECT value FROM json_each(?)) AND model IN (SELECT id FROM model WHERE name IN (SELECT value FROM json_each(?)))

-- name: last_pack
SELECT docs FROM pack WHERE slice = ? ORDER BY id DESC LIMIT 1

-- name: all_packs
SELECT id, slice, docs FROM pack ORDER BY id

-- name: measured_packs
SELECT id, slice, docs, parts, length(data) FROM pack ORDER BY id

-- name: add_packed
INSERT INTO packed(doc, pack) VALUES (?, ?)

-- name: note_packed
INSERT OR IGNORE INTO packed(doc, pack) VALUES (?, ?)

-- name: drop_packed
DELETE FROM packed WHERE doc = ?

-- name: clear_packed
DELETE FROM packed

-- name: packs_of_documents
SELECT k.doc, k.pack, p.model FROM json_each(?) j CROSS JOIN packed k ON k.doc = j.value CROSS JOIN pack p ON p.id = k.pack

-- name: pack_of_document
SELECT p.model, p.docs, p.parts, p.data FROM packed k JOIN pack p ON p.id = k.pack WHERE k.doc = ?

-- name: unpacked_documents
SELECT s.doc FROM state s WHERE s.slice = ? AND s.live_to = 9223372036854775807 AND s.visible = 1 AND s.live_from >= ?
  AND NOT EXISTS (SELECT 1 FROM packed k WHERE k.doc = s.doc) ORDER BY s.live_from DESC LIMIT ?

-- name: vectors_of_documents
SELECT j.value, v.part, v.model, v.data
FROM json_each(?) j CROSS JOIN vector v ON v.id BETWEEN j.value * 1048576 AND j.value * 1048576 + 1048575

-- name: doubled_vectors
SELECT DISTINCT v.id >> 20, v.model FROM vector v JOIN packed k ON k.doc = v.id >> 20 JOIN pack p ON p.id = k.pack AND p.model = v.model

-- name: all_slices
SELECT id FROM slice ORDER BY id

-- name: slice_of_document
SELECT s.slice FROM event e JOIN state s ON s.record = e.record WHERE e.version = ?1
UNION SELECT slice FROM state WHERE doc = ?1 AND doc < 0

-- name: votes
SELECT e.record, p.body FROM event e JOIN payload p ON p.version = e.version
WHERE e.record IN (SELECT raw_id(value) FROM json_each(?)) AND e.op = 'vote' AND e.version <= ? ORDER BY e.version

-- name: cache_all
SELECT key, value, updated, expires_at FROM cache WHERE namespace = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key

-- name: cache_some
SELECT key, value, updated, expires_at FROM cache WHERE namespace = ? AND (expires_at IS NULL OR expires_at > ?)
  AND key IN (SELECT value FROM json_each(?)) ORDER BY key

-- name: cache_put
INSERT OR REPLACE INTO cache(namespace, key, value, updated, expires_at) VALUES (?, ?, ?, ?, ?)

-- name: cache_remove
DELETE FROM cache WHERE namespace = ? AND key = ?

-- name: count_states
SELECT count(*),
  sum(visible = 1 AND (expires_at IS NULL OR expires_at > ?1)),
  sum(visible = 1 AND expires_at IS NOT NULL AND expires_at <= ?1),
  sum(visible = 0)
FROM state WHERE live_to = 9223372036854775807

-- name: count_purged
SELECT count(DISTINCT record) FROM event WHERE op = 'purge'

-- name: models
SELECT m.name, sum(number) FROM (
  SELECT model, count(*) AS number FROM vector GROUP BY model UNION ALL SELECT model, sum(length(docs)) / 8 FROM pack GROUP BY model
) JOIN model m ON m.id = model GROUP BY m.name ORDER BY m.name

-- name: model_names
SELECT id, name FROM model WHERE id IN (SELECT value FROM json_each(?))

-- name: neighbour_body
SELECT p.body FROM state s JOIN payload p ON p.version = s.version
WHERE s.record = ? AND s.slice = ? AND s.visible = 1 AND s.live_from <= ? AND s.live_to > ?

-- name: place_of_document
SELECT slice, live_from FROM state WHERE record = ? AND doc = ? ORDER BY live_from LIMIT 1

-- name: neighbour_states
SELECT version, visible, live_from, slice FROM state WHERE record = ? ORDER BY live_from

-- name: add_neighbour
INSERT OR IGNORE INTO neighbour(record, dependent) VALUES (?, ?)

-- name: dependents
SELECT dependent FROM neighbour WHERE record = ?

-- name: drop_neighbours
DELETE FROM neighbour WHERE record = ? OR dependent = ?

-- name: has_neighbours
SELECT 1 FROM neighbour LIMIT 1

-- name: has_context
SELECT 1 FROM neighbour WHERE dependent = ? LIMIT 1

-- name: states_of_record
SELECT record, live_from, live_to, version, doc, slice, key, parent, visible, created, updated, expires_at
FROM state WHERE record = ? ORDER BY live_from

-- name: split_documents
SELECT version, live_from, doc FROM state WHERE doc < 0

-- name: split_documents_of_record
SELECT version, live_from, doc FROM state WHERE record = ? AND doc < 0

-- name: document_in_use
SELECT 1 FROM state WHERE doc = ? LIMIT 1

-- name: drop_parts
DELETE FROM vector WHERE id BETWEEN ?1 * 1048576 AND ?1 * 1048576 + 1048575 AND part GLOB ?2

-- name: current_document
SELECT doc FROM state WHERE record = ? AND version = ? ORDER BY live_from DESC LIMIT 1

-- name: contextual_records
SELECT DISTINCT dependent FROM neighbour

-- name: dependent_rows
SELECT s.record, s.live_from, s.live_to, s.version, s.doc, s.slice, s.key, s.parent, s.visible, s.created, s.updated, s.expires_at, p.body
FROM state s JOIN payload p ON p.version = s.version
WHERE s.visible = 1 AND s.live_to = 9223372036854775807
  AND s.record IN (SELECT dependent FROM neighbour WHERE record IN (SELECT raw_id(value) FROM json_each(?)))
ORDER BY s.version

-- name: has_document
SELECT 1 FROM payload WHERE version = ? UNION ALL SELECT 1 FROM keyword WHERE doc = ? LIMIT 1
