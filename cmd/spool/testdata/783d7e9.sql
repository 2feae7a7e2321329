-- The database that `spool serve` of commit 783d7e9 (schema 10) left behind when it was killed
-- with SIGKILL. TestOldDatabase says what each thread was doing and what becomes of it.
PRAGMA user_version = 10;
PRAGMA application_id = 0;
BEGIN TRANSACTION;
CREATE TABLE branch (
    tenant     TEXT    NOT NULL,
    thread_id  TEXT    NOT NULL,
    id         INTEGER NOT NULL, -- what its messages have in dropped
    base       TEXT    NOT NULL,
    run_id     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO "branch" VALUES('default','done',5,'msg_06h0a9s37pgnthgmmccqdkr7p8','d3',1795382781886018);
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
INSERT INTO "effect" VALUES('default','answered','a1',1,'demo_e96192807051_1',1,'done','{"pretended":"No email was sent to x@b.c: this tool is a demo."}');
INSERT INTO "effect" VALUES('default','nested','n1',1,'demo_8862cc18adc9_1',1,'done','{"agentId":"sub_w5vx9jqdq9ehe8p97b89je78bw","result":"(demo model, not a language model) clock answered: {\"time\":\"2026-11-22T21:26:24Z\"}."}');
INSERT INTO "effect" VALUES('default','nested','n1',1,'demo_8862cc18adc9_2',2,'waiting','');
INSERT INTO "effect" VALUES('default','nested','sub_w5vx9jqdq9ehe8p97b89je78bw',1,'demo_4af86a750b50_1-je78bw',1,'done','{"time":"2026-11-22T21:26:24Z"}');
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
INSERT INTO "entry" VALUES('default','answered',1,'RUN_STARTED','a1','{"runId":"a1","streamId":"a1:1","segment":1}',1795382782939457,'',0,0);
INSERT INTO "entry" VALUES('default','answered',2,'INPUT_REQUIRED','a1','{"toolCallId":"demo_e96192807051_1","toolName":"send_email","agentId":null,"arguments":{"to":"x@b.c"},"inputSchema":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to"],"additionalProperties":false},"frames":[],"reason":"approval","digest":"sha256:89b633284051468a13fd1054fd7a1832073b5b36f426c906f927f85840f3f0f0","expiresAt":"2026-11-22T21:41:23.465783Z"}',1795382783465783,'a1:1',1,25);
INSERT INTO "entry" VALUES('default','answered',3,'RUN_ENDED','a1','{"runId":"a1","streamId":"a1:1","segment":1,"status":"parked"}',1795382783465783,'a1:1',1,27);
INSERT INTO "entry" VALUES('default','answered',4,'HITL_RESPONSE','a1','{"toolCallId":"demo_e96192807051_1","approved":true,"digest":"sha256:89b633284051468a13fd1054fd7a1832073b5b36f426c906f927f85840f3f0f0"}',1795382786087001,'',0,0);
INSERT INTO "entry" VALUES('default','answered',5,'RUN_STARTED','a1','{"runId":"a1","streamId":"a1:2","segment":2}',1795382786091373,'',0,0);
INSERT INTO "entry" VALUES('default','answered',6,'INPUT_REQUIRED','a1','{"toolCallId":"demo_e23f811d4580_1","toolName":"send_email","agentId":null,"arguments":{"to":"y@b.c"},"inputSchema":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to"],"additionalProperties":false},"frames":[],"reason":"approval","digest":"sha256:cf5b2530d9ccfd0c319cfbbfe10644d00b3d3462b4a7e7ca1751049187210ee1","expiresAt":"2026-11-22T21:41:26.615807Z"}',1795382786615807,'a1:2',2,27);
INSERT INTO "entry" VALUES('default','answered',7,'RUN_ENDED','a1','{"runId":"a1","streamId":"a1:2","segment":2,"status":"parked"}',1795382786615807,'a1:2',2,29);
INSERT INTO "entry" VALUES('default','budget',1,'RUN_STARTED','b1','{"runId":"b1","streamId":"b1:1","segment":1}',1795382788110346,'',0,0);
INSERT INTO "entry" VALUES('default','budget',2,'TOKEN_BUDGET_EXHAUSTED','b1','{"agentId":null,"tokensUsed":0,"tokenBudget":100}',1795382788111734,'b1:1',1,1);
INSERT INTO "entry" VALUES('default','budget',3,'RUN_ENDED','b1','{"runId":"b1","streamId":"b1:1","segment":1,"status":"finished"}',1795382788111734,'b1:1',1,2);
INSERT INTO "entry" VALUES('default','deepslow',1,'RUN_STARTED','z1','{"runId":"z1","streamId":"z1:1","segment":1}',1795382788159995,'',0,0);
INSERT INTO "entry" VALUES('default','done',1,'RUN_STARTED','d1','{"runId":"d1","streamId":"d1:1","segment":1}',1795382779725352,'',0,0);
INSERT INTO "entry" VALUES('default','done',2,'RUN_ENDED','d1','{"runId":"d1","streamId":"d1:1","segment":1,"status":"finished"}',1795382780732673,'d1:1',1,40);
INSERT INTO "entry" VALUES('default','done',3,'RUN_STARTED','d2','{"runId":"d2","streamId":"d2:1","segment":1}',1795382780738176,'',0,0);
INSERT INTO "entry" VALUES('default','done',4,'RUN_ENDED','d2','{"runId":"d2","streamId":"d2:1","segment":1,"status":"finished"}',1795382781777197,'d2:1',2,41);
INSERT INTO "entry" VALUES('default','done',5,'MESSAGES_DROPPED','d3','{"fromMessageId":"msg_06h0a9s3826pppfx1a8av35vmm"}',1795382781886018,'',0,0);
INSERT INTO "entry" VALUES('default','done',6,'RUN_STARTED','d3','{"runId":"d3","streamId":"d3:1","segment":1}',1795382781888815,'',0,0);
INSERT INTO "entry" VALUES('default','done',7,'RUN_ENDED','d3','{"runId":"d3","streamId":"d3:1","segment":1,"status":"finished"}',1795382782899369,'d3:1',3,40);
INSERT INTO "entry" VALUES('default','nested',1,'RUN_STARTED','n1','{"runId":"n1","streamId":"n1:1","segment":1}',1795382782919319,'',0,0);
INSERT INTO "entry" VALUES('default','nested',2,'INPUT_REQUIRED','n1','{"toolCallId":"demo_65af4f4cd701_1-hnf9a8","toolName":"send_email","agentId":"sub_psha3wq4dwytsp5cdpjshnf9a8","arguments":{"to":"n@b.c"},"inputSchema":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to"],"additionalProperties":false},"frames":[{"agentId":null,"toolCallId":"demo_8862cc18adc9_2"}],"nested":{"agentId":"sub_psha3wq4dwytsp5cdpjshnf9a8","name":"mailer","model":"demo","depth":1},"reason":"approval","digest":"sha256:d2c22e7d90b2f706aa6488e8c0799914c9e4e68b8dd75b8a0a89c279535c4751","expiresAt":"2026-11-22T21:41:24.771822Z"}',1795382784771822,'n1:1',1,111);
INSERT INTO "entry" VALUES('default','nested',3,'RUN_ENDED','n1','{"runId":"n1","streamId":"n1:1","segment":1,"status":"parked"}',1795382784771822,'n1:1',1,113);
INSERT INTO "entry" VALUES('default','parked',1,'RUN_STARTED','p1','{"runId":"p1","streamId":"p1:1","segment":1}',1795382782907160,'',0,0);
INSERT INTO "entry" VALUES('default','parked',2,'INPUT_REQUIRED','p1','{"toolCallId":"demo_be7298b16151_1","toolName":"send_email","agentId":null,"arguments":{"to":"a@b.c"},"inputSchema":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to"],"additionalProperties":false},"frames":[],"reason":"approval","digest":"sha256:d3352354271e570aeff144312b9c00ad01fa414dd484bb683fb10db62b0fee84","expiresAt":"2026-11-22T21:41:23.44341Z"}',1795382783443410,'p1:1',1,25);
INSERT INTO "entry" VALUES('default','parked',3,'RUN_ENDED','p1','{"runId":"p1","streamId":"p1:1","segment":1,"status":"parked"}',1795382783443410,'p1:1',1,27);
INSERT INTO "entry" VALUES('default','q1',1,'RUN_STARTED','q1','{"runId":"q1","streamId":"q1:1","segment":1}',1795382790173756,'',0,0);
INSERT INTO "entry" VALUES('default','q10',1,'RUN_STARTED','q10','{"runId":"q10","streamId":"q10:1","segment":1}',1795382790274559,'',0,0);
INSERT INTO "entry" VALUES('default','q11',1,'RUN_STARTED','q11','{"runId":"q11","streamId":"q11:1","segment":1}',1795382790286385,'',0,0);
INSERT INTO "entry" VALUES('default','q12',1,'RUN_STARTED','q12','{"runId":"q12","streamId":"q12:1","segment":1}',1795382790295727,'',0,0);
INSERT INTO "entry" VALUES('default','q13',1,'RUN_STARTED','q13','{"runId":"q13","streamId":"q13:1","segment":1}',1795382790307581,'',0,0);
INSERT INTO "entry" VALUES('default','q14',1,'RUN_STARTED','q14','{"runId":"q14","streamId":"q14:1","segment":1}',1795382790317175,'',0,0);
INSERT INTO "entry" VALUES('default','q2',1,'RUN_STARTED','q2','{"runId":"q2","streamId":"q2:1","segment":1}',1795382790185969,'',0,0);
INSERT INTO "entry" VALUES('default','q3',1,'RUN_STARTED','q3','{"runId":"q3","streamId":"q3:1","segment":1}',1795382790197931,'',0,0);
INSERT INTO "entry" VALUES('default','q4',1,'RUN_STARTED','q4','{"runId":"q4","streamId":"q4:1","segment":1}',1795382790208733,'',0,0);
INSERT INTO "entry" VALUES('default','q5',1,'RUN_STARTED','q5','{"runId":"q5","streamId":"q5:1","segment":1}',1795382790220473,'',0,0);
INSERT INTO "entry" VALUES('default','q6',1,'RUN_STARTED','q6','{"runId":"q6","streamId":"q6:1","segment":1}',1795382790232652,'',0,0);
INSERT INTO "entry" VALUES('default','q7',1,'RUN_STARTED','q7','{"runId":"q7","streamId":"q7:1","segment":1}',1795382790244535,'',0,0);
INSERT INTO "entry" VALUES('default','q8',1,'RUN_STARTED','q8','{"runId":"q8","streamId":"q8:1","segment":1}',1795382790254346,'',0,0);
INSERT INTO "entry" VALUES('default','q9',1,'RUN_STARTED','q9','{"runId":"q9","streamId":"q9:1","segment":1}',1795382790265795,'',0,0);
INSERT INTO "entry" VALUES('default','running',1,'RUN_STARTED','r1','{"runId":"r1","streamId":"r1:1","segment":1}',1795382788132840,'',0,0);
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
INSERT INTO "job" VALUES(7,'default','parked','p1','hitl-expiry:p1:demo_be7298b16151_1','expiry','assistant','demo',0,1795383503443410,0,0,0,1795383503443410);
INSERT INTO "job" VALUES(9,'default','nested','n1','hitl-expiry:n1:demo_65af4f4cd701_1-hnf9a8','expiry','assistant','demo',0,1795383504771822,0,0,0,1795383504771822);
INSERT INTO "job" VALUES(11,'default','answered','a1','hitl-expiry:a1:demo_e23f811d4580_1','expiry','assistant','demo',0,1795383506615807,0,0,0,1795383506615807);
INSERT INTO "job" VALUES(13,'default','running','r1','run:r1:1','start','assistant','demo',1,1795382818131297,1,1,1,1795382788122167);
INSERT INTO "job" VALUES(14,'default','deepslow','z1','run:z1:1','start','assistant','demo',1,1795382818155569,1,1,1,1795382788147756);
INSERT INTO "job" VALUES(15,'default','q1','q1','run:q1:1','start','assistant','demo',1,1795382820171001,1,1,1,1795382790169928);
INSERT INTO "job" VALUES(16,'default','q2','q2','run:q2:1','start','assistant','demo',1,1795382820184159,1,1,1,1795382790182479);
INSERT INTO "job" VALUES(17,'default','q3','q3','run:q3:1','start','assistant','demo',1,1795382820196984,1,1,1,1795382790195586);
INSERT INTO "job" VALUES(18,'default','q4','q4','run:q4:1','start','assistant','demo',1,1795382820207483,1,1,1,1795382790206224);
INSERT INTO "job" VALUES(19,'default','q5','q5','run:q5:1','start','assistant','demo',1,1795382820219864,1,1,1,1795382790218309);
INSERT INTO "job" VALUES(20,'default','q6','q6','run:q6:1','start','assistant','demo',1,1795382820232089,1,1,1,1795382790230585);
INSERT INTO "job" VALUES(21,'default','q7','q7','run:q7:1','start','assistant','demo',1,1795382820242672,1,1,1,1795382790241427);
INSERT INTO "job" VALUES(22,'default','q8','q8','run:q8:1','start','assistant','demo',1,1795382820252956,1,1,1,1795382790251741);
INSERT INTO "job" VALUES(23,'default','q9','q9','run:q9:1','start','assistant','demo',1,1795382820265054,1,1,1,1795382790262471);
INSERT INTO "job" VALUES(24,'default','q10','q10','run:q10:1','start','assistant','demo',1,1795382820274029,1,1,1,1795382790272874);
INSERT INTO "job" VALUES(25,'default','q11','q11','run:q11:1','start','assistant','demo',1,1795382820284465,1,1,1,1795382790282922);
INSERT INTO "job" VALUES(26,'default','q12','q12','run:q12:1','start','assistant','demo',1,1795382820295080,1,1,1,1795382790293988);
INSERT INTO "job" VALUES(27,'default','q13','q13','run:q13:1','start','assistant','demo',1,1795382820305634,1,1,1,1795382790304329);
INSERT INTO "job" VALUES(28,'default','q14','q14','run:q14:1','start','assistant','demo',1,1795382820315896,1,1,1,1795382790314658);
INSERT INTO "job" VALUES(29,'default','q15','q15','run:q15:1','start','assistant','demo',1,1795382790325023,0,0,0,1795382790325023);
INSERT INTO "job" VALUES(30,'default','q16','q16','run:q16:1','start','assistant','demo',1,1795382790334744,0,0,0,1795382790334744);
INSERT INTO "job" VALUES(31,'default','q17','q17','run:q17:1','start','assistant','demo',1,1795382790345186,0,0,0,1795382790345186);
INSERT INTO "job" VALUES(32,'default','q18','q18','run:q18:1','start','assistant','demo',1,1795382790355591,0,0,0,1795382790355591);
INSERT INTO "job" VALUES(33,'default','q19','q19','run:q19:1','start','assistant','demo',1,1795382790365758,0,0,0,1795382790365758);
INSERT INTO "job" VALUES(34,'default','q20','q20','run:q20:1','start','assistant','demo',1,1795382790375527,0,0,0,1795382790375527);
INSERT INTO "job" VALUES(35,'default','q21','q21','run:q21:1','start','assistant','demo',1,1795382790385287,0,0,0,1795382790385287);
INSERT INTO "job" VALUES(36,'default','q22','q22','run:q22:1','start','assistant','demo',1,1795382790394746,0,0,0,1795382790394746);
INSERT INTO "job" VALUES(37,'default','q23','q23','run:q23:1','start','assistant','demo',1,1795382790405379,0,0,0,1795382790405379);
INSERT INTO "job" VALUES(38,'default','q24','q24','run:q24:1','start','assistant','demo',1,1795382790414532,0,0,0,1795382790414532);
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
INSERT INTO "message" VALUES('default','answered',1,'msg_06h0a9sbswc3vdtshnkpcyfexm','','user','"use send_email with {\"to\":\"x@b.c\"} then use send_email with {\"to\":\"y@b.c\"}"',1795382782926934,'','a1',0,NULL);
INSERT INTO "message" VALUES('default','answered',2,'msg_06h0a9sdx7eb9h97cc4ddm3e70','','assistant','[{"type":"reasoning","text":"I was asked for 1 tool call.","provider":{"demo":"e96192807051"}},{"type":"text","text":"(demo model, not a language model) I call send_email."},{"type":"tool-call","toolCallId":"demo_e96192807051_1","toolName":"send_email","args":{"to":"x@b.c"}}]',1795382783465783,'','a1',1,NULL);
INSERT INTO "message" VALUES('default','answered',3,'msg_06h0a9sr5txvqd3hyba2ngwzwg','','tool','[{"type":"tool-result","toolCallId":"demo_e96192807051_1","toolName":"send_email","result":{"pretended":"No email was sent to x@b.c: this tool is a demo."}}]',1795382786094124,'','a1',5,NULL);
INSERT INTO "message" VALUES('default','answered',4,'msg_06h0a9st6z8573hmd77r72v02w','','assistant','[{"type":"reasoning","text":"I was asked for 1 tool call.","provider":{"demo":"e23f811d4580"}},{"type":"text","text":"(demo model, not a language model) I call send_email."},{"type":"tool-call","toolCallId":"demo_e23f811d4580_1","toolName":"send_email","args":{"to":"y@b.c"}}]',1795382786615807,'','a1',5,NULL);
INSERT INTO "message" VALUES('default','budget',1,'msg_06h0a9t01gt8hvjje2awceqxs4','','user','"slow 300"',1795382788107821,'','b1',0,NULL);
INSERT INTO "message" VALUES('default','deepslow',1,'msg_06h0a9t06d3zvmarwevp90mvfw','','user','"ask researcher to slow 500"',1795382788147756,'','z1',0,NULL);
INSERT INTO "message" VALUES('default','deepslow',2,'msg_06h0a9t2dhy7mgx5eqj411r87c','sub_ag9763xh0wzxz07n8jjh6n6c50','user','"slow 500"',1795382788716137,'','sub_ag9763xh0wzxz07n8jjh6n6c50',1,NULL);
INSERT INTO "message" VALUES('default','done',1,'msg_06h0a9rz9a8fv54e36zymf9s0m','','user','"hello"',1795382779721865,'','d1',0,NULL);
INSERT INTO "message" VALUES('default','done',2,'msg_06h0a9s37pgnthgmmccqdkr7p8','','assistant','[{"type":"reasoning","text":"I was not asked to use a tool, so I repeat the prompt.","provider":{"demo":"90be13862539"}},{"type":"text","text":"(demo model, not a language model) You said: hello\n\nTo see a tool at work, write: use clock with {}"}]',1795382780732673,'','d1',1,NULL);
INSERT INTO "message" VALUES('default','done',3,'msg_06h0a9s3826pppfx1a8av35vmm','','user','"hello again"',1795382780736634,'','d2',2,5);
INSERT INTO "message" VALUES('default','done',4,'msg_06h0a9s7a6by6ygt9m7049qy8r','','assistant','[{"type":"reasoning","text":"I was not asked to use a tool, so I repeat the prompt.","provider":{"demo":"44e1b640c696"}},{"type":"text","text":"(demo model, not a language model) You said: hello again\n\nTo see a tool at work, write: use clock with {}"}]',1795382781777197,'','d2',3,5);
INSERT INTO "message" VALUES('default','done',5,'msg_06h0a9s7qve9g6zxj2ffrbjpyc','','user','"edited"',1795382781886018,'','d3',5,NULL);
INSERT INTO "message" VALUES('default','done',6,'msg_06h0a9sbpfecd9y5jj39nwy6sg','','assistant','[{"type":"reasoning","text":"I was not asked to use a tool, so I repeat the prompt.","provider":{"demo":"51d0354b53a8"}},{"type":"text","text":"(demo model, not a language model) You said: edited\n\nTo see a tool at work, write: use clock with {}"}]',1795382782899369,'','d3',6,NULL);
INSERT INTO "message" VALUES('default','nested',1,'msg_06h0a9sbrj7r3psk5tcs4z1gng','','user','"ask researcher to use clock and ask mailer to use send_email with {\"to\":\"n@b.c\"}"',1795382782916782,'','n1',0,NULL);
INSERT INTO "message" VALUES('default','nested',2,'msg_06h0a9senx47tmj2x0yc9db42m','sub_w5vx9jqdq9ehe8p97b89je78bw','user','"use clock"',1795382783662813,'','sub_w5vx9jqdq9ehe8p97b89je78bw',1,NULL);
INSERT INTO "message" VALUES('default','nested',3,'msg_06h0a9sep0670cxqwqj6fnphz0','sub_psha3wq4dwytsp5cdpjshnf9a8','user','"use send_email with {\"to\":\"n@b.c\"}"',1795382783663970,'','sub_psha3wq4dwytsp5cdpjshnf9a8',1,NULL);
INSERT INTO "message" VALUES('default','nested',4,'msg_06h0a9sgq98g1adnjg5thsr0q0','sub_psha3wq4dwytsp5cdpjshnf9a8','assistant','[{"type":"reasoning","text":"I was asked for 1 tool call.","provider":{"demo":"65af4f4cd701"}},{"type":"text","text":"(demo model, not a language model) I call send_email."},{"type":"tool-call","toolCallId":"demo_65af4f4cd701_1-hnf9a8","toolName":"send_email","args":{"to":"n@b.c"}}]',1795382784186783,'','sub_psha3wq4dwytsp5cdpjshnf9a8',1,NULL);
INSERT INTO "message" VALUES('default','nested',5,'msg_06h0a9sgqkrw3egr9jz34k51qc','sub_w5vx9jqdq9ehe8p97b89je78bw','assistant','[{"type":"reasoning","text":"I was asked for 1 tool call.","provider":{"demo":"4af86a750b50"}},{"type":"text","text":"(demo model, not a language model) I call clock."},{"type":"tool-call","toolCallId":"demo_4af86a750b50_1-je78bw","toolName":"clock","args":{}}]',1795382784187958,'','sub_w5vx9jqdq9ehe8p97b89je78bw',1,NULL);
INSERT INTO "message" VALUES('default','nested',6,'msg_06h0a9sgqhsnh85gr99728rhhg','sub_w5vx9jqdq9ehe8p97b89je78bw','tool','[{"type":"tool-result","toolCallId":"demo_4af86a750b50_1-je78bw","toolName":"clock","result":{"time":"2026-11-22T21:26:24Z"}}]',1795382784187958,'','sub_w5vx9jqdq9ehe8p97b89je78bw',1,NULL);
INSERT INTO "message" VALUES('default','nested',7,'msg_06h0a9sk0bz8barpg4m5r89288','sub_w5vx9jqdq9ehe8p97b89je78bw','assistant','[{"type":"reasoning","text":"I have 1 tool result and tell what they say.","provider":{"demo":"a8c1e12b7c79"}},{"type":"text","text":"(demo model, not a language model) clock answered: {\"time\":\"2026-11-22T21:26:24Z\"}."}]',1795382784769909,'','sub_w5vx9jqdq9ehe8p97b89je78bw',1,NULL);
INSERT INTO "message" VALUES('default','nested',8,'msg_06h0a9sk0d7v5qg1kwaehvkg54','','assistant','[{"type":"reasoning","text":"I was asked for 2 tool calls.","provider":{"demo":"8862cc18adc9"}},{"type":"text","text":"(demo model, not a language model) I call spawnSubagent and spawnSubagent."},{"type":"tool-call","toolCallId":"demo_8862cc18adc9_1","toolName":"spawnSubagent","args":{"instructions":"use clock","name":"researcher"}},{"type":"tool-call","toolCallId":"demo_8862cc18adc9_2","toolName":"spawnSubagent","args":{"instructions":"use send_email with {\"to\":\"n@b.c\"}","name":"mailer"}}]',1795382784771822,'','n1',1,NULL);
INSERT INTO "message" VALUES('default','nested',9,'msg_06h0a9sk0fjmrntfkp1c55ewwr','','tool','[{"type":"tool-result","toolCallId":"demo_8862cc18adc9_1","toolName":"spawnSubagent","result":{"agentId":"sub_w5vx9jqdq9ehe8p97b89je78bw","result":"(demo model, not a language model) clock answered: {\"time\":\"2026-11-22T21:26:24Z\"}."}}]',1795382784771822,'','n1',1,NULL);
INSERT INTO "message" VALUES('default','parked',1,'msg_06h0a9sbpzd1w6r4y46r5fnpzm','','user','"use send_email with {\"to\":\"a@b.c\"}"',1795382782903518,'','p1',0,NULL);
INSERT INTO "message" VALUES('default','parked',2,'msg_06h0a9sdtf7x1jj5jpmyeqmq7c','','assistant','[{"type":"reasoning","text":"I was asked for 1 tool call.","provider":{"demo":"be7298b16151"}},{"type":"text","text":"(demo model, not a language model) I call send_email."},{"type":"tool-call","toolCallId":"demo_be7298b16151_1","toolName":"send_email","args":{"to":"a@b.c"}}]',1795382783443410,'','p1',1,NULL);
INSERT INTO "message" VALUES('default','q1',1,'msg_06h0a9t83a24dshbqh3msgd9gg','','user','"slow 1000"',1795382790169928,'','q1',0,NULL);
INSERT INTO "message" VALUES('default','q10',1,'msg_06h0a9t8g5sbt4smy9rx0v789g','','user','"slow 1000"',1795382790272874,'','q10',0,NULL);
INSERT INTO "message" VALUES('default','q11',1,'msg_06h0a9t8hcz2maz1rcfxhjp10g','','user','"slow 1000"',1795382790282922,'','q11',0,NULL);
INSERT INTO "message" VALUES('default','q12',1,'msg_06h0a9t8jt6kjqsp6jxq0nw6fm','','user','"slow 1000"',1795382790293988,'','q12',0,NULL);
INSERT INTO "message" VALUES('default','q13',1,'msg_06h0a9t8m0e1kj5fb34xzn3an4','','user','"slow 1000"',1795382790304329,'','q13',0,NULL);
INSERT INTO "message" VALUES('default','q14',1,'msg_06h0a9t8n927a69pjkry2h2gp4','','user','"slow 1000"',1795382790314658,'','q14',0,NULL);
INSERT INTO "message" VALUES('default','q15',1,'msg_06h0a9t8ppg6b9taz9kpww9cj0','','user','"slow 1000"',1795382790325023,'','q15',0,NULL);
INSERT INTO "message" VALUES('default','q16',1,'msg_06h0a9t8qszy0frgpms24n4y70','','user','"slow 1000"',1795382790334744,'','q16',0,NULL);
INSERT INTO "message" VALUES('default','q17',1,'msg_06h0a9t8s5yt3t8w69zyg3es3m','','user','"slow 1000"',1795382790345186,'','q17',0,NULL);
INSERT INTO "message" VALUES('default','q18',1,'msg_06h0a9t8te3t4kjqx087kp6gqm','','user','"slow 1000"',1795382790355591,'','q18',0,NULL);
INSERT INTO "message" VALUES('default','q19',1,'msg_06h0a9t8vpk9brzcywfa99v8aw','','user','"slow 1000"',1795382790365758,'','q19',0,NULL);
INSERT INTO "message" VALUES('default','q2',1,'msg_06h0a9t84vf6jfvxa035bf3w3w','','user','"slow 1000"',1795382790182479,'','q2',0,NULL);
INSERT INTO "message" VALUES('default','q20',1,'msg_06h0a9t8wwxdxy4h7mc7gamj74','','user','"slow 1000"',1795382790375527,'','q20',0,NULL);
INSERT INTO "message" VALUES('default','q21',1,'msg_06h0a9t8y5hp5396aqbxr00x4g','','user','"slow 1000"',1795382790385287,'','q21',0,NULL);
INSERT INTO "message" VALUES('default','q22',1,'msg_06h0a9t8z8my0z2860b4xjgc5g','','user','"slow 1000"',1795382790394746,'','q22',0,NULL);
INSERT INTO "message" VALUES('default','q23',1,'msg_06h0a9t90qemsmec06efjdx5gw','','user','"slow 1000"',1795382790405379,'','q23',0,NULL);
INSERT INTO "message" VALUES('default','q24',1,'msg_06h0a9t91tcrce9f2gekp2e840','','user','"slow 1000"',1795382790414532,'','q24',0,NULL);
INSERT INTO "message" VALUES('default','q3',1,'msg_06h0a9t86ey1th8vhfkq7e5ms8','','user','"slow 1000"',1795382790195586,'','q3',0,NULL);
INSERT INTO "message" VALUES('default','q4',1,'msg_06h0a9t87s6e6rvwfjfswmm41c','','user','"slow 1000"',1795382790206224,'','q4',0,NULL);
INSERT INTO "message" VALUES('default','q5',1,'msg_06h0a9t898sb9r27xepf5ht1a4','','user','"slow 1000"',1795382790218309,'','q5',0,NULL);
INSERT INTO "message" VALUES('default','q6',1,'msg_06h0a9t8avbb5fnsy70575x61r','','user','"slow 1000"',1795382790230585,'','q6',0,NULL);
INSERT INTO "message" VALUES('default','q7',1,'msg_06h0a9t8c44wkp6ja4bnrkpay8','','user','"slow 1000"',1795382790241427,'','q7',0,NULL);
INSERT INTO "message" VALUES('default','q8',1,'msg_06h0a9t8dd70wjpx0cjpvvvbbr','','user','"slow 1000"',1795382790251741,'','q8',0,NULL);
INSERT INTO "message" VALUES('default','q9',1,'msg_06h0a9t8etg859xvnc28je2czc','','user','"slow 1000"',1795382790262471,'','q9',0,NULL);
INSERT INTO "message" VALUES('default','running',1,'msg_06h0a9t03b78amweengsct04q4','','user','"slow 1000"',1795382788122167,'','r1',0,NULL);
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
INSERT INTO "park" VALUES('default','answered','a1','demo_e23f811d4580_1',2,'send_email',2,'{"to":"y@b.c"}','','approval','open','','',0,1795382786615807,1795383686615807,'sha256:cf5b2530d9ccfd0c319cfbbfe10644d00b3d3462b4a7e7ca1751049187210ee1','{"then":"deny","ttl":900000000000,"warn":180000000000}',0,'','',0);
INSERT INTO "park" VALUES('default','answered','a1','demo_e96192807051_1',1,'send_email',1,'{"to":"x@b.c"}','','approval','answered','{"approved":true,"digest":"sha256:89b633284051468a13fd1054fd7a1832073b5b36f426c906f927f85840f3f0f0","at":"2026-11-22T21:26:26.087001Z"}','',1,1795382783465783,1795383683465783,'sha256:89b633284051468a13fd1054fd7a1832073b5b36f426c906f927f85840f3f0f0','{"then":"deny","ttl":900000000000,"warn":180000000000}',0,'','',0);
INSERT INTO "park" VALUES('default','nested','n1','demo_65af4f4cd701_1-hnf9a8',1,'send_email',1,'{"to":"n@b.c"}','','approval','open','','',0,1795382784771822,1795383684771822,'sha256:d2c22e7d90b2f706aa6488e8c0799914c9e4e68b8dd75b8a0a89c279535c4751','{"then":"deny","ttl":900000000000,"warn":180000000000}',0,'sub_psha3wq4dwytsp5cdpjshnf9a8','[{"agentId":null,"toolCallId":"demo_8862cc18adc9_2"}]',0);
INSERT INTO "park" VALUES('default','parked','p1','demo_be7298b16151_1',1,'send_email',1,'{"to":"a@b.c"}','','approval','open','','',0,1795382783443410,1795383683443410,'sha256:d3352354271e570aeff144312b9c00ad01fa414dd484bb683fb10db62b0fee84','{"then":"deny","ttl":900000000000,"warn":180000000000}',0,'','',0);
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
INSERT INTO "run" VALUES('default','d1','done',1,'',0,'assistant','demo','COMPLETED','completed','',1795382779721865,1795382779725352,1795382780732673,0,1,0,100,0,33,133,1,0,1,38,0,'','',0,0,'',0,'','','',0,'','',1795382779721865,0,'','','{"tokens":100,"answer":33,"bytes":1102,"messages":1,"lastMessageId":"msg_06h0a9rz9a8fv54e36zymf9s0m"}');
INSERT INTO "run" VALUES('default','d2','done',2,'',0,'assistant','demo','COMPLETED','completed','',1795382780736634,1795382780738176,1795382781777197,0,1,0,135,133,34,169,1,0,2,39,0,'','',0,0,'',0,'','','',0,'','',1795382780736634,0,'','','{"tokens":135,"answer":34,"bytes":1290,"messages":3,"lastMessageId":"msg_06h0a9s3826pppfx1a8av35vmm"}');
INSERT INTO "run" VALUES('default','d3','done',3,'',0,'assistant','demo','COMPLETED','completed','',1795382781886018,1795382781888815,1795382782899369,0,1,0,134,133,33,167,1,0,3,38,0,'','',0,0,'',0,'','','',0,'','',1795382781886018,0,'','','{"tokens":134,"answer":33,"bytes":1285,"messages":3,"lastMessageId":"msg_06h0a9s7qve9g6zxj2ffrbjpyc"}');
INSERT INTO "run" VALUES('default','p1','parked',1,'',0,'assistant','demo','WAITING_FOR_INPUT','','',1795382782903518,1795382782907160,0,0,1,0,103,0,17,120,1,0,1,24,0,'','',0,0,'',0,'','','',0,'','',1795382782903518,0,'','','{"tokens":103,"answer":17,"bytes":1131,"messages":1,"lastMessageId":"msg_06h0a9sbpzd1w6r4y46r5fnpzm"}');
INSERT INTO "run" VALUES('default','n1','nested',1,'',0,'assistant','demo','WAITING_FOR_INPUT','','',1795382782916782,1795382782919319,0,0,1,0,323,0,77,400,1,0,1,110,0,'','',0,0,'',0,'','','',2,'','',1795382782916782,0,'','','{"tokens":112,"answer":24,"bytes":1177,"messages":1,"lastMessageId":"msg_06h0a9sbrj7r3psk5tcs4z1gng"}');
INSERT INTO "run" VALUES('default','a1','answered',1,'',0,'assistant','demo','WAITING_FOR_INPUT','','',1795382782926934,1795382782939457,0,0,2,0,246,0,34,280,2,0,2,26,0,'','',0,0,'',0,'','','',0,'','',1795382782926934,0,'','','{"tokens":138,"answer":17,"bytes":1412,"messages":3,"lastMessageId":"msg_06h0a9sr5txvqd3hyba2ngwzwg"}');
INSERT INTO "run" VALUES('default','sub_w5vx9jqdq9ehe8p97b89je78bw','nested',2,'n1',1,'researcher','demo','COMPLETED','completed','',0,1795382783662813,1795382784769909,0,2,0,192,0,36,228,1,0,1,107,0,'','',0,0,'',0,'','n1','{"callId":"demo_8862cc18adc9_1","prompt":"use clock","result":{"text":"(demo model, not a language model) clock answered: {\"time\":\"2026-11-22T21:26:24Z\"}."}}',0,'','',1795382783662813,0,'','','{"tokens":106,"answer":19,"bytes":1063,"messages":3,"lastMessageId":"msg_06h0a9sgqhsnh85gr99728rhhg"}');
INSERT INTO "run" VALUES('default','sub_psha3wq4dwytsp5cdpjshnf9a8','nested',3,'n1',1,'mailer','demo','WAITING_FOR_INPUT','','',0,1795382783663970,0,0,1,0,19,0,17,36,1,0,1,81,0,'','',0,0,'',0,'','n1','{"callId":"demo_8862cc18adc9_2","prompt":"use send_email with {\"to\":\"n@b.c\"}"}',0,'','',1795382783663970,0,'','','{"tokens":19,"answer":17,"bytes":275,"messages":1,"lastMessageId":"msg_06h0a9sep0670cxqwqj6fnphz0"}');
INSERT INTO "run" VALUES('default','b1','budget',1,'',0,'assistant','demo','COMPLETED','token_budget','',1795382788107821,1795382788110346,1795382788111734,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382788107821,0,'','{"budget":{"tokens":100},"spent":{"wallTime":1388000}}','');
INSERT INTO "run" VALUES('default','r1','running',1,'',0,'assistant','demo','RUNNING','','',1795382788122167,1795382788132840,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382788122167,0,'','','');
INSERT INTO "run" VALUES('default','r2','running',2,'',0,'assistant','demo','QUEUED','','',1795382788134125,1795382788134125,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',4294967297,'{"whenBusy":"enqueue","position":1,"content":"waits in line"}','','',0,'','',1795382788134125,0,'','','');
INSERT INTO "run" VALUES('default','z1','deepslow',1,'',0,'assistant','demo','RUNNING','','',1795382788147756,1795382788159995,0,0,0,0,0,0,0,0,1,0,0,0,0,'{"message":{"id":"","threadId":"","role":"assistant","content":[{"type":"reasoning","text":"I was asked for 1 tool call.","provider":{"demo":"ea3dbf257a39"}},{"type":"text","text":"(demo model, not a language model) I call spawnSubagent."},{"type":"tool-call","toolCallId":"demo_ea3dbf257a39_1","toolName":"spawnSubagent","args":{"instructions":"slow 500","name":"researcher"}}],"createdAt":"0001-01-01T00:00:00Z","agentId":null},"usage":{"inputTokens":104,"cachedInputTokens":0,"outputTokens":18,"totalTokens":122}}','',0,0,'',0,'','','',1,'','',1795382788147756,0,'','','{"tokens":104,"answer":18,"bytes":1123,"messages":1,"lastMessageId":"msg_06h0a9t06d3zvmarwevp90mvfw"}');
INSERT INTO "run" VALUES('default','sub_ag9763xh0wzxz07n8jjh6n6c50','deepslow',2,'z1',1,'researcher','demo','RUNNING','','',0,1795382788716137,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','z1','{"callId":"demo_ea3dbf257a39_1","prompt":"slow 500"}',0,'','',1795382788716137,0,'','','');
INSERT INTO "run" VALUES('default','q1','q1',1,'',0,'assistant','demo','RUNNING','','',1795382790169928,1795382790173756,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790169928,0,'','','');
INSERT INTO "run" VALUES('default','q2','q2',1,'',0,'assistant','demo','RUNNING','','',1795382790182479,1795382790185969,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790182479,0,'','','');
INSERT INTO "run" VALUES('default','q3','q3',1,'',0,'assistant','demo','RUNNING','','',1795382790195586,1795382790197931,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790195586,0,'','','');
INSERT INTO "run" VALUES('default','q4','q4',1,'',0,'assistant','demo','RUNNING','','',1795382790206224,1795382790208733,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790206224,0,'','','');
INSERT INTO "run" VALUES('default','q5','q5',1,'',0,'assistant','demo','RUNNING','','',1795382790218309,1795382790220473,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790218309,0,'','','');
INSERT INTO "run" VALUES('default','q6','q6',1,'',0,'assistant','demo','RUNNING','','',1795382790230585,1795382790232652,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790230585,0,'','','');
INSERT INTO "run" VALUES('default','q7','q7',1,'',0,'assistant','demo','RUNNING','','',1795382790241427,1795382790244535,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790241427,0,'','','');
INSERT INTO "run" VALUES('default','q8','q8',1,'',0,'assistant','demo','RUNNING','','',1795382790251741,1795382790254346,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790251741,0,'','','');
INSERT INTO "run" VALUES('default','q9','q9',1,'',0,'assistant','demo','RUNNING','','',1795382790262471,1795382790265795,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790262471,0,'','','');
INSERT INTO "run" VALUES('default','q10','q10',1,'',0,'assistant','demo','RUNNING','','',1795382790272874,1795382790274559,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790272874,0,'','','');
INSERT INTO "run" VALUES('default','q11','q11',1,'',0,'assistant','demo','RUNNING','','',1795382790282922,1795382790286385,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790282922,0,'','','');
INSERT INTO "run" VALUES('default','q12','q12',1,'',0,'assistant','demo','RUNNING','','',1795382790293988,1795382790295727,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790293988,0,'','','');
INSERT INTO "run" VALUES('default','q13','q13',1,'',0,'assistant','demo','RUNNING','','',1795382790304329,1795382790307581,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790304329,0,'','','');
INSERT INTO "run" VALUES('default','q14','q14',1,'',0,'assistant','demo','RUNNING','','',1795382790314658,1795382790317175,0,0,0,0,0,0,0,0,1,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790314658,0,'','','');
INSERT INTO "run" VALUES('default','q15','q15',1,'',0,'assistant','demo','QUEUED','','',1795382790325023,1795382790325023,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790325023,0,'','','');
INSERT INTO "run" VALUES('default','q16','q16',1,'',0,'assistant','demo','QUEUED','','',1795382790334744,1795382790334744,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790334744,0,'','','');
INSERT INTO "run" VALUES('default','q17','q17',1,'',0,'assistant','demo','QUEUED','','',1795382790345186,1795382790345186,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790345186,0,'','','');
INSERT INTO "run" VALUES('default','q18','q18',1,'',0,'assistant','demo','QUEUED','','',1795382790355591,1795382790355591,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790355591,0,'','','');
INSERT INTO "run" VALUES('default','q19','q19',1,'',0,'assistant','demo','QUEUED','','',1795382790365758,1795382790365758,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790365758,0,'','','');
INSERT INTO "run" VALUES('default','q20','q20',1,'',0,'assistant','demo','QUEUED','','',1795382790375527,1795382790375527,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790375527,0,'','','');
INSERT INTO "run" VALUES('default','q21','q21',1,'',0,'assistant','demo','QUEUED','','',1795382790385287,1795382790385287,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790385287,0,'','','');
INSERT INTO "run" VALUES('default','q22','q22',1,'',0,'assistant','demo','QUEUED','','',1795382790394746,1795382790394746,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790394746,0,'','','');
INSERT INTO "run" VALUES('default','q23','q23',1,'',0,'assistant','demo','QUEUED','','',1795382790405379,1795382790405379,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790405379,0,'','','');
INSERT INTO "run" VALUES('default','q24','q24',1,'',0,'assistant','demo','QUEUED','','',1795382790414532,1795382790414532,0,0,0,0,0,0,0,0,0,0,0,0,0,'','',0,0,'',0,'','','',0,'','',1795382790414532,0,'','','');
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
INSERT INTO "tally" VALUES('default','',31,0,0,0,0);
INSERT INTO "tally" VALUES('default','COMPLETED',5,369,266,100,469);
INSERT INTO "tally" VALUES('default','QUEUED',11,0,0,0,0);
INSERT INTO "tally" VALUES('default','RUNNING',17,0,0,0,0);
INSERT INTO "tally" VALUES('default','WAITING_FOR_INPUT',4,672,0,128,800);
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
INSERT INTO "thread" VALUES('default','answered','WAITING_FOR_INPUT','demo','use send_email with {"to":"x@b.c"} then use send_email with {"to":"y@b.c"}',1795382782926934,1795382786615807,'a1',7,2,0);
INSERT INTO "thread" VALUES('default','budget','COMPLETED','demo','slow 300',1795382788107821,1795382788111734,'b1',3,1,0);
INSERT INTO "thread" VALUES('default','deepslow','RUNNING','demo','ask researcher to slow 500',1795382788147756,1795382788159995,'z1',1,1,1795382818159995);
INSERT INTO "thread" VALUES('default','done','COMPLETED','demo','hello',1795382779721865,1795382782899369,'d3',7,3,0);
INSERT INTO "thread" VALUES('default','nested','WAITING_FOR_INPUT','demo','ask researcher to use clock and ask mailer to use send_email with {"to":"n@b.c"}',1795382782916782,1795382784771822,'n1',3,1,0);
INSERT INTO "thread" VALUES('default','parked','WAITING_FOR_INPUT','demo','use send_email with {"to":"a@b.c"}',1795382782903518,1795382783443410,'p1',3,1,0);
INSERT INTO "thread" VALUES('default','q1','RUNNING','demo','slow 1000',1795382790169928,1795382790173756,'q1',1,1,1795382820173756);
INSERT INTO "thread" VALUES('default','q10','RUNNING','demo','slow 1000',1795382790272874,1795382790274559,'q10',1,1,1795382820274559);
INSERT INTO "thread" VALUES('default','q11','RUNNING','demo','slow 1000',1795382790282922,1795382790286385,'q11',1,1,1795382820286385);
INSERT INTO "thread" VALUES('default','q12','RUNNING','demo','slow 1000',1795382790293988,1795382790295727,'q12',1,1,1795382820295727);
INSERT INTO "thread" VALUES('default','q13','RUNNING','demo','slow 1000',1795382790304329,1795382790307581,'q13',1,1,1795382820307581);
INSERT INTO "thread" VALUES('default','q14','RUNNING','demo','slow 1000',1795382790314658,1795382790317175,'q14',1,1,1795382820317175);
INSERT INTO "thread" VALUES('default','q15','QUEUED','demo','slow 1000',1795382790325023,1795382790325023,'q15',0,0,0);
INSERT INTO "thread" VALUES('default','q16','QUEUED','demo','slow 1000',1795382790334744,1795382790334744,'q16',0,0,0);
INSERT INTO "thread" VALUES('default','q17','QUEUED','demo','slow 1000',1795382790345186,1795382790345186,'q17',0,0,0);
INSERT INTO "thread" VALUES('default','q18','QUEUED','demo','slow 1000',1795382790355591,1795382790355591,'q18',0,0,0);
INSERT INTO "thread" VALUES('default','q19','QUEUED','demo','slow 1000',1795382790365758,1795382790365758,'q19',0,0,0);
INSERT INTO "thread" VALUES('default','q2','RUNNING','demo','slow 1000',1795382790182479,1795382790185969,'q2',1,1,1795382820185969);
INSERT INTO "thread" VALUES('default','q20','QUEUED','demo','slow 1000',1795382790375527,1795382790375527,'q20',0,0,0);
INSERT INTO "thread" VALUES('default','q21','QUEUED','demo','slow 1000',1795382790385287,1795382790385287,'q21',0,0,0);
INSERT INTO "thread" VALUES('default','q22','QUEUED','demo','slow 1000',1795382790394746,1795382790394746,'q22',0,0,0);
INSERT INTO "thread" VALUES('default','q23','QUEUED','demo','slow 1000',1795382790405379,1795382790405379,'q23',0,0,0);
INSERT INTO "thread" VALUES('default','q24','QUEUED','demo','slow 1000',1795382790414532,1795382790414532,'q24',0,0,0);
INSERT INTO "thread" VALUES('default','q3','RUNNING','demo','slow 1000',1795382790195586,1795382790197931,'q3',1,1,1795382820197931);
INSERT INTO "thread" VALUES('default','q4','RUNNING','demo','slow 1000',1795382790206224,1795382790208733,'q4',1,1,1795382820208733);
INSERT INTO "thread" VALUES('default','q5','RUNNING','demo','slow 1000',1795382790218309,1795382790220473,'q5',1,1,1795382820220473);
INSERT INTO "thread" VALUES('default','q6','RUNNING','demo','slow 1000',1795382790230585,1795382790232652,'q6',1,1,1795382820232652);
INSERT INTO "thread" VALUES('default','q7','RUNNING','demo','slow 1000',1795382790241427,1795382790244535,'q7',1,1,1795382820244535);
INSERT INTO "thread" VALUES('default','q8','RUNNING','demo','slow 1000',1795382790251741,1795382790254346,'q8',1,1,1795382820254346);
INSERT INTO "thread" VALUES('default','q9','RUNNING','demo','slow 1000',1795382790262471,1795382790265795,'q9',1,1,1795382820265795);
INSERT INTO "thread" VALUES('default','running','RUNNING','demo','slow 1000',1795382788122167,1795382788132840,'r1',1,1,1795382818132840);
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
INSERT INTO "usage" VALUES('default','answered',1,'a1','','assistant',1,'demo','demo','finished',108,0,108,17,7,1795382783463255,'step',NULL,NULL,NULL,'','','');
INSERT INTO "usage" VALUES('default','answered',2,'a1','','assistant',2,'demo','demo','finished',138,0,138,17,7,1795382786614707,'step',NULL,NULL,NULL,'','','');
INSERT INTO "usage" VALUES('default','deepslow',1,'z1','','assistant',1,'demo','demo','finished',104,0,104,18,7,1795382788710879,'step',NULL,NULL,NULL,'','','');
INSERT INTO "usage" VALUES('default','done',1,'d1','','assistant',1,'demo','demo','finished',100,0,100,33,13,1795382780732673,'step',NULL,NULL,NULL,'','','');
INSERT INTO "usage" VALUES('default','done',2,'d2','','assistant',1,'demo','demo','finished',135,133,2,34,13,1795382781777197,'step',NULL,NULL,NULL,'','','');
INSERT INTO "usage" VALUES('default','done',3,'d3','','assistant',1,'demo','demo','finished',134,133,1,33,13,1795382782899369,'step',NULL,NULL,NULL,'','','');
INSERT INTO "usage" VALUES('default','nested',1,'n1','','assistant',1,'demo','demo','finished',112,0,112,24,7,1795382783661666,'step',NULL,NULL,NULL,'','','');
INSERT INTO "usage" VALUES('default','nested',2,'n1','sub_psha3wq4dwytsp5cdpjshnf9a8','mailer',1,'demo','demo','finished',19,0,19,17,7,1795382784185054,'step',NULL,NULL,NULL,'','','');
INSERT INTO "usage" VALUES('default','nested',3,'n1','sub_w5vx9jqdq9ehe8p97b89je78bw','researcher',1,'demo','demo','finished',86,0,86,17,7,1795382784186265,'step',NULL,NULL,NULL,'','','');
INSERT INTO "usage" VALUES('default','nested',4,'n1','sub_w5vx9jqdq9ehe8p97b89je78bw','researcher',2,'demo','demo','finished',106,0,106,19,10,1795382784769909,'step',NULL,NULL,NULL,'','','');
INSERT INTO "usage" VALUES('default','parked',1,'p1','','assistant',1,'demo','demo','finished',103,0,103,17,7,1795382783442441,'step',NULL,NULL,NULL,'','','');
CREATE TABLE "usage_line" (
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
INSERT INTO "usage_line" VALUES('default','answered','','assistant','demo','demo','',1,246,0,246,34,14,2,0,0,0,0);
INSERT INTO "usage_line" VALUES('default','deepslow','','assistant','demo','demo','',1,104,0,104,18,7,1,0,0,0,0);
INSERT INTO "usage_line" VALUES('default','done','','assistant','demo','demo','',1,369,266,103,100,39,3,0,0,0,0);
INSERT INTO "usage_line" VALUES('default','nested','','assistant','demo','demo','',1,112,0,112,24,7,1,0,0,0,0);
INSERT INTO "usage_line" VALUES('default','nested','sub_psha3wq4dwytsp5cdpjshnf9a8','mailer','demo','demo','',2,19,0,19,17,7,1,0,0,0,0);
INSERT INTO "usage_line" VALUES('default','nested','sub_w5vx9jqdq9ehe8p97b89je78bw','researcher','demo','demo','',3,192,0,192,36,17,2,0,0,0,0);
INSERT INTO "usage_line" VALUES('default','parked','','assistant','demo','demo','',1,103,0,103,17,7,1,0,0,0,0);
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('job',38);
COMMIT;
