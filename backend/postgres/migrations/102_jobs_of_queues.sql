-- oldest: 100
--
-- The jobs of a thread in a named queue by subject, in the order in which they were due first: the undelivered events of a
-- thread and a receiver, however many others there are. A ticket in the default queue is not among them.
CREATE INDEX job_named ON spool.job (tenant, thread_id, queue, subject, first_due, id) WHERE queue <> '';
