-- oldest: 100
--
-- Wake-ups are of the last seconds and may be lost: see store.Live. So the server does not write them to its log.
--
-- Their sequence stays in the log, so that no number comes again after a crash: a process that polls asks for those
-- behind the last number that it has seen. Sequences are never out of the log before version 15.
ALTER TABLE spool.wake SET UNLOGGED;

DO $$ BEGIN
    IF current_setting('server_version_num')::integer >= 150000 THEN
        EXECUTE format('ALTER SEQUENCE %s SET LOGGED', pg_get_serial_sequence('spool.wake', 'id'));
    END IF;
END $$;
