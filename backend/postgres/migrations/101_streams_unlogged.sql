-- oldest: 100
--
-- Run streams and wake-ups may be lost: see store.Live. So the server does not write them to its log, which was a third of
-- what a run wrote. After a crash of the server the tables are empty, and readers get a snapshot.
--
-- The sequences stay in the log. No number of a stream or of a wake-up comes again after a crash: the items of a
-- partition that an earlier version has made may be there still, and a process that polls asks for those behind the last
-- number that it has seen. Sequences are never out of the log before version 15.
ALTER TABLE spool.stream SET UNLOGGED;

ALTER TABLE spool.wake SET UNLOGGED;

DO $$
DECLARE name regclass;
BEGIN
    FOR name IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'spool.stream_item'::regclass LOOP
        EXECUTE format('ALTER TABLE %s SET UNLOGGED', name);
    END LOOP;
    IF current_setting('server_version_num')::integer >= 150000 THEN
        EXECUTE format('ALTER SEQUENCE %s SET LOGGED', pg_get_serial_sequence('spool.stream', 'number'));
        EXECUTE format('ALTER SEQUENCE %s SET LOGGED', pg_get_serial_sequence('spool.wake', 'id'));
    END IF;
END $$;
