-- oldest: 5
-- What the commits of a thread have changed of its snapshots. Threads from before have none. Programs without this
-- step would change threads without saying so here, so they must not start any more.
ALTER TABLE spool.thread ADD COLUMN last_version bigint NOT NULL DEFAULT 0; -- of its deltas

CREATE TABLE spool.delta (
    tenant    text   COLLATE "C" NOT NULL,
    thread_id text   COLLATE "C" NOT NULL,
    version   bigint NOT NULL, -- from 1 without gaps
    seq       bigint NOT NULL, -- the last one of the record after the commit
    at        bigint NOT NULL,
    body      text   NOT NULL, -- JSON
    CONSTRAINT delta_pkey PRIMARY KEY (tenant, thread_id, version)
);

-- Programs without this step that still run delete threads, but not their deltas.
CREATE FUNCTION spool.delete_deltas() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
    DELETE FROM spool.delta WHERE tenant = OLD.tenant AND thread_id = OLD.id;
    RETURN NULL;
END $$;

CREATE TRIGGER delete_deltas AFTER DELETE ON spool.thread
    FOR EACH ROW EXECUTE FUNCTION spool.delete_deltas();
