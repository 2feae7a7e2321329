-- What a park asks, as a hash. '' for a park that was made before.
ALTER TABLE park ADD COLUMN digest TEXT NOT NULL DEFAULT '';
