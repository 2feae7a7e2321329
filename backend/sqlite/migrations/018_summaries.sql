-- A run that begins behind a summary reads from there on. Only summaries are messages of the
-- system, and a thread has few of them.
CREATE INDEX message_summary ON message (tenant, thread_id, ord) WHERE role = 'system' AND dropped IS NULL;
