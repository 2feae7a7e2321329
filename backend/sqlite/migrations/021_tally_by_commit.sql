-- The writer counts what a transaction makes and changes, and adds that to the tally when it
-- commits: see tally.go. What is deleted is counted here still, also where the tally has no row
-- of it yet.
DROP TRIGGER tally_thread_made;

DROP TRIGGER tally_thread_gone;

DROP TRIGGER tally_run_made;

DROP TRIGGER tally_run_changed;

DROP TRIGGER tally_run_gone;

CREATE TRIGGER tally_thread_gone AFTER DELETE ON thread BEGIN
    INSERT INTO tally VALUES (OLD.tenant, '', -1, 0, 0, 0, 0)
        ON CONFLICT (tenant, state) DO UPDATE SET n = n - 1;
END;

CREATE TRIGGER tally_run_gone AFTER DELETE ON run BEGIN
    INSERT INTO tally
        VALUES (OLD.tenant, OLD.state, -1,
            iif(OLD.depth = 0, -OLD.input_tokens, 0), iif(OLD.depth = 0, -OLD.cached_input_tokens, 0),
            iif(OLD.depth = 0, -OLD.output_tokens, 0), iif(OLD.depth = 0, -OLD.total_tokens, 0))
        ON CONFLICT (tenant, state) DO UPDATE SET
            n = n + excluded.n,
            input_tokens = input_tokens + excluded.input_tokens,
            cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = output_tokens + excluded.output_tokens,
            total_tokens = total_tokens + excluded.total_tokens;
END;
