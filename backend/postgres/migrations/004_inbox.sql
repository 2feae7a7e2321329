-- oldest: 3
-- The open parks of a tenant, so that a list of them does not read closed ones. A park is open to answers once it has
-- a time of expiry.
CREATE INDEX park_age ON spool.park (tenant, created_at, run_id, tool_call_id, thread_id) WHERE state = 'open' AND expires_at > 0;

CREATE INDEX park_expiry ON spool.park (tenant, expires_at, run_id, tool_call_id, thread_id) WHERE state = 'open' AND expires_at > 0;
