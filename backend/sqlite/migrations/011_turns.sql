-- The user turns of the main agent by their place in the record, those that have left the
-- view included.
CREATE INDEX message_turn ON message (tenant, thread_id, after_seq, ord) WHERE role = 'user' AND agent_id = '';
