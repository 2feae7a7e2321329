-- What a start has set in the requests to the provider, as a JSON object. '' for nothing.
ALTER TABLE run ADD COLUMN provider_options TEXT NOT NULL DEFAULT '';

-- Who published an event of an application: a subject, or a tool. '' for an entry of the engine's
-- own, for an event of the program itself, and for one from before.
ALTER TABLE entry ADD COLUMN published_by TEXT NOT NULL DEFAULT '';

ALTER TABLE entry ADD COLUMN published_by_tool TEXT NOT NULL DEFAULT '';
