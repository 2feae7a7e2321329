-- What the client of a start has brought for the run, its tools and its context, as a JSON object. ''
-- for nothing.
ALTER TABLE run ADD COLUMN client TEXT NOT NULL DEFAULT '';
