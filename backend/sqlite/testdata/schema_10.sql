-- A database of schema 10, the last one from before there was a list of migrations: a run that
-- is done, runs that wait for a person (alone, half answered, below another run, and with a run
-- in line behind them), one that is queued, and two that were running when the process was
-- killed: in a model's answer, and in a call of a tool. TestUpgrade says which is which.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE thread (
    tenant      TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    model       TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    run_id      TEXT    NOT NULL,
    last_seq    INTEGER NOT NULL,
    fence       INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
INSERT INTO thread VALUES('default','cut','RUNNING','m','touch',1893553445000006,1893553445000006,'cut-touc',1,1,1893553475000006);
INSERT INTO thread VALUES('default','done','COMPLETED','m','hello',1893553445000006,1893553445000006,'done-hell',2,1,0);
INSERT INTO thread VALUES('default','half','WAITING_FOR_INPUT','m','send two',1893553445000006,1893553445000006,'half-send',5,1,0);
INSERT INTO thread VALUES('default','line','WAITING_FOR_INPUT','m','send mail',1893553445000006,1893553445000006,'line-send',3,1,0);
INSERT INTO thread VALUES('default','nested','WAITING_FOR_INPUT','m','delegate',1893553445000006,1893553445000006,'nested-dele',3,1,0);
INSERT INTO thread VALUES('default','parked','WAITING_FOR_INPUT','m','send mail',1893553445000006,1893553445000006,'parked-send',3,1,0);
INSERT INTO thread VALUES('default','queued','QUEUED','m','hello',1893553445000006,1893553445000006,'queued-hell',0,0,0);
INSERT INTO thread VALUES('default','running','RUNNING','m','look slowly',1893553445000006,1893553445000006,'running-look',1,1,1893553475000006);
CREATE TABLE run (
    tenant              TEXT    NOT NULL,
    id                  TEXT    NOT NULL,
    thread_id           TEXT    NOT NULL,
    ord                 INTEGER NOT NULL, -- order of insertion in the thread, from 1
    parent_id           TEXT    NOT NULL,
    depth               INTEGER NOT NULL,
    agent               TEXT    NOT NULL,
    model               TEXT    NOT NULL,
    state               TEXT    NOT NULL,
    stop_reason         TEXT    NOT NULL,
    error               TEXT    NOT NULL,
    enqueued_at         INTEGER NOT NULL,
    started_at          INTEGER NOT NULL,
    ended_at            INTEGER NOT NULL,
    max_steps           INTEGER NOT NULL,
    steps               INTEGER NOT NULL,
    attempts            INTEGER NOT NULL,
    input_tokens        INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens       INTEGER NOT NULL,
    total_tokens        INTEGER NOT NULL,
    segments            INTEGER NOT NULL,
    deaths              INTEGER NOT NULL,
    saved_fence         INTEGER NOT NULL,
    saved_n             INTEGER NOT NULL,
    stop_at             INTEGER NOT NULL,
    draft               TEXT    NOT NULL, -- JSON
    start_key           TEXT    NOT NULL,
    settled_at          INTEGER NOT NULL,
    settle_claim        INTEGER NOT NULL,
    ending              TEXT    NOT NULL, place INTEGER NOT NULL DEFAULT 0, wait TEXT NOT NULL DEFAULT '', root_id TEXT NOT NULL DEFAULT '', nested TEXT NOT NULL DEFAULT '', children INTEGER NOT NULL DEFAULT 0, host_state TEXT NOT NULL DEFAULT '', started_by TEXT NOT NULL DEFAULT '', created_at INTEGER NOT NULL DEFAULT 0, cost_micros INTEGER NOT NULL DEFAULT 0, currency TEXT NOT NULL DEFAULT '', allowance TEXT NOT NULL DEFAULT '', context TEXT NOT NULL DEFAULT '', -- JSON
    PRIMARY KEY (tenant, id)
) STRICT;
INSERT INTO run VALUES('default','done-hell','done',1,'',0,'a','m','COMPLETED','completed','',1893553445000006,1893553445000006,1893553445000006,0,1,0,0,0,0,0,1,0,1,4,0,'','done-hell',0,0,'',0,'','','',0,'','',1893553445000006,0,'','','');
INSERT INTO run VALUES('default','parked-send','parked',1,'',0,'a','m','WAITING_FOR_INPUT','','',1893553445000006,1893553445000006,0,0,1,0,0,0,0,0,1,0,1,5,0,'','parked-send',0,0,'',0,'','','',0,'','',1893553445000006,0,'','','');
INSERT INTO run VALUES('default','half-send','half',1,'',0,'a','m','WAITING_FOR_INPUT','','',1893553445000006,1893553445000006,0,0,1,0,0,0,0,0,1,0,1,9,0,'','half-send',0,0,'',0,'','','',0,'','',1893553445000006,0,'','','');
INSERT INTO run VALUES('default','nested-dele','nested',1,'',0,'a','m','WAITING_FOR_INPUT','','',1893553445000006,1893553445000006,0,0,1,0,0,0,0,0,1,0,1,11,0,'','nested-dele',0,0,'',0,'','','',1,'','',1893553445000006,0,'','','');
INSERT INTO run VALUES('default','line-send','line',1,'',0,'a','m','WAITING_FOR_INPUT','','',1893553445000006,1893553445000006,0,0,1,0,0,0,0,0,1,0,1,5,0,'','line-send',0,0,'',0,'','','',0,'','',1893553445000006,0,'','','');
INSERT INTO run VALUES('default','sub_gqc4e48rdc1by9pvg78rjgbc3c','nested',2,'nested-dele',1,'helper','m','WAITING_FOR_INPUT','','',0,1893553445000006,0,0,1,0,0,0,0,0,1,0,1,10,0,'','',0,0,'',0,'','nested-dele','{"callId":"c1","prompt":"send for me"}',0,'','',1893553445000006,0,'','','');
INSERT INTO run VALUES('default','line-next','line',2,'',0,'a','m','QUEUED','','',1893553445000006,1893553445000006,0,0,0,0,0,0,0,0,0,0,0,0,0,'','line-next',0,0,'',4294967297,'{"whenBusy":"enqueue","position":1,"content":"next"}','','',0,'','',1893553445000006,0,'','','');
INSERT INTO run VALUES('default','running-look','running',1,'',0,'a','m','RUNNING','','',1893553445000006,1893553445000006,0,0,1,0,0,0,0,0,1,0,1,6,0,'','running-look',0,0,'',0,'','','',0,'','',1893553445000006,0,'','','');
INSERT INTO run VALUES('default','cut-touc','cut',1,'',0,'a','m','RUNNING','','',1893553445000006,1893553445000006,0,0,0,0,0,0,0,0,1,0,0,0,0,'{"message":{"id":"","threadId":"","role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"touch","args":{}}],"createdAt":"0001-01-01T00:00:00Z","agentId":null},"usage":{"inputTokens":0,"cachedInputTokens":0,"outputTokens":0,"totalTokens":0}}','cut-touc',0,0,'',0,'','','',0,'','',1893553445000006,0,'','','');
INSERT INTO run VALUES('default','queued-hell','queued',1,'',0,'a','m','QUEUED','','',1893553445000006,1893553445000006,0,0,0,0,0,0,0,0,0,0,0,0,0,'','queued-hell',0,0,'',0,'','','',0,'','',1893553445000006,0,'','','');
CREATE TABLE message (
    tenant            TEXT    NOT NULL,
    thread_id         TEXT    NOT NULL,
    ord               INTEGER NOT NULL, -- order in the thread, from 1
    id                TEXT    NOT NULL,
    agent_id          TEXT    NOT NULL,
    role              TEXT    NOT NULL,
    content           TEXT    NOT NULL, -- JSON, in its wire form
    created_at        INTEGER NOT NULL,
    client_message_id TEXT    NOT NULL,
    run_id            TEXT    NOT NULL,
    after_seq         INTEGER NOT NULL, -- never falls as ord rises
    dropped           INTEGER,          -- the seq of the edit that took it out of view
    PRIMARY KEY (tenant, thread_id, ord)
) STRICT, WITHOUT ROWID;
INSERT INTO message VALUES('default','cut',1,'msg_06h0545ved62av36kyprm9jkrc','','user','"touch"',1893553445000006,'','cut-touc',0,NULL);
INSERT INTO message VALUES('default','done',1,'msg_06h0545tnmbcre5njx557dfzz8','','user','"hello"',1893553445000006,'','done-hell',0,NULL);
INSERT INTO message VALUES('default','done',2,'msg_06h0545tq6d44fz4yga5jt06sc','','assistant','"hi"',1893553445000006,'','done-hell',1,NULL);
INSERT INTO message VALUES('default','half',1,'msg_06h0545tsd0j03ntafsxsw0z28','','user','"send two"',1893553445000006,'','half-send',0,NULL);
INSERT INTO message VALUES('default','half',2,'msg_06h0545tx7e23w0nk9hdhh836g','','assistant','[{"type":"tool-call","toolCallId":"c1","toolName":"send","args":{"to":"ann"}},{"type":"tool-call","toolCallId":"c2","toolName":"send","args":{"to":"bob"}}]',1893553445000006,'','half-send',1,NULL);
INSERT INTO message VALUES('default','line',1,'msg_06h0545tw2hbksqjzgvekzdb2g','','user','"send mail"',1893553445000006,'','line-send',0,NULL);
INSERT INTO message VALUES('default','line',2,'msg_06h0545v6w3ggscctnqmhk6ww4','','assistant','[{"type":"tool-call","toolCallId":"c1","toolName":"send","args":{"to":"ann"}}]',1893553445000006,'','line-send',1,NULL);
INSERT INTO message VALUES('default','nested',1,'msg_06h0545tsgjjrpcmvj04tx93xr','','user','"delegate"',1893553445000006,'','nested-dele',0,NULL);
INSERT INTO message VALUES('default','nested',2,'msg_06h0545v68ps5mw00xaagjxb8c','sub_gqc4e48rdc1by9pvg78rjgbc3c','user','"send for me"',1893553445000006,'','sub_gqc4e48rdc1by9pvg78rjgbc3c',1,NULL);
INSERT INTO message VALUES('default','nested',3,'msg_06h0545v9p799x8wx1wzp7gevr','sub_gqc4e48rdc1by9pvg78rjgbc3c','assistant','[{"type":"tool-call","toolCallId":"c1-jgbc3c","toolName":"send","args":{"to":"eve"}}]',1893553445000006,'','sub_gqc4e48rdc1by9pvg78rjgbc3c',1,NULL);
INSERT INTO message VALUES('default','nested',4,'msg_06h0545vash8qgcj1h4pvnws5g','','assistant','[{"type":"tool-call","toolCallId":"c1","toolName":"spawnSubagent","args":{"name":"helper","instructions":"send for me"}}]',1893553445000006,'','nested-dele',1,NULL);
INSERT INTO message VALUES('default','parked',1,'msg_06h0545trwwwdgdndj4x5rrc6r','','user','"send mail"',1893553445000006,'','parked-send',0,NULL);
INSERT INTO message VALUES('default','parked',2,'msg_06h0545txbxh52h9g89zwysv58','','assistant','[{"type":"tool-call","toolCallId":"c1","toolName":"send","args":{"to":"ann"}}]',1893553445000006,'','parked-send',1,NULL);
INSERT INTO message VALUES('default','queued',1,'msg_06h0545zcdqtkrt94eafatx0xc','','user','"hello"',1893553445000006,'','queued-hell',0,NULL);
INSERT INTO message VALUES('default','running',1,'msg_06h0545vebgp6eara91zpq01hg','','user','"look slowly"',1893553445000006,'','running-look',0,NULL);
INSERT INTO message VALUES('default','running',2,'msg_06h0545vf961rjeh9mqgmba42m','','assistant','[{"type":"tool-call","toolCallId":"c1","toolName":"look","args":{}}]',1893553445000006,'','running-look',1,NULL);
INSERT INTO message VALUES('default','running',3,'msg_06h0545vf8sc30jjz5p9g66430','','tool','[{"type":"tool-result","toolCallId":"c1","toolName":"look","result":"look"}]',1893553445000006,'','running-look',1,NULL);
CREATE TABLE entry (
    tenant      TEXT    NOT NULL,
    thread_id   TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    type        TEXT    NOT NULL,
    run_id      TEXT    NOT NULL,
    payload     TEXT    NOT NULL, -- JSON
    created_at  INTEGER NOT NULL,
    stream      TEXT    NOT NULL,
    after_fence INTEGER NOT NULL,
    after_n     INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO entry VALUES('default','cut',1,'RUN_STARTED','cut-touc','{"runId":"cut-touc","streamId":"cut-touc:1","segment":1}',1893553445000006,'',0,0);
INSERT INTO entry VALUES('default','done',1,'RUN_STARTED','done-hell','{"runId":"done-hell","streamId":"done-hell:1","segment":1}',1893553445000006,'',0,0);
INSERT INTO entry VALUES('default','done',2,'RUN_ENDED','done-hell','{"runId":"done-hell","streamId":"done-hell:1","segment":1,"status":"finished"}',1893553445000006,'done-hell:1',1,6);
INSERT INTO entry VALUES('default','half',1,'RUN_STARTED','half-send','{"runId":"half-send","streamId":"half-send:1","segment":1}',1893553445000006,'',0,0);
INSERT INTO entry VALUES('default','half',2,'INPUT_REQUIRED','half-send','{"toolCallId":"c1","toolName":"send","agentId":null,"arguments":{"to":"ann"},"inputSchema":{"type":"object"},"frames":[],"reason":"approval","digest":"sha256:951aa301441b06e55b917e5a1748177767f50758d1454e6b1044729476726e38","expiresAt":"2030-01-02T03:19:05.000006Z"}',1893553445000006,'half-send:1',1,10);
INSERT INTO entry VALUES('default','half',3,'INPUT_REQUIRED','half-send','{"toolCallId":"c2","toolName":"send","agentId":null,"arguments":{"to":"bob"},"inputSchema":{"type":"object"},"frames":[],"reason":"approval","digest":"sha256:8c4cb9745c7d0b44315e76f5cb1c3c5ae23925641265068a9b2785b0c80837ab","expiresAt":"2030-01-02T03:19:05.000006Z"}',1893553445000006,'half-send:1',1,10);
INSERT INTO entry VALUES('default','half',4,'RUN_ENDED','half-send','{"runId":"half-send","streamId":"half-send:1","segment":1,"status":"parked"}',1893553445000006,'half-send:1',1,13);
INSERT INTO entry VALUES('default','half',5,'HITL_RESPONSE','half-send','{"toolCallId":"c1","approved":true,"answeredBy":"ann","digest":"sha256:951aa301441b06e55b917e5a1748177767f50758d1454e6b1044729476726e38"}',1893553445000006,'',0,0);
INSERT INTO entry VALUES('default','line',1,'RUN_STARTED','line-send','{"runId":"line-send","streamId":"line-send:1","segment":1}',1893553445000006,'',0,0);
INSERT INTO entry VALUES('default','line',2,'INPUT_REQUIRED','line-send','{"toolCallId":"c1","toolName":"send","agentId":null,"arguments":{"to":"ann"},"inputSchema":{"type":"object"},"frames":[],"reason":"approval","digest":"sha256:98d7a395d1844ff20082d9c3c6df82d9709c18cbf533228efa20f017ab6bf5eb","expiresAt":"2030-01-02T03:19:05.000006Z"}',1893553445000006,'line-send:1',1,6);
INSERT INTO entry VALUES('default','line',3,'RUN_ENDED','line-send','{"runId":"line-send","streamId":"line-send:1","segment":1,"status":"parked"}',1893553445000006,'line-send:1',1,8);
INSERT INTO entry VALUES('default','nested',1,'RUN_STARTED','nested-dele','{"runId":"nested-dele","streamId":"nested-dele:1","segment":1}',1893553445000006,'',0,0);
INSERT INTO entry VALUES('default','nested',2,'INPUT_REQUIRED','nested-dele','{"toolCallId":"c1-jgbc3c","toolName":"send","agentId":"sub_gqc4e48rdc1by9pvg78rjgbc3c","arguments":{"to":"eve"},"inputSchema":{"type":"object"},"frames":[{"agentId":null,"toolCallId":"c1"}],"nested":{"agentId":"sub_gqc4e48rdc1by9pvg78rjgbc3c","name":"helper","model":"m","depth":1},"reason":"approval","digest":"sha256:f74682b6ea7d48c293d7712f27f78209391f42c71f74f436a7d77ab2fe5ff886","expiresAt":"2030-01-02T03:19:05.000006Z"}',1893553445000006,'nested-dele:1',1,12);
INSERT INTO entry VALUES('default','nested',3,'RUN_ENDED','nested-dele','{"runId":"nested-dele","streamId":"nested-dele:1","segment":1,"status":"parked"}',1893553445000006,'nested-dele:1',1,14);
INSERT INTO entry VALUES('default','parked',1,'RUN_STARTED','parked-send','{"runId":"parked-send","streamId":"parked-send:1","segment":1}',1893553445000006,'',0,0);
INSERT INTO entry VALUES('default','parked',2,'INPUT_REQUIRED','parked-send','{"toolCallId":"c1","toolName":"send","agentId":null,"arguments":{"to":"ann"},"inputSchema":{"type":"object"},"frames":[],"reason":"approval","digest":"sha256:e595705dcc64d8a6f11dc272cfcc1b52e1543c5e5b52510d6209bad906c61b17","expiresAt":"2030-01-02T03:19:05.000006Z"}',1893553445000006,'parked-send:1',1,6);
INSERT INTO entry VALUES('default','parked',3,'RUN_ENDED','parked-send','{"runId":"parked-send","streamId":"parked-send:1","segment":1,"status":"parked"}',1893553445000006,'parked-send:1',1,8);
INSERT INTO entry VALUES('default','running',1,'RUN_STARTED','running-look','{"runId":"running-look","streamId":"running-look:1","segment":1}',1893553445000006,'',0,0);
CREATE TABLE park (
    tenant       TEXT    NOT NULL,
    thread_id    TEXT    NOT NULL,
    run_id       TEXT    NOT NULL,
    tool_call_id TEXT    NOT NULL,
    ord          INTEGER NOT NULL, -- order of creation in the run, from 1
    tool_name    TEXT    NOT NULL,
    step         INTEGER NOT NULL,
    args         TEXT    NOT NULL, -- JSON
    shown        TEXT    NOT NULL, -- JSON
    reason       TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    answer       TEXT    NOT NULL, -- JSON
    before       TEXT    NOT NULL, -- JSON
    landed       INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL, digest TEXT NOT NULL DEFAULT '', expiry TEXT NOT NULL DEFAULT '', warned INTEGER NOT NULL DEFAULT 0, agent_id TEXT NOT NULL DEFAULT '', frames TEXT NOT NULL DEFAULT '', distinct_approver INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, thread_id, run_id, tool_call_id)
) STRICT, WITHOUT ROWID;
INSERT INTO park VALUES('default','half','half-send','c1',1,'send',1,'{"to":"ann"}','','approval','answered','{"approved":true,"digest":"sha256:951aa301441b06e55b917e5a1748177767f50758d1454e6b1044729476726e38","by":"ann","at":"2030-01-02T03:04:05.000006Z"}','',0,1893553445000006,1893554345000006,'sha256:951aa301441b06e55b917e5a1748177767f50758d1454e6b1044729476726e38','{"then":"deny","ttl":900000000000,"warn":180000000000}',0,'','',0);
INSERT INTO park VALUES('default','half','half-send','c2',2,'send',1,'{"to":"bob"}','','approval','open','','',0,1893553445000006,1893554345000006,'sha256:8c4cb9745c7d0b44315e76f5cb1c3c5ae23925641265068a9b2785b0c80837ab','{"then":"deny","ttl":900000000000,"warn":180000000000}',0,'','',0);
INSERT INTO park VALUES('default','line','line-send','c1',1,'send',1,'{"to":"ann"}','','approval','open','','',0,1893553445000006,1893554345000006,'sha256:98d7a395d1844ff20082d9c3c6df82d9709c18cbf533228efa20f017ab6bf5eb','{"then":"deny","ttl":900000000000,"warn":180000000000}',0,'','',0);
INSERT INTO park VALUES('default','nested','nested-dele','c1-jgbc3c',1,'send',1,'{"to":"eve"}','','approval','open','','',0,1893553445000006,1893554345000006,'sha256:f74682b6ea7d48c293d7712f27f78209391f42c71f74f436a7d77ab2fe5ff886','{"then":"deny","ttl":900000000000,"warn":180000000000}',0,'sub_gqc4e48rdc1by9pvg78rjgbc3c','[{"agentId":null,"toolCallId":"c1"}]',0);
INSERT INTO park VALUES('default','parked','parked-send','c1',1,'send',1,'{"to":"ann"}','','approval','open','','',0,1893553445000006,1893554345000006,'sha256:e595705dcc64d8a6f11dc272cfcc1b52e1543c5e5b52510d6209bad906c61b17','{"then":"deny","ttl":900000000000,"warn":180000000000}',0,'','',0);
CREATE TABLE effect (
    tenant       TEXT    NOT NULL,
    thread_id    TEXT    NOT NULL,
    run_id       TEXT    NOT NULL,
    step         INTEGER NOT NULL,
    tool_call_id TEXT    NOT NULL,
    ord          INTEGER NOT NULL, -- order of the first put in the step, from 1
    state        TEXT    NOT NULL,
    result       TEXT    NOT NULL, -- JSON
    PRIMARY KEY (tenant, thread_id, run_id, step, tool_call_id)
) STRICT, WITHOUT ROWID;
INSERT INTO effect VALUES('default','cut','cut-touc',1,'c1',1,'pending','');
INSERT INTO effect VALUES('default','nested','nested-dele',1,'c1',1,'waiting','');
INSERT INTO effect VALUES('default','running','running-look',1,'c1',1,'done','"look"');
CREATE TABLE usage (
    tenant      TEXT    NOT NULL,
    thread_id   TEXT    NOT NULL,
    ord         INTEGER NOT NULL,
    run_id      TEXT    NOT NULL,
    agent_id    TEXT    NOT NULL,
    agent       TEXT    NOT NULL,
    step        INTEGER NOT NULL,
    model       TEXT    NOT NULL,
    model_id    TEXT    NOT NULL,
    outcome     TEXT    NOT NULL,
    input       INTEGER,
    cache_read  INTEGER,
    cache_write INTEGER,
    output      INTEGER,
    reasoning   INTEGER,
    created_at  INTEGER NOT NULL, kind TEXT NOT NULL DEFAULT 'step', guess_input INTEGER, guess_output INTEGER, cost INTEGER, currency TEXT NOT NULL DEFAULT '', cost_source TEXT NOT NULL DEFAULT '', price_version TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, thread_id, ord)
) STRICT, WITHOUT ROWID;
INSERT INTO usage VALUES('default','cut',1,'cut-touc','','a',1,'m','scripted-1','finished',NULL,NULL,NULL,NULL,NULL,1893553445000006,'step',NULL,NULL,NULL,'','','');
INSERT INTO usage VALUES('default','done',1,'done-hell','','a',1,'m','scripted-1','finished',NULL,NULL,NULL,NULL,NULL,1893553445000006,'step',NULL,NULL,NULL,'','','');
INSERT INTO usage VALUES('default','half',1,'half-send','','a',1,'m','scripted-1','finished',NULL,NULL,NULL,NULL,NULL,1893553445000006,'step',NULL,NULL,NULL,'','','');
INSERT INTO usage VALUES('default','line',1,'line-send','','a',1,'m','scripted-1','finished',NULL,NULL,NULL,NULL,NULL,1893553445000006,'step',NULL,NULL,NULL,'','','');
INSERT INTO usage VALUES('default','nested',1,'nested-dele','','a',1,'m','scripted-1','finished',NULL,NULL,NULL,NULL,NULL,1893553445000006,'step',NULL,NULL,NULL,'','','');
INSERT INTO usage VALUES('default','nested',2,'nested-dele','sub_gqc4e48rdc1by9pvg78rjgbc3c','helper',1,'m','scripted-1','finished',NULL,NULL,NULL,NULL,NULL,1893553445000006,'step',NULL,NULL,NULL,'','','');
INSERT INTO usage VALUES('default','parked',1,'parked-send','','a',1,'m','scripted-1','finished',NULL,NULL,NULL,NULL,NULL,1893553445000006,'step',NULL,NULL,NULL,'','','');
INSERT INTO usage VALUES('default','running',1,'running-look','','a',1,'m','scripted-1','finished',NULL,NULL,NULL,NULL,NULL,1893553445000006,'step',NULL,NULL,NULL,'','','');
CREATE TABLE job (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant    TEXT    NOT NULL,
    thread_id TEXT    NOT NULL,
    run_id    TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    segment   INTEGER NOT NULL,
    due_at    INTEGER NOT NULL,
    claimed   INTEGER NOT NULL,
    token     INTEGER NOT NULL,
    attempts  INTEGER NOT NULL
, first_due INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO job VALUES(7,'default','half','half-send','hitl-expiry:half-send:c2','expiry','a','m',0,1893554165000006,0,0,0,1893554165000006);
INSERT INTO job VALUES(8,'default','parked','parked-send','hitl-expiry:parked-send:c1','expiry','a','m',0,1893554165000006,0,0,0,1893554165000006);
INSERT INTO job VALUES(9,'default','line','line-send','hitl-expiry:line-send:c1','expiry','a','m',0,1893554165000006,0,0,0,1893554165000006);
INSERT INTO job VALUES(10,'default','nested','nested-dele','hitl-expiry:nested-dele:c1-jgbc3c','expiry','a','m',0,1893554165000006,0,0,0,1893554165000006);
INSERT INTO job VALUES(11,'default','running','running-look','run:running-look:1','start','a','m',1,1893553475000006,1,1,1,1893553445000006);
INSERT INTO job VALUES(12,'default','cut','cut-touc','run:cut-touc:1','start','a','m',1,1893553475000006,1,1,1,1893553445000006);
INSERT INTO job VALUES(13,'default','queued','queued-hell','run:queued-hell:1','start','a','m',1,1893553445000006,0,0,0,1893553445000006);
CREATE TABLE job_dead (
    tenant    TEXT    NOT NULL,
    ord       INTEGER NOT NULL, -- order of death in the tenant, from 1
    id        INTEGER NOT NULL,
    thread_id TEXT    NOT NULL,
    run_id    TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    segment   INTEGER NOT NULL,
    due_at    INTEGER NOT NULL,
    attempts  INTEGER NOT NULL,
    cause     TEXT    NOT NULL,
    died_at   INTEGER NOT NULL,
    PRIMARY KEY (tenant, ord)
) STRICT, WITHOUT ROWID;
CREATE TABLE branch (
    tenant     TEXT    NOT NULL,
    thread_id  TEXT    NOT NULL,
    id         INTEGER NOT NULL, -- what its messages have in dropped
    base       TEXT    NOT NULL,
    run_id     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE tally (
    tenant              TEXT    NOT NULL,
    state               TEXT    NOT NULL,
    n                   INTEGER NOT NULL,
    input_tokens        INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens       INTEGER NOT NULL,
    total_tokens        INTEGER NOT NULL,
    PRIMARY KEY (tenant, state)
) STRICT, WITHOUT ROWID;
INSERT INTO tally VALUES('default','',8,0,0,0,0);
INSERT INTO tally VALUES('default','COMPLETED',1,0,0,0,0);
INSERT INTO tally VALUES('default','QUEUED',2,0,0,0,0);
INSERT INTO tally VALUES('default','RUNNING',2,0,0,0,0);
INSERT INTO tally VALUES('default','WAITING_FOR_INPUT',5,0,0,0,0);
CREATE TABLE IF NOT EXISTS "usage_line" (
    tenant       TEXT    NOT NULL,
    thread_id    TEXT    NOT NULL,
    agent_id     TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    model_id     TEXT    NOT NULL,
    currency     TEXT    NOT NULL,
    ord          INTEGER NOT NULL, -- of the first row in the ledger
    input        INTEGER NOT NULL,
    cache_read   INTEGER NOT NULL,
    cache_write  INTEGER NOT NULL,
    output       INTEGER NOT NULL,
    reasoning    INTEGER NOT NULL,
    calls        INTEGER NOT NULL,
    estimated    INTEGER NOT NULL, -- calls with a guess
    guess_input  INTEGER NOT NULL,
    guess_output INTEGER NOT NULL,
    cost         INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, agent_id, agent, model, model_id, currency)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_line VALUES('default','cut','','a','m','scripted-1','',1,0,0,0,0,0,1,0,0,0,0);
INSERT INTO usage_line VALUES('default','done','','a','m','scripted-1','',1,0,0,0,0,0,1,0,0,0,0);
INSERT INTO usage_line VALUES('default','half','','a','m','scripted-1','',1,0,0,0,0,0,1,0,0,0,0);
INSERT INTO usage_line VALUES('default','line','','a','m','scripted-1','',1,0,0,0,0,0,1,0,0,0,0);
INSERT INTO usage_line VALUES('default','nested','','a','m','scripted-1','',1,0,0,0,0,0,1,0,0,0,0);
INSERT INTO usage_line VALUES('default','nested','sub_gqc4e48rdc1by9pvg78rjgbc3c','helper','m','scripted-1','',2,0,0,0,0,0,1,0,0,0,0);
INSERT INTO usage_line VALUES('default','parked','','a','m','scripted-1','',1,0,0,0,0,0,1,0,0,0,0);
INSERT INTO usage_line VALUES('default','running','','a','m','scripted-1','',1,0,0,0,0,0,1,0,0,0,0);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('job',13);
CREATE INDEX thread_updated ON thread (tenant, updated_at, id);
CREATE INDEX thread_active ON thread (lease_until)
    WHERE state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT');
CREATE UNIQUE INDEX run_thread ON run (tenant, thread_id, ord);
CREATE UNIQUE INDEX run_start_key ON run (tenant, start_key) WHERE start_key <> '';
CREATE INDEX entry_type ON entry (tenant, thread_id, type, seq);
CREATE INDEX entry_run ON entry (tenant, thread_id, run_id, seq);
CREATE UNIQUE INDEX job_key ON job (tenant, key) WHERE key <> '';
CREATE INDEX job_due ON job (due_at, id);
CREATE INDEX job_run ON job (tenant, thread_id, run_id);
CREATE INDEX job_dead_thread ON job_dead (tenant, thread_id);
CREATE UNIQUE INDEX run_active ON run (tenant, thread_id)
    WHERE depth = 0 AND place = 0 AND state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT');
CREATE INDEX run_waiting ON run (tenant, thread_id, place) WHERE place > 0;
CREATE INDEX run_nested ON run (tenant, thread_id, root_id, ord) WHERE root_id <> '';
CREATE UNIQUE INDEX message_id ON message (tenant, thread_id, id);
CREATE INDEX message_branch ON message (tenant, thread_id, dropped, ord) WHERE dropped IS NOT NULL;
CREATE INDEX run_created ON run (tenant, created_at, id);
CREATE INDEX run_state ON run (tenant, state, created_at, id);
CREATE INDEX thread_idle ON thread (updated_at) WHERE state IN ('IDLE', 'COMPLETED', 'CANCELLED', 'FAILED');
CREATE INDEX job_first_due ON job (tenant, first_due, id);
CREATE INDEX job_dead_died ON job_dead (tenant, died_at, id);
CREATE UNIQUE INDEX job_dead_id ON job_dead (tenant, id);
CREATE TRIGGER tally_thread_made AFTER INSERT ON thread BEGIN
    INSERT INTO tally VALUES (NEW.tenant, '', 1, 0, 0, 0, 0)
        ON CONFLICT (tenant, state) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER tally_thread_gone AFTER DELETE ON thread BEGIN
    UPDATE tally SET n = n - 1 WHERE tenant = OLD.tenant AND state = '';
END;
CREATE TRIGGER tally_run_made AFTER INSERT ON run BEGIN
    INSERT INTO tally
        VALUES (NEW.tenant, NEW.state, 1,
            iif(NEW.depth = 0, NEW.input_tokens, 0), iif(NEW.depth = 0, NEW.cached_input_tokens, 0),
            iif(NEW.depth = 0, NEW.output_tokens, 0), iif(NEW.depth = 0, NEW.total_tokens, 0))
        ON CONFLICT (tenant, state) DO UPDATE SET
            n = n + 1,
            input_tokens = input_tokens + excluded.input_tokens,
            cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = output_tokens + excluded.output_tokens,
            total_tokens = total_tokens + excluded.total_tokens;
END;
CREATE TRIGGER tally_run_changed
    AFTER UPDATE OF state, input_tokens, cached_input_tokens, output_tokens, total_tokens ON run
    WHEN OLD.state <> NEW.state OR OLD.input_tokens <> NEW.input_tokens
        OR OLD.cached_input_tokens <> NEW.cached_input_tokens
        OR OLD.output_tokens <> NEW.output_tokens OR OLD.total_tokens <> NEW.total_tokens
BEGIN
    UPDATE tally SET
        n = n - 1,
        input_tokens = input_tokens - iif(OLD.depth = 0, OLD.input_tokens, 0),
        cached_input_tokens = cached_input_tokens - iif(OLD.depth = 0, OLD.cached_input_tokens, 0),
        output_tokens = output_tokens - iif(OLD.depth = 0, OLD.output_tokens, 0),
        total_tokens = total_tokens - iif(OLD.depth = 0, OLD.total_tokens, 0)
        WHERE tenant = OLD.tenant AND state = OLD.state;
    INSERT INTO tally
        VALUES (NEW.tenant, NEW.state, 1,
            iif(NEW.depth = 0, NEW.input_tokens, 0), iif(NEW.depth = 0, NEW.cached_input_tokens, 0),
            iif(NEW.depth = 0, NEW.output_tokens, 0), iif(NEW.depth = 0, NEW.total_tokens, 0))
        ON CONFLICT (tenant, state) DO UPDATE SET
            n = n + 1,
            input_tokens = input_tokens + excluded.input_tokens,
            cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = output_tokens + excluded.output_tokens,
            total_tokens = total_tokens + excluded.total_tokens;
END;
CREATE TRIGGER tally_run_gone AFTER DELETE ON run BEGIN
    UPDATE tally SET
        n = n - 1,
        input_tokens = input_tokens - iif(OLD.depth = 0, OLD.input_tokens, 0),
        cached_input_tokens = cached_input_tokens - iif(OLD.depth = 0, OLD.cached_input_tokens, 0),
        output_tokens = output_tokens - iif(OLD.depth = 0, OLD.output_tokens, 0),
        total_tokens = total_tokens - iif(OLD.depth = 0, OLD.total_tokens, 0)
        WHERE tenant = OLD.tenant AND state = OLD.state;
END;
CREATE INDEX usage_run ON usage (tenant, thread_id, run_id, ord);
COMMIT;
PRAGMA user_version = 10;
