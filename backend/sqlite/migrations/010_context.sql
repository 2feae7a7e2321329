-- What the provider counted of the run's last prompt, as JSON. '' for nothing.
ALTER TABLE run ADD COLUMN context TEXT NOT NULL DEFAULT '';
