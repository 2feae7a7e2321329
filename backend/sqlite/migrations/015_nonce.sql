-- The private random text of a run, which goes into the idempotency keys of its tool calls. '' for
-- a run that began before there was one: it keeps the keys that it had.
ALTER TABLE run ADD COLUMN nonce TEXT NOT NULL DEFAULT '';
