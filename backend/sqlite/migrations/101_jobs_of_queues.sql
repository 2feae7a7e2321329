-- The jobs of a thread in a named queue by subject, in the order in which they were due first: the undelivered events of a
-- thread and a receiver, however many others there are. A ticket in the default queue is not among them.
CREATE INDEX job_named ON job (tenant, thread_id, queue, subject, first_due, id) WHERE queue <> '';

-- A claim counts the jobs in flight of its own queues.
DROP INDEX job_claimed;

CREATE INDEX job_claimed ON job (tenant, subject, due_at, queue) WHERE claimed = 1;
