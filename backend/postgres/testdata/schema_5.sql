-- A database of the schema 5. A server left it when it was killed: a thread with an edited turn, one with a question
-- and a run behind it, one that was stopped, one in the middle of an answer, and one whose run no worker had claimed.
-- It is that of the schema 4 with the table, the column and the trigger of step 5 and its row.
-- Made by pg_dump --schema=spool --no-owner --no-privileges --rows-per-insert=50. TestOldPostgres of cmd/spool loads it.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA spool;

CREATE FUNCTION spool.audit_is_kept() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;

CREATE FUNCTION spool.delete_deltas() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
    DELETE FROM spool.delta WHERE tenant = OLD.tenant AND thread_id = OLD.id;
    RETURN NULL;
END $$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE spool.audit (
    tenant text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    at bigint NOT NULL,
    action text NOT NULL,
    actor text NOT NULL,
    actor_tenant text NOT NULL,
    thread_id text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL,
    call_id text NOT NULL,
    job_id bigint NOT NULL,
    approved boolean,
    digest text NOT NULL,
    reason text NOT NULL,
    count bigint NOT NULL,
    address text NOT NULL,
    detail text NOT NULL
);

CREATE TABLE spool.audit_last (
    tenant text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='200');

CREATE TABLE spool.branch (
    tenant text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    base text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);

CREATE TABLE spool.delta (
    tenant text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    body text NOT NULL
);

CREATE TABLE spool.effect (
    tenant text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    step bigint NOT NULL,
    tool_call_id text NOT NULL COLLATE pg_catalog."C",
    ord bigint NOT NULL,
    state text NOT NULL,
    result text NOT NULL
)
WITH (fillfactor='85');

CREATE TABLE spool.entry (
    tenant text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL,
    created_at bigint NOT NULL,
    stream text NOT NULL,
    after_fence bigint NOT NULL,
    after_n bigint NOT NULL,
    published_by text NOT NULL,
    published_by_tool text NOT NULL
);

CREATE TABLE spool.job (
    id bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    agent text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL,
    segment bigint NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL,
    first_due bigint NOT NULL,
    due_at bigint NOT NULL,
    claimed boolean DEFAULT false NOT NULL,
    token bigint DEFAULT 0 NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    lane text GENERATED ALWAYS AS (
CASE
    WHEN ((run_id = ''::text) OR (kind = 'settle'::text)) THEN ''::text
    ELSE ('='::text || agent)
END) STORED NOT NULL COLLATE pg_catalog."C"
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='500', autovacuum_analyze_scale_factor='0.05', autovacuum_analyze_threshold='500', autovacuum_vacuum_cost_delay='0');

CREATE TABLE spool.job_dead (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    thread_id text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    agent text NOT NULL,
    model text NOT NULL,
    segment bigint NOT NULL,
    queue text NOT NULL,
    payload text NOT NULL,
    due_at bigint NOT NULL,
    attempts bigint NOT NULL,
    cause text NOT NULL,
    died_at bigint NOT NULL
);

CREATE TABLE spool.message (
    tenant text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    ord bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    agent_id text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    content text NOT NULL,
    created_at bigint NOT NULL,
    client_message_id text NOT NULL,
    run_id text NOT NULL COLLATE pg_catalog."C",
    after_seq bigint NOT NULL,
    dropped bigint
);

CREATE TABLE spool.park (
    tenant text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    tool_call_id text NOT NULL COLLATE pg_catalog."C",
    ord bigint NOT NULL,
    tool_name text NOT NULL,
    agent_id text NOT NULL,
    frames text NOT NULL,
    step bigint NOT NULL,
    args text NOT NULL,
    shown text NOT NULL,
    reason text NOT NULL,
    occurrence bigint NOT NULL,
    digest text NOT NULL,
    state text NOT NULL,
    answer text NOT NULL,
    before text NOT NULL,
    landed boolean NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    expiry text NOT NULL,
    warned boolean NOT NULL,
    distinct_approver boolean NOT NULL,
    revision text DEFAULT ''::text NOT NULL
)
WITH (fillfactor='85');

CREATE TABLE spool.probe (
    only_row boolean NOT NULL,
    at bigint NOT NULL,
    CONSTRAINT probe_only_row_check CHECK (only_row)
)
WITH (fillfactor='25');

CREATE TABLE spool.run (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    ord bigint NOT NULL,
    created_at bigint NOT NULL,
    parent_id text NOT NULL,
    root_id text NOT NULL COLLATE pg_catalog."C",
    depth bigint NOT NULL,
    agent text NOT NULL,
    started_by text NOT NULL,
    model text NOT NULL,
    state text NOT NULL,
    stop_reason text NOT NULL,
    error text NOT NULL,
    enqueued_at bigint NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint NOT NULL,
    max_steps bigint NOT NULL,
    steps bigint NOT NULL,
    attempts bigint NOT NULL,
    input_tokens bigint NOT NULL,
    cached_input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    total_tokens bigint NOT NULL,
    segments bigint NOT NULL,
    place bigint NOT NULL,
    nested text NOT NULL,
    cost_micros bigint NOT NULL,
    currency text NOT NULL,
    allowance text NOT NULL,
    start_key text NOT NULL COLLATE pg_catalog."C",
    nonce text NOT NULL,
    scopes text NOT NULL,
    host_state text NOT NULL,
    provider_options text NOT NULL,
    client text NOT NULL,
    engine_state text NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

CREATE TABLE spool.schema_step (
    version integer NOT NULL,
    oldest integer NOT NULL,
    name text NOT NULL,
    applied_at timestamp with time zone NOT NULL
);

CREATE TABLE spool.shared_row (
    tenant text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL,
    version bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

CREATE TABLE spool.stream (
    tenant text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    hour bigint NOT NULL,
    opened_at bigint NOT NULL,
    last_fence bigint DEFAULT 0 NOT NULL,
    last_n bigint DEFAULT 0 NOT NULL,
    closed boolean DEFAULT false NOT NULL,
    expires_at bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');

CREATE TABLE spool.stream_hour (
    hour bigint NOT NULL
);

CREATE TABLE spool.stream_item (
    hour bigint NOT NULL,
    stream bigint NOT NULL,
    fence bigint NOT NULL,
    n bigint NOT NULL,
    type text NOT NULL,
    seq bigint NOT NULL,
    data bytea NOT NULL
)
PARTITION BY LIST (hour);

CREATE TABLE spool.stream_item_498736 (
    hour bigint NOT NULL,
    stream bigint NOT NULL,
    fence bigint NOT NULL,
    n bigint NOT NULL,
    type text NOT NULL,
    seq bigint NOT NULL,
    data bytea NOT NULL
)
WITH (autovacuum_enabled=off);

ALTER TABLE spool.stream ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME spool.stream_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE spool.tally (
    tenant text NOT NULL COLLATE pg_catalog."C",
    shard bigint NOT NULL,
    threads bigint NOT NULL,
    idle bigint NOT NULL,
    queued bigint NOT NULL,
    running bigint NOT NULL,
    waiting bigint NOT NULL,
    completed bigint NOT NULL,
    cancelled bigint NOT NULL,
    failed bigint NOT NULL,
    input_tokens bigint NOT NULL,
    cached_input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    total_tokens bigint NOT NULL,
    bytes bigint NOT NULL
)
WITH (fillfactor='25', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='200');

CREATE TABLE spool.thread (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    model text NOT NULL,
    title text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL,
    labels jsonb NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    run_id text NOT NULL COLLATE pg_catalog."C",
    last_seq bigint NOT NULL,
    fence bigint NOT NULL,
    lease_until bigint NOT NULL,
    bytes bigint NOT NULL,
    bytes_summed bigint NOT NULL,
    last_version bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

CREATE TABLE spool.usage (
    tenant text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    ord bigint NOT NULL,
    run_id text NOT NULL COLLATE pg_catalog."C",
    agent_id text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL,
    kind text NOT NULL,
    step bigint NOT NULL,
    model text NOT NULL,
    model_id text NOT NULL,
    requested text NOT NULL,
    outcome text NOT NULL,
    input bigint,
    cache_read bigint,
    cache_write bigint,
    output bigint,
    reasoning bigint,
    guess_input bigint,
    guess_output bigint,
    cost bigint,
    currency text NOT NULL,
    cost_source text NOT NULL,
    price_version text NOT NULL,
    created_at bigint NOT NULL
);

CREATE TABLE spool.usage_line (
    tenant text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    agent_id text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    model_id text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    ord bigint NOT NULL,
    input bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_write bigint NOT NULL,
    output bigint NOT NULL,
    reasoning bigint NOT NULL,
    calls bigint NOT NULL,
    estimated bigint NOT NULL,
    guess_input bigint NOT NULL,
    guess_output bigint NOT NULL,
    cost bigint NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE spool.wake (
    id bigint NOT NULL,
    at bigint NOT NULL,
    node text NOT NULL,
    body bytea NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');

ALTER TABLE spool.wake ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME spool.wake_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY spool.stream_item ATTACH PARTITION spool.stream_item_498736 FOR VALUES IN ('498736');

INSERT INTO spool.audit VALUES
	('default', 1, 1795451988620738, 'stop', '', '', 'stopped', 'stopped1', '', 0, NULL, '', '', 0, '', '');

INSERT INTO spool.audit_last VALUES
	('default', 1);

INSERT INTO spool.branch VALUES
	('default', 'done', 3, '', 'done2', 1795451984188071);

INSERT INTO spool.entry VALUES
	('default', 'done', 1, 'RUN_STARTED', 'done1', '{"runId":"done1","streamId":"done1:1","segment":1,"revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81"}', 1795451982376960, '', 0, 0, '', ''),
	('default', 'done', 2, 'RUN_ENDED', 'done1', '{"runId":"done1","streamId":"done1:1","segment":1,"status":"finished"}', 1795451983955206, 'done1:1', 1, 40, '', ''),
	('default', 'done', 3, 'MESSAGES_DROPPED', 'done2', '{"fromMessageId":"msg_06h0jhrhhe2y6nx7cvmxvv447r"}', 1795451984188071, '', 0, 0, '', ''),
	('default', 'done', 4, 'RUN_STARTED', 'done2', '{"runId":"done2","streamId":"done2:1","segment":1,"revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81"}', 1795451984313294, '', 0, 0, '', ''),
	('default', 'done', 5, 'RUN_ENDED', 'done2', '{"runId":"done2","streamId":"done2:1","segment":1,"status":"finished"}', 1795451986056333, 'done2:1', 2, 41, '', ''),
	('default', 'parked', 1, 'RUN_STARTED', 'parked1', '{"runId":"parked1","streamId":"parked1:1","segment":1,"revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81"}', 1795451986417095, '', 0, 0, '', ''),
	('default', 'parked', 2, 'INPUT_REQUIRED', 'parked1', '{"toolCallId":"demo_31be274f2ba5_1","toolName":"send_email","agentId":null,"arguments":{"to":"ann@example.com"},"inputSchema":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to"],"additionalProperties":false},"frames":[],"reason":"approval","revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81","digest":"sha256:8beed0629f63ef25721c5eee5587a32fce5b87e47a5470873574eb7bfc165284","expiresAt":"2026-11-23T16:54:47.123986Z"}', 1795451987123986, 'parked1:1', 1, 25, '', ''),
	('default', 'parked', 3, 'RUN_ENDED', 'parked1', '{"runId":"parked1","streamId":"parked1:1","segment":1,"status":"parked"}', 1795451987123986, 'parked1:1', 1, 27, '', ''),
	('default', 'stopped', 1, 'RUN_STARTED', 'stopped1', '{"runId":"stopped1","streamId":"stopped1:1","segment":1,"revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81"}', 1795451987695015, '', 0, 0, '', ''),
	('default', 'stopped', 2, 'INPUT_REQUIRED', 'stopped1', '{"toolCallId":"demo_b33f3e8f3c37_1","toolName":"send_email","agentId":null,"arguments":{"to":"bob@example.com"},"inputSchema":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to"],"additionalProperties":false},"frames":[],"reason":"approval","revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81","digest":"sha256:1939838e95c4aa461d13f3b02893f612bb5f541c2362a942b3efd3f7f293bab2","expiresAt":"2026-11-23T16:54:48.510362Z"}', 1795451988510362, 'stopped1:1', 1, 25, '', ''),
	('default', 'stopped', 3, 'RUN_ENDED', 'stopped1', '{"runId":"stopped1","streamId":"stopped1:1","segment":1,"status":"parked"}', 1795451988510362, 'stopped1:1', 1, 27, '', ''),
	('default', 'running', 1, 'RUN_STARTED', 'running1', '{"runId":"running1","streamId":"running1:1","segment":1,"revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81"}', 1795451989606379, '', 0, 0, '', '');

INSERT INTO spool.job VALUES
	(478099097029994, 'default', 'parked', 'parked1', 'hitl-expiry:parked1:demo_31be274f2ba5_1', 'expiry', 'assistant', 'demo', 0, '', '', 1795452707123986, 1795452707123986, false, 0, 0, DEFAULT),
	(478099112178948, 'default', 'running', 'running1', 'run:running1:1', 'start', 'assistant', 'demo', 1, '', '', 1795451988886821, 1795452019577258, true, 1, 1, DEFAULT),
	(478099158132611, 'default', 'queued', 'queued1', 'run:queued1:1', 'start', 'assistant', 'demo', 1, '', '', 1795451994746838, 1795451994746838, false, 0, 0, DEFAULT);

INSERT INTO spool.message VALUES
	('default', 'done', 1, 'msg_06h0jhrhhe2y6nx7cvmxvv447r', '', 'user', '"hello"', 1795451982218726, '', 'done1', 0, 3),
	('default', 'done', 2, 'msg_06h0jhrrafrf2cynwqaw7h2z5m', '', 'assistant', '[{"type":"reasoning","text":"I was not asked to use a tool, so I repeat the prompt.","provider":{"demo":"90be13862539"}},{"type":"text","text":"(demo model, not a language model) You said: hello\n\nTo see a tool at work, write: use clock with {}"}]', 1795451983955206, '', 'done1', 1, 3),
	('default', 'done', 3, 'msg_06h0jhrsh9a5fwbcadtzshffpw', '', 'user', '"hello again"', 1795451984188071, '', 'done2', 3, NULL),
	('default', 'done', 4, 'msg_06h0jhs0h2d3ajwdqpmmffv478', '', 'assistant', '[{"type":"reasoning","text":"I was not asked to use a tool, so I repeat the prompt.","provider":{"demo":"4f49357e9894"}},{"type":"text","text":"(demo model, not a language model) You said: hello again\n\nTo see a tool at work, write: use clock with {}"}]', 1795451986056333, '', 'done2', 4, NULL),
	('default', 'parked', 1, 'msg_06h0jhs18533623d766593h8k8', '', 'user', '"use send_email with {\"to\":\"ann@example.com\"}"', 1795451986227961, '', 'parked1', 0, NULL),
	('default', 'parked', 2, 'msg_06h0jhs4pgdvdpzv46paa7qjrm', '', 'assistant', '[{"type":"reasoning","text":"I was asked for 1 tool call.","provider":{"demo":"31be274f2ba5"}},{"type":"text","text":"(demo model, not a language model) I call send_email."},{"type":"tool-call","toolCallId":"demo_31be274f2ba5_1","toolName":"send_email","args":{"to":"ann@example.com"}}]', 1795451987123986, '', 'parked1', 1, NULL),
	('default', 'stopped', 1, 'msg_06h0jhs6t4snj3rrmjabwn2a54', '', 'user', '"use send_email with {\"to\":\"bob@example.com\"}"', 1795451987664680, '', 'stopped1', 0, NULL),
	('default', 'stopped', 2, 'msg_06h0jhsa3t83dfzcm65hbex1yc', '', 'assistant', '[{"type":"reasoning","text":"I was asked for 1 tool call.","provider":{"demo":"b33f3e8f3c37"}},{"type":"text","text":"(demo model, not a language model) I call send_email."},{"type":"tool-call","toolCallId":"demo_b33f3e8f3c37_1","toolName":"send_email","args":{"to":"bob@example.com"}}]', 1795451988510362, '', 'stopped1', 1, NULL),
	('default', 'stopped', 3, 'msg_06h0jhsaze0dbqytzqd5fts2pw', '', 'tool', '[{"type":"tool-result","toolCallId":"demo_b33f3e8f3c37_1","toolName":"send_email","result":{"cancelled":true,"reason":"stopped"}}]', 1795451988620738, '', 'stopped1', 3, NULL),
	('default', 'running', 1, 'msg_06h0jhsc3rf6ej06x5vpaqtj8g', '', 'user', '"slow 30"', 1795451988886821, '', 'running1', 0, NULL),
	('default', 'queued', 1, 'msg_06h0jht2hsxzcv678gg5y3e6q8', '', 'user', '"hello"', 1795451994746838, '', 'queued1', 0, NULL);

INSERT INTO spool.park VALUES
	('default', 'parked', 'parked1', 'demo_31be274f2ba5_1', 1, 'send_email', '', '', 1, '{"to":"ann@example.com"}', '', 'approval', 0, 'sha256:8beed0629f63ef25721c5eee5587a32fce5b87e47a5470873574eb7bfc165284', 'open', '', '', false, 1795451987123986, 1795452887123986, '{"then":"deny","ttl":900000000000,"warn":180000000000}', false, false, 'rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81'),
	('default', 'stopped', 'stopped1', 'demo_b33f3e8f3c37_1', 1, 'send_email', '', '', 1, '{"to":"bob@example.com"}', '', 'approval', 0, 'sha256:1939838e95c4aa461d13f3b02893f612bb5f541c2362a942b3efd3f7f293bab2', 'closed', '', '', true, 1795451988510362, 1795452888510362, '{"then":"deny","ttl":900000000000,"warn":180000000000}', false, false, 'rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81');

INSERT INTO spool.run VALUES
	('default', 'done1', 'done', 1, 1795451982218726, '', '', 0, 'assistant', '', 'demo', 'COMPLETED', 'completed', '', 1795451982218726, 1795451982376960, 1795451983955206, 0, 1, 0, 100, 0, 33, 133, 1, 0, '', 0, '', '', '', 'LVGOLCAS7PWA4QTDXFVSWVBIA3', '["read","write","approve","stop","admin"]', '', '', '', '{"revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81","saved":"1-38","context":{"tokens":100,"answer":33,"bytes":1102,"messages":1,"lastMessageId":"msg_06h0jhrhhe2y6nx7cvmxvv447r"},"wallTime":1578246000}'),
	('default', 'done2', 'done', 2, 1795451984188071, '', '', 0, 'assistant', '', 'demo', 'COMPLETED', 'completed', '', 1795451984188071, 1795451984313294, 1795451986056333, 0, 1, 0, 101, 0, 34, 135, 1, 0, '', 0, '', '', '', 'OUXTDROCTJLAPKY44GGDG2YEMN', '["read","write","approve","stop","admin"]', '', '', '', '{"revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81","saved":"2-39","context":{"tokens":101,"answer":34,"bytes":1108,"messages":1,"lastMessageId":"msg_06h0jhrsh9a5fwbcadtzshffpw"},"wallTime":1743039000}'),
	('default', 'parked1', 'parked', 1, 1795451986227961, '', '', 0, 'assistant', '', 'demo', 'WAITING_FOR_INPUT', '', '', 1795451986227961, 1795451986417095, 0, 0, 1, 0, 103, 0, 17, 120, 1, 0, '', 0, '', '', '', 'HCV2BHUUGXJRF7KUHZITV2ZTPO', '["read","write","approve","stop","admin"]', '', '', '', '{"revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81","saved":"1-24","context":{"tokens":103,"answer":17,"bytes":1141,"messages":1,"lastMessageId":"msg_06h0jhs18533623d766593h8k8"},"wallTime":706891000}'),
	('default', 'parked2', 'parked', 2, 1795451987267459, '', '', 0, 'assistant', '', 'demo', 'QUEUED', '', '', 1795451987267459, 1795451987267459, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4294967297, '', 0, '', '', '', 'AXHLLQD5HWZ3GMKTMKYBNXBKZG', '["read","write","approve","stop","admin"]', '', '', '', '{"wait":{"whenBusy":"enqueue","position":1,"content":"And then?"},"context":{"tokens":103,"answer":17,"bytes":1141,"messages":1,"lastMessageId":"msg_06h0jhs18533623d766593h8k8"}}'),
	('default', 'stopped1', 'stopped', 1, 1795451987664680, '', '', 0, 'assistant', '', 'demo', 'CANCELLED', 'cancelled', '', 1795451987664680, 1795451987695015, 1795451988620738, 0, 1, 0, 103, 0, 17, 120, 1, 0, '', 0, '', '', '', 'P5OKEYOFYPKSKWGNL7LRF2VEAF', '["read","write","approve","stop","admin"]', '', '', '', '{"revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81","saved":"1-24","context":{"tokens":103,"answer":17,"bytes":1141,"messages":1,"lastMessageId":"msg_06h0jhs6t4snj3rrmjabwn2a54"},"wallTime":815347000,"stopAt":"2026-11-23T16:39:48.620738Z"}'),
	('default', 'running1', 'running', 1, 1795451988886821, '', '', 0, 'assistant', '', 'demo', 'RUNNING', '', '', 1795451988886821, 1795451989606379, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, '', 0, '', '', '', 'D77UBLXWXSTEFW7U7EGRK5NUOJ', '["read","write","approve","stop","admin"]', '', '', '', '{"revision":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81","workerSince":"2026-11-23T16:39:49.606379Z"}'),
	('default', 'queued1', 'queued', 1, 1795451994746838, '', '', 0, 'assistant', '', 'demo', 'QUEUED', '', '', 1795451994746838, 1795451994746838, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 0, '', '', '', 'AT5URYMLN263AMDAVIKKH3P3ND', '["read","write","approve","stop","admin"]', '', '', '', '');

INSERT INTO spool.schema_step VALUES
	(1, 1, '001_initial.sql', '2026-11-23 16:39:41.455656+00'),
	(2, 1, '002_park_revision.sql', '2026-11-23 16:39:41.564854+00'),
	(3, 3, '003_later_fields.sql', '2026-11-23 16:39:41.564854+00'),
	(4, 3, '004_inbox.sql', '2026-11-23 16:39:41.564854+00'),
	(5, 5, '005_delta.sql', '2026-11-23 16:39:41.564854+00');

INSERT INTO spool.shared_row VALUES
	('', 'agent_revision', 'rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81', '{"name":"assistant","model":{"name":"demo","provider":"spool","id":"demo"},"tools":[{"name":"clock","description":"Tells the date and the time.","parameters":{"type":"object","properties":{"zone":{"type":"string","description":"name of a time zone such as Europe/Oslo; UTC if left out"}},"additionalProperties":false},"idempotent":true},{"name":"send_email","description":"Pretends to send an email, once a person allows it. Nothing is sent.","parameters":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to"],"additionalProperties":false},"approval":"always"}],"spawn":{"profiles":[{"name":"mailer","description":"Writes emails.","model":{},"tools":[{"name":"send_email","description":"Pretends to send an email, once a person allows it. Nothing is sent.","parameters":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to"],"additionalProperties":false},"approval":"always"}],"maxSteps":10},{"name":"researcher","description":"Knows the time, and whom to ask.","model":{},"tools":[{"name":"clock","description":"Tells the date and the time.","parameters":{"type":"object","properties":{"zone":{"type":"string","description":"name of a time zone such as Europe/Oslo; UTC if left out"}},"additionalProperties":false},"idempotent":true}],"maxSteps":10,"spawns":true}],"maxDepth":2,"maxConcurrent":3,"maxSteps":10,"resultCap":8000},"maxSteps":25,"onBudget":"end","clientTools":32,"clientContext":65536}', 1, 1795451982332071, 0),
	('', 'agent_revision_list', 'assistant/9221576584872443736/rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81', '{"id":"rev_2ff00c489e6052da1636ae3bdaa3c4448af9b14a7c05ef98b72953e05eab6d81","agent":"assistant","firstUsedAt":"2026-11-23T16:39:42.332071Z","model":"demo","tools":2}', 1, 1795451982332071, 0);

INSERT INTO spool.stream OVERRIDING SYSTEM VALUE VALUES
	('default', 'done', 'done2:1', 2, 498736, 1795451984326373, 2, 41, true, 1795452586077191),
	('default', 'parked', 'parked1:1', 3, 498736, 1795451986464829, 1, 27, true, 1795452587132138),
	('default', 'done', 'done1:1', 1, 498736, 1795451982488502, 1, 40, true, 1795452584024648),
	('default', 'stopped', 'stopped1:1', 4, 498736, 1795451987713570, 1, 27, true, 1795452588610085),
	('default', 'running', 'running1:1', 5, 498736, 1795451989642428, 1, 3, false, 0);

INSERT INTO spool.stream_hour VALUES
	(498736);

INSERT INTO spool.stream_item_498736 VALUES
	(498736, 1, 1, 1, 'RUN_STARTED', 1, '\x7b2274797065223a2252554e5f53544152544544222c227468726561644964223a22646f6e65222c2272756e4964223a22646f6e6531222c2273747265616d4964223a22646f6e65313a31222c227365676d656e74223a312c226f6666736574223a22312d31227d'),
	(498736, 1, 1, 2, 'REASONING_START', 1, '\x7b2274797065223a22524541534f4e494e475f5354415254222c226d6573736167654964223a22646f6e65313a313a6d31222c226f6666736574223a22312d32227d'),
	(498736, 1, 1, 3, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a224920222c226f6666736574223a22312d33227d'),
	(498736, 1, 1, 4, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a2277617320222c226f6666736574223a22312d34227d'),
	(498736, 1, 1, 5, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a226e6f7420222c226f6666736574223a22312d35227d'),
	(498736, 1, 1, 6, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a2261736b656420222c226f6666736574223a22312d36227d'),
	(498736, 1, 1, 7, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a22746f20222c226f6666736574223a22312d37227d'),
	(498736, 1, 1, 8, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a2275736520222c226f6666736574223a22312d38227d'),
	(498736, 1, 1, 9, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a226120222c226f6666736574223a22312d39227d'),
	(498736, 1, 1, 10, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a22746f6f6c2c20222c226f6666736574223a22312d3130227d'),
	(498736, 1, 1, 11, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a22736f20222c226f6666736574223a22312d3131227d'),
	(498736, 1, 1, 12, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a224920222c226f6666736574223a22312d3132227d'),
	(498736, 1, 1, 13, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a2272657065617420222c226f6666736574223a22312d3133227d'),
	(498736, 1, 1, 14, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a2274686520222c226f6666736574223a22312d3134227d'),
	(498736, 1, 1, 15, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d31222c2264656c7461223a2270726f6d70742e222c226f6666736574223a22312d3135227d'),
	(498736, 1, 1, 16, 'REASONING_END', 1, '\x7b2274797065223a22524541534f4e494e475f454e44222c226d6573736167654964223a22646f6e65313a313a6d31222c226f6666736574223a22312d3136227d'),
	(498736, 1, 1, 17, 'TEXT_MESSAGE_START', 1, '\x7b2274797065223a22544558545f4d4553534147455f5354415254222c226d6573736167654964223a22646f6e65313a313a6d32222c22726f6c65223a22617373697374616e74222c226f6666736574223a22312d3137227d'),
	(498736, 1, 1, 18, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a222864656d6f20222c226f6666736574223a22312d3138227d'),
	(498736, 1, 1, 19, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a226d6f64656c2c20222c226f6666736574223a22312d3139227d'),
	(498736, 1, 1, 20, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a226e6f7420222c226f6666736574223a22312d3230227d'),
	(498736, 1, 1, 21, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a226120222c226f6666736574223a22312d3231227d'),
	(498736, 1, 1, 22, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a226c616e677561676520222c226f6666736574223a22312d3232227d'),
	(498736, 1, 1, 23, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a226d6f64656c2920222c226f6666736574223a22312d3233227d'),
	(498736, 1, 1, 24, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a22596f7520222c226f6666736574223a22312d3234227d'),
	(498736, 1, 1, 25, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a22736169643a20222c226f6666736574223a22312d3235227d'),
	(498736, 1, 1, 26, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a2268656c6c6f5c6e5c6e222c226f6666736574223a22312d3236227d'),
	(498736, 1, 1, 27, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a22546f20222c226f6666736574223a22312d3237227d'),
	(498736, 1, 1, 28, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a2273656520222c226f6666736574223a22312d3238227d'),
	(498736, 1, 1, 29, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a226120222c226f6666736574223a22312d3239227d'),
	(498736, 1, 1, 30, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a22746f6f6c20222c226f6666736574223a22312d3330227d'),
	(498736, 1, 1, 31, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a22617420222c226f6666736574223a22312d3331227d'),
	(498736, 1, 1, 32, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a22776f726b2c20222c226f6666736574223a22312d3332227d'),
	(498736, 1, 1, 33, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a2277726974653a20222c226f6666736574223a22312d3333227d'),
	(498736, 1, 1, 34, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a2275736520222c226f6666736574223a22312d3334227d'),
	(498736, 1, 1, 35, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a22636c6f636b20222c226f6666736574223a22312d3335227d'),
	(498736, 1, 1, 36, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a227769746820222c226f6666736574223a22312d3336227d'),
	(498736, 1, 1, 37, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65313a313a6d32222c2264656c7461223a227b7d222c226f6666736574223a22312d3337227d'),
	(498736, 1, 1, 38, 'TEXT_MESSAGE_END', 1, '\x7b2274797065223a22544558545f4d4553534147455f454e44222c226d6573736167654964223a22646f6e65313a313a6d32222c226f6666736574223a22312d3338227d'),
	(498736, 1, 1, 39, 'STEP_FINISHED', 1, '\x7b2274797065223a22535445505f46494e4953484544222c2273746570223a312c226167656e744964223a6e756c6c2c2266696e697368526561736f6e223a2273746f70222c227573616765223a7b22696e707574546f6b656e73223a3130302c22636163686564496e707574546f6b656e73223a302c226f7574707574546f6b656e73223a33332c22746f74616c546f6b656e73223a3133337d2c226f6666736574223a22312d3339227d'),
	(498736, 1, 1, 40, 'RUN_FINISHED', 1, '\x7b2274797065223a2252554e5f46494e4953484544222c22737461747573223a2266696e6973686564222c227573616765223a7b22696e707574546f6b656e73223a3130302c22636163686564496e707574546f6b656e73223a302c226f7574707574546f6b656e73223a33332c22746f74616c546f6b656e73223a3133337d2c2266696e697368526561736f6e223a22636f6d706c65746564222c226f6666736574223a22312d3430227d'),
	(498736, 2, 2, 1, 'RUN_STARTED', 4, '\x7b2274797065223a2252554e5f53544152544544222c227468726561644964223a22646f6e65222c2272756e4964223a22646f6e6532222c2273747265616d4964223a22646f6e65323a31222c227365676d656e74223a312c226f6666736574223a22322d31227d'),
	(498736, 2, 2, 2, 'REASONING_START', 4, '\x7b2274797065223a22524541534f4e494e475f5354415254222c226d6573736167654964223a22646f6e65323a313a6d31222c226f6666736574223a22322d32227d'),
	(498736, 2, 2, 3, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a224920222c226f6666736574223a22322d33227d'),
	(498736, 2, 2, 4, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a2277617320222c226f6666736574223a22322d34227d'),
	(498736, 2, 2, 5, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a226e6f7420222c226f6666736574223a22322d35227d'),
	(498736, 2, 2, 6, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a2261736b656420222c226f6666736574223a22322d36227d'),
	(498736, 2, 2, 7, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a22746f20222c226f6666736574223a22322d37227d'),
	(498736, 2, 2, 19, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a226d6f64656c2c20222c226f6666736574223a22322d3139227d'),
	(498736, 2, 2, 20, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a226e6f7420222c226f6666736574223a22322d3230227d'),
	(498736, 2, 2, 30, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a226120222c226f6666736574223a22322d3330227d');
INSERT INTO spool.stream_item_498736 VALUES
	(498736, 2, 2, 31, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a22746f6f6c20222c226f6666736574223a22322d3331227d'),
	(498736, 2, 2, 32, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a22617420222c226f6666736574223a22322d3332227d'),
	(498736, 2, 2, 33, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a22776f726b2c20222c226f6666736574223a22322d3333227d'),
	(498736, 2, 2, 34, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a2277726974653a20222c226f6666736574223a22322d3334227d'),
	(498736, 2, 2, 35, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a2275736520222c226f6666736574223a22322d3335227d'),
	(498736, 2, 2, 36, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a22636c6f636b20222c226f6666736574223a22322d3336227d'),
	(498736, 2, 2, 37, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a227769746820222c226f6666736574223a22322d3337227d'),
	(498736, 2, 2, 38, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a227b7d222c226f6666736574223a22322d3338227d'),
	(498736, 2, 2, 39, 'TEXT_MESSAGE_END', 4, '\x7b2274797065223a22544558545f4d4553534147455f454e44222c226d6573736167654964223a22646f6e65323a313a6d32222c226f6666736574223a22322d3339227d'),
	(498736, 2, 2, 40, 'STEP_FINISHED', 4, '\x7b2274797065223a22535445505f46494e4953484544222c2273746570223a312c226167656e744964223a6e756c6c2c2266696e697368526561736f6e223a2273746f70222c227573616765223a7b22696e707574546f6b656e73223a3130312c22636163686564496e707574546f6b656e73223a302c226f7574707574546f6b656e73223a33342c22746f74616c546f6b656e73223a3133357d2c226f6666736574223a22322d3430227d'),
	(498736, 2, 2, 41, 'RUN_FINISHED', 4, '\x7b2274797065223a2252554e5f46494e4953484544222c22737461747573223a2266696e6973686564222c227573616765223a7b22696e707574546f6b656e73223a3130312c22636163686564496e707574546f6b656e73223a302c226f7574707574546f6b656e73223a33342c22746f74616c546f6b656e73223a3133357d2c2266696e697368526561736f6e223a22636f6d706c65746564222c226f6666736574223a22322d3431227d'),
	(498736, 3, 1, 2, 'REASONING_START', 1, '\x7b2274797065223a22524541534f4e494e475f5354415254222c226d6573736167654964223a227061726b6564313a313a6d31222c226f6666736574223a22312d32227d'),
	(498736, 3, 1, 3, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d31222c2264656c7461223a224920222c226f6666736574223a22312d33227d'),
	(498736, 3, 1, 4, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d31222c2264656c7461223a2277617320222c226f6666736574223a22312d34227d'),
	(498736, 3, 1, 7, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d31222c2264656c7461223a223120222c226f6666736574223a22312d37227d'),
	(498736, 3, 1, 8, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d31222c2264656c7461223a22746f6f6c20222c226f6666736574223a22312d38227d'),
	(498736, 3, 1, 13, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d32222c2264656c7461223a226d6f64656c2c20222c226f6666736574223a22312d3133227d'),
	(498736, 3, 1, 14, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d32222c2264656c7461223a226e6f7420222c226f6666736574223a22312d3134227d'),
	(498736, 3, 1, 15, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d32222c2264656c7461223a226120222c226f6666736574223a22312d3135227d'),
	(498736, 3, 1, 16, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d32222c2264656c7461223a226c616e677561676520222c226f6666736574223a22312d3136227d'),
	(498736, 3, 1, 17, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d32222c2264656c7461223a226d6f64656c2920222c226f6666736574223a22312d3137227d'),
	(498736, 3, 1, 18, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d32222c2264656c7461223a224920222c226f6666736574223a22312d3138227d'),
	(498736, 2, 2, 8, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a2275736520222c226f6666736574223a22322d38227d'),
	(498736, 2, 2, 9, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a226120222c226f6666736574223a22322d39227d'),
	(498736, 2, 2, 10, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a22746f6f6c2c20222c226f6666736574223a22322d3130227d'),
	(498736, 2, 2, 11, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a22736f20222c226f6666736574223a22322d3131227d'),
	(498736, 2, 2, 12, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a224920222c226f6666736574223a22322d3132227d'),
	(498736, 2, 2, 13, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a2272657065617420222c226f6666736574223a22322d3133227d'),
	(498736, 2, 2, 14, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a2274686520222c226f6666736574223a22322d3134227d'),
	(498736, 2, 2, 15, 'REASONING_CONTENT', 4, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d31222c2264656c7461223a2270726f6d70742e222c226f6666736574223a22322d3135227d'),
	(498736, 2, 2, 16, 'REASONING_END', 4, '\x7b2274797065223a22524541534f4e494e475f454e44222c226d6573736167654964223a22646f6e65323a313a6d31222c226f6666736574223a22322d3136227d'),
	(498736, 2, 2, 17, 'TEXT_MESSAGE_START', 4, '\x7b2274797065223a22544558545f4d4553534147455f5354415254222c226d6573736167654964223a22646f6e65323a313a6d32222c22726f6c65223a22617373697374616e74222c226f6666736574223a22322d3137227d'),
	(498736, 2, 2, 18, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a222864656d6f20222c226f6666736574223a22322d3138227d'),
	(498736, 2, 2, 21, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a226120222c226f6666736574223a22322d3231227d'),
	(498736, 2, 2, 22, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a226c616e677561676520222c226f6666736574223a22322d3232227d'),
	(498736, 2, 2, 23, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a226d6f64656c2920222c226f6666736574223a22322d3233227d'),
	(498736, 2, 2, 24, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a22596f7520222c226f6666736574223a22322d3234227d'),
	(498736, 2, 2, 25, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a22736169643a20222c226f6666736574223a22322d3235227d'),
	(498736, 2, 2, 26, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a2268656c6c6f20222c226f6666736574223a22322d3236227d'),
	(498736, 2, 2, 27, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a22616761696e5c6e5c6e222c226f6666736574223a22322d3237227d'),
	(498736, 2, 2, 28, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a22546f20222c226f6666736574223a22322d3238227d'),
	(498736, 2, 2, 29, 'TEXT_MESSAGE_CONTENT', 4, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a22646f6e65323a313a6d32222c2264656c7461223a2273656520222c226f6666736574223a22322d3239227d'),
	(498736, 3, 1, 1, 'RUN_STARTED', 1, '\x7b2274797065223a2252554e5f53544152544544222c227468726561644964223a227061726b6564222c2272756e4964223a227061726b656431222c2273747265616d4964223a227061726b6564313a31222c227365676d656e74223a312c226f6666736574223a22312d31227d'),
	(498736, 3, 1, 5, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d31222c2264656c7461223a2261736b656420222c226f6666736574223a22312d35227d'),
	(498736, 3, 1, 6, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d31222c2264656c7461223a22666f7220222c226f6666736574223a22312d36227d'),
	(498736, 3, 1, 9, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d31222c2264656c7461223a2263616c6c2e222c226f6666736574223a22312d39227d'),
	(498736, 3, 1, 10, 'REASONING_END', 1, '\x7b2274797065223a22524541534f4e494e475f454e44222c226d6573736167654964223a227061726b6564313a313a6d31222c226f6666736574223a22312d3130227d'),
	(498736, 3, 1, 11, 'TEXT_MESSAGE_START', 1, '\x7b2274797065223a22544558545f4d4553534147455f5354415254222c226d6573736167654964223a227061726b6564313a313a6d32222c22726f6c65223a22617373697374616e74222c226f6666736574223a22312d3131227d'),
	(498736, 3, 1, 12, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d32222c2264656c7461223a222864656d6f20222c226f6666736574223a22312d3132227d'),
	(498736, 3, 1, 19, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d32222c2264656c7461223a2263616c6c20222c226f6666736574223a22312d3139227d');
INSERT INTO spool.stream_item_498736 VALUES
	(498736, 3, 1, 20, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a227061726b6564313a313a6d32222c2264656c7461223a2273656e645f656d61696c2e222c226f6666736574223a22312d3230227d'),
	(498736, 3, 1, 21, 'TEXT_MESSAGE_END', 1, '\x7b2274797065223a22544558545f4d4553534147455f454e44222c226d6573736167654964223a227061726b6564313a313a6d32222c226f6666736574223a22312d3231227d'),
	(498736, 3, 1, 22, 'TOOL_CALL_START', 1, '\x7b2274797065223a22544f4f4c5f43414c4c5f5354415254222c22746f6f6c43616c6c4964223a2264656d6f5f3331626532373466326261355f31222c22746f6f6c4e616d65223a2273656e645f656d61696c222c226f6666736574223a22312d3232227d'),
	(498736, 3, 1, 23, 'TOOL_CALL_ARGS', 1, '\x7b2274797065223a22544f4f4c5f43414c4c5f41524753222c22746f6f6c43616c6c4964223a2264656d6f5f3331626532373466326261355f31222c2264656c7461223a227b5c22746f5c223a5c22616e6e406578616d706c652e636f6d5c227d222c226f6666736574223a22312d3233227d'),
	(498736, 3, 1, 24, 'TOOL_CALL_END', 1, '\x7b2274797065223a22544f4f4c5f43414c4c5f454e44222c22746f6f6c43616c6c4964223a2264656d6f5f3331626532373466326261355f31222c22746f6f6c4e616d65223a2273656e645f656d61696c222c2261726773223a7b22746f223a22616e6e406578616d706c652e636f6d227d2c226f6666736574223a22312d3234227d'),
	(498736, 3, 1, 25, 'STEP_FINISHED', 1, '\x7b2274797065223a22535445505f46494e4953484544222c2273746570223a312c226167656e744964223a6e756c6c2c2266696e697368526561736f6e223a22746f6f6c2d63616c6c73222c227573616765223a7b22696e707574546f6b656e73223a3130332c22636163686564496e707574546f6b656e73223a302c226f7574707574546f6b656e73223a31372c22746f74616c546f6b656e73223a3132307d2c226f6666736574223a22312d3235227d'),
	(498736, 3, 1, 26, 'INPUT_REQUIRED', 2, '\x7b2274797065223a22494e5055545f5245515549524544222c22746f6f6c43616c6c4964223a2264656d6f5f3331626532373466326261355f31222c22746f6f6c4e616d65223a2273656e645f656d61696c222c226167656e744964223a6e756c6c2c22617267756d656e7473223a7b22746f223a22616e6e406578616d706c652e636f6d227d2c22696e707574536368656d61223a7b2274797065223a226f626a656374222c2270726f70657274696573223a7b22746f223a7b2274797065223a22737472696e67227d2c2274657874223a7b2274797065223a22737472696e67227d7d2c227265717569726564223a5b22746f225d2c226164646974696f6e616c50726f70657274696573223a66616c73657d2c226672616d6573223a5b5d2c22726561736f6e223a22617070726f76616c222c227265766973696f6e223a227265765f32666630306334383965363035326461313633366165336264616133633434343861663962313461376330356566393862373239353365303565616236643831222c22646967657374223a227368613235363a38626565643036323966363365663235373231633565656535353837613332666365356238376534376135343730383733353734656237626663313635323834222c22657870697265734174223a22323032362d31312d32335431363a35343a34372e3132333938365a222c226f6666736574223a22312d3236227d'),
	(498736, 3, 1, 27, 'RUN_FINISHED', 2, '\x7b2274797065223a2252554e5f46494e4953484544222c22737461747573223a227061726b6564222c226f6666736574223a22312d3237227d'),
	(498736, 4, 1, 1, 'RUN_STARTED', 1, '\x7b2274797065223a2252554e5f53544152544544222c227468726561644964223a2273746f70706564222c2272756e4964223a2273746f7070656431222c2273747265616d4964223a2273746f70706564313a31222c227365676d656e74223a312c226f6666736574223a22312d31227d'),
	(498736, 4, 1, 2, 'REASONING_START', 1, '\x7b2274797065223a22524541534f4e494e475f5354415254222c226d6573736167654964223a2273746f70706564313a313a6d31222c226f6666736574223a22312d32227d'),
	(498736, 4, 1, 3, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d31222c2264656c7461223a224920222c226f6666736574223a22312d33227d'),
	(498736, 4, 1, 4, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d31222c2264656c7461223a2277617320222c226f6666736574223a22312d34227d'),
	(498736, 4, 1, 5, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d31222c2264656c7461223a2261736b656420222c226f6666736574223a22312d35227d'),
	(498736, 4, 1, 10, 'REASONING_END', 1, '\x7b2274797065223a22524541534f4e494e475f454e44222c226d6573736167654964223a2273746f70706564313a313a6d31222c226f6666736574223a22312d3130227d'),
	(498736, 4, 1, 6, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d31222c2264656c7461223a22666f7220222c226f6666736574223a22312d36227d'),
	(498736, 4, 1, 7, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d31222c2264656c7461223a223120222c226f6666736574223a22312d37227d'),
	(498736, 4, 1, 8, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d31222c2264656c7461223a22746f6f6c20222c226f6666736574223a22312d38227d'),
	(498736, 4, 1, 9, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d31222c2264656c7461223a2263616c6c2e222c226f6666736574223a22312d39227d'),
	(498736, 4, 1, 20, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d32222c2264656c7461223a2273656e645f656d61696c2e222c226f6666736574223a22312d3230227d'),
	(498736, 4, 1, 21, 'TEXT_MESSAGE_END', 1, '\x7b2274797065223a22544558545f4d4553534147455f454e44222c226d6573736167654964223a2273746f70706564313a313a6d32222c226f6666736574223a22312d3231227d'),
	(498736, 4, 1, 22, 'TOOL_CALL_START', 1, '\x7b2274797065223a22544f4f4c5f43414c4c5f5354415254222c22746f6f6c43616c6c4964223a2264656d6f5f6233336633653866336333375f31222c22746f6f6c4e616d65223a2273656e645f656d61696c222c226f6666736574223a22312d3232227d'),
	(498736, 4, 1, 23, 'TOOL_CALL_ARGS', 1, '\x7b2274797065223a22544f4f4c5f43414c4c5f41524753222c22746f6f6c43616c6c4964223a2264656d6f5f6233336633653866336333375f31222c2264656c7461223a227b5c22746f5c223a5c22626f62406578616d706c652e636f6d5c227d222c226f6666736574223a22312d3233227d'),
	(498736, 4, 1, 24, 'TOOL_CALL_END', 1, '\x7b2274797065223a22544f4f4c5f43414c4c5f454e44222c22746f6f6c43616c6c4964223a2264656d6f5f6233336633653866336333375f31222c22746f6f6c4e616d65223a2273656e645f656d61696c222c2261726773223a7b22746f223a22626f62406578616d706c652e636f6d227d2c226f6666736574223a22312d3234227d'),
	(498736, 4, 1, 25, 'STEP_FINISHED', 1, '\x7b2274797065223a22535445505f46494e4953484544222c2273746570223a312c226167656e744964223a6e756c6c2c2266696e697368526561736f6e223a22746f6f6c2d63616c6c73222c227573616765223a7b22696e707574546f6b656e73223a3130332c22636163686564496e707574546f6b656e73223a302c226f7574707574546f6b656e73223a31372c22746f74616c546f6b656e73223a3132307d2c226f6666736574223a22312d3235227d'),
	(498736, 4, 1, 26, 'INPUT_REQUIRED', 2, '\x7b2274797065223a22494e5055545f5245515549524544222c22746f6f6c43616c6c4964223a2264656d6f5f6233336633653866336333375f31222c22746f6f6c4e616d65223a2273656e645f656d61696c222c226167656e744964223a6e756c6c2c22617267756d656e7473223a7b22746f223a22626f62406578616d706c652e636f6d227d2c22696e707574536368656d61223a7b2274797065223a226f626a656374222c2270726f70657274696573223a7b22746f223a7b2274797065223a22737472696e67227d2c2274657874223a7b2274797065223a22737472696e67227d7d2c227265717569726564223a5b22746f225d2c226164646974696f6e616c50726f70657274696573223a66616c73657d2c226672616d6573223a5b5d2c22726561736f6e223a22617070726f76616c222c227265766973696f6e223a227265765f32666630306334383965363035326461313633366165336264616133633434343861663962313461376330356566393862373239353365303565616236643831222c22646967657374223a227368613235363a31393339383338653935633461613436316431336633623032383933663631326262356635343163323336326139343262336566643366376632393362616232222c22657870697265734174223a22323032362d31312d32335431363a35343a34382e3531303336325a222c226f6666736574223a22312d3236227d'),
	(498736, 4, 1, 27, 'RUN_FINISHED', 2, '\x7b2274797065223a2252554e5f46494e4953484544222c22737461747573223a227061726b6564222c226f6666736574223a22312d3237227d'),
	(498736, 5, 1, 1, 'RUN_STARTED', 1, '\x7b2274797065223a2252554e5f53544152544544222c227468726561644964223a2272756e6e696e67222c2272756e4964223a2272756e6e696e6731222c2273747265616d4964223a2272756e6e696e67313a31222c227365676d656e74223a312c226f6666736574223a22312d31227d'),
	(498736, 4, 1, 11, 'TEXT_MESSAGE_START', 1, '\x7b2274797065223a22544558545f4d4553534147455f5354415254222c226d6573736167654964223a2273746f70706564313a313a6d32222c22726f6c65223a22617373697374616e74222c226f6666736574223a22312d3131227d'),
	(498736, 4, 1, 12, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d32222c2264656c7461223a222864656d6f20222c226f6666736574223a22312d3132227d'),
	(498736, 4, 1, 13, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d32222c2264656c7461223a226d6f64656c2c20222c226f6666736574223a22312d3133227d'),
	(498736, 4, 1, 14, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d32222c2264656c7461223a226e6f7420222c226f6666736574223a22312d3134227d'),
	(498736, 4, 1, 15, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d32222c2264656c7461223a226120222c226f6666736574223a22312d3135227d'),
	(498736, 4, 1, 16, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d32222c2264656c7461223a226c616e677561676520222c226f6666736574223a22312d3136227d'),
	(498736, 4, 1, 17, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d32222c2264656c7461223a226d6f64656c2920222c226f6666736574223a22312d3137227d'),
	(498736, 4, 1, 18, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d32222c2264656c7461223a224920222c226f6666736574223a22312d3138227d'),
	(498736, 4, 1, 19, 'TEXT_MESSAGE_CONTENT', 1, '\x7b2274797065223a22544558545f4d4553534147455f434f4e54454e54222c226d6573736167654964223a2273746f70706564313a313a6d32222c2264656c7461223a2263616c6c20222c226f6666736574223a22312d3139227d'),
	(498736, 5, 1, 2, 'REASONING_START', 1, '\x7b2274797065223a22524541534f4e494e475f5354415254222c226d6573736167654964223a2272756e6e696e67313a313a6d31222c226f6666736574223a22312d32227d'),
	(498736, 5, 1, 3, 'REASONING_CONTENT', 1, '\x7b2274797065223a22524541534f4e494e475f434f4e54454e54222c226d6573736167654964223a2272756e6e696e67313a313a6d31222c2264656c7461223a224920222c226f6666736574223a22312d33227d');

INSERT INTO spool.tally VALUES
	('default', 1, 1, 0, 0, 0, 0, 2, 0, 0, 201, 0, 67, 268, 6352),
	('default', 0, 1, 0, 1, 0, 1, 0, 0, 0, 103, 0, 17, 120, 0),
	('default', 14, 1, 0, 0, 0, 0, 0, 1, 0, 103, 0, 17, 120, 4885),
	('default', 12, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
	('default', 4, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

INSERT INTO spool.thread VALUES
	('default', 'done', 'COMPLETED', 'demo', 'hello', '', '{}', 1795451982218726, 1795451986056333, 'done2', 5, 2, 0, 6352, 6352),
	('default', 'parked', 'WAITING_FOR_INPUT', 'demo', 'use send_email with {"to":"ann@example.com"}', '', '{}', 1795451986227961, 1795451987123986, 'parked1', 3, 1, 0, 5446, 0),
	('default', 'stopped', 'CANCELLED', 'demo', 'use send_email with {"to":"bob@example.com"}', '', '{}', 1795451987664680, 1795451988620738, 'stopped1', 3, 1, 0, 4885, 4885),
	('default', 'running', 'RUNNING', 'demo', 'slow 30', '', '{}', 1795451988886821, 1795451989606379, 'running1', 1, 1, 1795452019606379, 2707, 0),
	('default', 'queued', 'QUEUED', 'demo', 'hello', '', '{}', 1795451994746838, 1795451994746838, 'queued1', 0, 0, 0, 2311, 0);

INSERT INTO spool.usage VALUES
	('default', 'done', 1, 'done1', '', 'assistant', 'step', 1, 'demo', 'demo', 'demo', 'finished', 100, 0, 100, 33, 13, NULL, NULL, NULL, '', '', '', 1795451983955206),
	('default', 'done', 2, 'done2', '', 'assistant', 'step', 1, 'demo', 'demo', 'demo', 'finished', 101, 0, 101, 34, 13, NULL, NULL, NULL, '', '', '', 1795451986056333),
	('default', 'parked', 1, 'parked1', '', 'assistant', 'step', 1, 'demo', 'demo', 'demo', 'finished', 103, 0, 103, 17, 7, NULL, NULL, NULL, '', '', '', 1795451987119114),
	('default', 'stopped', 1, 'stopped1', '', 'assistant', 'step', 1, 'demo', 'demo', 'demo', 'finished', 103, 0, 103, 17, 7, NULL, NULL, NULL, '', '', '', 1795451988483984);

INSERT INTO spool.usage_line VALUES
	('default', 'done', '', 'assistant', 'demo', 'demo', '', 1, 201, 0, 201, 67, 26, 2, 0, 0, 0, 0),
	('default', 'parked', '', 'assistant', 'demo', 'demo', '', 1, 103, 0, 103, 17, 7, 1, 0, 0, 0, 0),
	('default', 'stopped', '', 'assistant', 'demo', 'demo', '', 1, 103, 0, 103, 17, 7, 1, 0, 0, 0, 0);

SELECT pg_catalog.setval('spool.stream_number_seq', 5, true);

SELECT pg_catalog.setval('spool.wake_id_seq', 1, false);

ALTER TABLE ONLY spool.audit_last
    ADD CONSTRAINT audit_last_pkey PRIMARY KEY (tenant);

ALTER TABLE ONLY spool.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (tenant, seq);

ALTER TABLE ONLY spool.branch
    ADD CONSTRAINT branch_pkey PRIMARY KEY (tenant, thread_id, id);

ALTER TABLE ONLY spool.delta
    ADD CONSTRAINT delta_pkey PRIMARY KEY (tenant, thread_id, version);

ALTER TABLE ONLY spool.effect
    ADD CONSTRAINT effect_pkey PRIMARY KEY (tenant, thread_id, run_id, step, tool_call_id);

ALTER TABLE ONLY spool.entry
    ADD CONSTRAINT entry_pkey PRIMARY KEY (tenant, thread_id, seq);

ALTER TABLE ONLY spool.job_dead
    ADD CONSTRAINT job_dead_pkey PRIMARY KEY (tenant, id);

ALTER TABLE ONLY spool.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);

ALTER TABLE ONLY spool.message
    ADD CONSTRAINT message_pkey PRIMARY KEY (tenant, thread_id, ord);

ALTER TABLE ONLY spool.park
    ADD CONSTRAINT park_pkey PRIMARY KEY (tenant, thread_id, run_id, tool_call_id);

ALTER TABLE ONLY spool.probe
    ADD CONSTRAINT probe_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY spool.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (tenant, id);

ALTER TABLE ONLY spool.schema_step
    ADD CONSTRAINT schema_step_pkey PRIMARY KEY (version);

ALTER TABLE ONLY spool.shared_row
    ADD CONSTRAINT shared_row_pkey PRIMARY KEY (tenant, kind, key);

ALTER TABLE ONLY spool.stream_hour
    ADD CONSTRAINT stream_hour_pkey PRIMARY KEY (hour);

ALTER TABLE ONLY spool.stream_item
    ADD CONSTRAINT stream_item_pkey PRIMARY KEY (hour, stream, fence, n);

ALTER TABLE ONLY spool.stream_item_498736
    ADD CONSTRAINT stream_item_498736_pkey PRIMARY KEY (hour, stream, fence, n);

ALTER TABLE ONLY spool.stream
    ADD CONSTRAINT stream_pkey PRIMARY KEY (tenant, thread_id, id);

ALTER TABLE ONLY spool.tally
    ADD CONSTRAINT tally_pkey PRIMARY KEY (tenant, shard);

ALTER TABLE ONLY spool.thread
    ADD CONSTRAINT thread_pkey PRIMARY KEY (tenant, id);

ALTER TABLE ONLY spool.usage_line
    ADD CONSTRAINT usage_line_pkey PRIMARY KEY (tenant, thread_id, agent_id, agent, model, model_id, currency);

ALTER TABLE ONLY spool.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (tenant, thread_id, ord);

ALTER TABLE ONLY spool.wake
    ADD CONSTRAINT wake_pkey PRIMARY KEY (id);

CREATE INDEX audit_at ON spool.audit USING btree (at);

CREATE INDEX audit_thread ON spool.audit USING btree (tenant, thread_id, seq);

CREATE INDEX entry_run ON spool.entry USING btree (tenant, thread_id, run_id, seq);

CREATE INDEX entry_type ON spool.entry USING btree (tenant, thread_id, type, seq);

CREATE INDEX job_claimed ON spool.job USING btree (tenant, due_at) WHERE claimed;

CREATE INDEX job_dead_died ON spool.job_dead USING btree (tenant, died_at, id);

CREATE INDEX job_dead_thread ON spool.job_dead USING btree (tenant, thread_id);

CREATE INDEX job_due ON spool.job USING btree (queue, lane, due_at, id);

CREATE INDEX job_first_due ON spool.job USING btree (tenant, first_due, id);

CREATE UNIQUE INDEX job_key ON spool.job USING btree (tenant, key) WHERE (key <> ''::text);

CREATE INDEX job_run ON spool.job USING btree (tenant, thread_id, run_id);

CREATE INDEX job_tenant_due ON spool.job USING btree (queue, lane, tenant, due_at, id);

CREATE INDEX message_branch ON spool.message USING btree (tenant, thread_id, dropped, ord) WHERE (dropped IS NOT NULL);

CREATE UNIQUE INDEX message_id ON spool.message USING btree (tenant, thread_id, id);

CREATE INDEX message_summary ON spool.message USING btree (tenant, thread_id, ord) WHERE ((role = 'system'::text) AND (dropped IS NULL));

CREATE INDEX message_turn ON spool.message USING btree (tenant, thread_id, after_seq, ord) WHERE ((role = 'user'::text) AND (agent_id = ''::text));

CREATE INDEX park_age ON spool.park USING btree (tenant, created_at, run_id, tool_call_id, thread_id) WHERE ((state = 'open'::text) AND (expires_at > 0));

CREATE INDEX park_expiry ON spool.park USING btree (tenant, expires_at, run_id, tool_call_id, thread_id) WHERE ((state = 'open'::text) AND (expires_at > 0));

CREATE UNIQUE INDEX run_active ON spool.run USING btree (tenant, thread_id) WHERE ((depth = 0) AND (place = 0) AND (state = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'WAITING_FOR_INPUT'::text])));

CREATE INDEX run_created ON spool.run USING btree (tenant, created_at, id);

CREATE INDEX run_nested ON spool.run USING btree (tenant, thread_id, root_id, ord) WHERE (root_id <> ''::text);

CREATE UNIQUE INDEX run_start_key ON spool.run USING btree (tenant, start_key) WHERE (start_key <> ''::text);

CREATE INDEX run_state ON spool.run USING btree (tenant, state, created_at, id);

CREATE UNIQUE INDEX run_thread ON spool.run USING btree (tenant, thread_id, ord);

CREATE INDEX run_waiting ON spool.run USING btree (tenant, thread_id, place) WHERE (place > 0);

CREATE INDEX stream_over ON spool.stream USING btree (hour, expires_at);

CREATE INDEX thread_active ON spool.thread USING btree (updated_at) WHERE (state = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'WAITING_FOR_INPUT'::text]));

CREATE INDEX thread_idle ON spool.thread USING btree (updated_at) WHERE (state = ANY (ARRAY['IDLE'::text, 'COMPLETED'::text, 'CANCELLED'::text, 'FAILED'::text]));

CREATE INDEX thread_owner ON spool.thread USING btree (tenant, owner, updated_at, id) WHERE (owner <> ''::text);

CREATE INDEX thread_updated ON spool.thread USING btree (tenant, updated_at, id);

CREATE INDEX usage_run ON spool.usage USING btree (tenant, thread_id, run_id, ord);

ALTER INDEX spool.stream_item_pkey ATTACH PARTITION spool.stream_item_498736_pkey;

CREATE TRIGGER audit_is_kept BEFORE UPDATE ON spool.audit FOR EACH ROW EXECUTE FUNCTION spool.audit_is_kept();

CREATE TRIGGER delete_deltas AFTER DELETE ON spool.thread FOR EACH ROW EXECUTE FUNCTION spool.delete_deltas();
