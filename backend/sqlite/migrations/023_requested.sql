-- What the provider calls the model that was asked, where model_id has what it calls the one that
-- answered. '' where it is not known, as of rows that were written before.
ALTER TABLE usage ADD COLUMN requested TEXT NOT NULL DEFAULT '';
