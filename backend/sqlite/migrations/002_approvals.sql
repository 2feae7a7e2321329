-- What a park asks, as a hash, and what becomes of it when nobody answers, as JSON. '' for a
-- park that was made before.
ALTER TABLE park ADD COLUMN digest TEXT NOT NULL DEFAULT '';
ALTER TABLE park ADD COLUMN expiry TEXT NOT NULL DEFAULT '';
ALTER TABLE park ADD COLUMN warned INTEGER NOT NULL DEFAULT 0;
