package server_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server"
)

// badInput is one case of the table: a request, and what it is answered with.
type badInput struct {
	method, path, body string
	status             int
	want               string
}

func invalid(text string) string { return `{"error":"` + text + `","code":"invalid"}` }

const (
	runPath     = "/api/agent/run"
	controlPath = "/api/agent/control"
	compactPath = "/api/agent/compact"
	respondPath = "/api/agent/respond"
	eventsPath  = "/api/agent/events"
	historyPath = "/api/agent/history"
	recordPath  = "/api/agent/record"
	forkPath    = "/api/agent/fork"
	streamPath  = "/api/agent/stream"
	usagePath   = "/api/agent/usage"
	threadsPath = "/api/threads"
	queuePath   = "/api/queue/agent-run"
)

const badChars = " may only have letters, digits and the characters . _ : -"

// bodyCases are what every endpoint with a body refuses alike.
func bodyCases(name, path string) map[string]badInput {
	const post = http.MethodPost
	return map[string]badInput{
		name + "/Empty":  {post, path, "", 400, invalid("the body is empty; a JSON object is required")},
		name + "/Spaces": {post, path, "  \n", 400, invalid("the body is empty; a JSON object is required")},
		name + "/Cut": {
			post, path, `{"threadId":"t"`, 400, invalid("the body is not valid JSON: unexpected end of JSON input (at byte 15)"),
		},
		name + "/Malformed": {
			post, path, `{"threadId":x}`, 400,
			invalid("the body is not valid JSON: invalid character 'x' looking for beginning of value (at byte 13)"),
		},
		name + "/Trailing": {
			post, path, `{"threadId":"t"} {}`, 400,
			invalid("the body is not valid JSON: invalid character '{' after top-level value (at byte 18)"),
		},
		name + "/Array":  {post, path, `[1]`, 400, invalid("the body must be a JSON object")},
		name + "/Null":   {post, path, `null`, 400, invalid("the body must be a JSON object")},
		name + "/String": {post, path, `"x"`, 400, invalid("the body must be a JSON object")},
		name + "/Twice":  {post, path, `{"threadId":"a","threadId":"b"}`, 400, invalid("threadId is there twice")},
		name + "/Miscased": {
			post, path, `{"threadId":"a","THREADID":"b"}`, 400, invalid(`threadId must be spelled exactly so, not \"THREADID\"`),
		},
		name + "/TooLarge": {
			post, path, `{"threadId":"` + strings.Repeat("x", 5000) + `"}`, 413,
			`{"error":"the body is larger than 4096 bytes","code":"too_large"}`,
		},
		name + "/TypeOfID": {post, path, `{"threadId":7}`, 400, invalid("threadId must be a string")},
		name + "/BadID": {
			post, path, `{"threadId":"a b","runId":"r","agent":"assistant","prompt":"p","toolCallId":"c","approved":true}`, 400,
			invalid("threadId" + badChars),
		},
		name + "/LongID": {
			post, path,
			`{"threadId":"` + strings.Repeat("x", 129) +
				`","runId":"r","agent":"assistant","prompt":"p","toolCallId":"c","approved":true}`,
			400, invalid("threadId is longer than 128 characters"),
		},
		name + "/LineBreak": {
			post, path, `{"threadId":"a\nb","runId":"r","agent":"assistant","prompt":"p","toolCallId":"c","approved":true}`, 400,
			invalid("threadId" + badChars),
		},
	}
}

// queryCases are what every endpoint about one thread in its query refuses alike.
func queryCases(name, method, path string) map[string]badInput {
	wrap := invalid
	if method == http.MethodDelete {
		wrap = func(text string) string { return `{"accepted":false,"error":"` + text + `","code":"invalid"}` }
	}
	return map[string]badInput{
		name + "/NoThread":    {method, path, "", 400, wrap("threadId is required")},
		name + "/EmptyThread": {method, path + "?threadId=", "", 400, wrap("threadId is required")},
		name + "/BadThread":   {method, path + "?threadId=a%20b", "", 400, wrap("threadId" + badChars)},
		name + "/BadQuery":    {method, path + "?threadId=%zz", "", 400, wrap("the query of the URL is malformed")},
	}
}

func badInputs() map[string]badInput {
	const post, get = http.MethodPost, http.MethodGet
	all := map[string]badInput{
		"Run/NoPrompt":    {post, runPath, `{}`, 400, invalid("prompt is required")},
		"Run/NullPrompt":  {post, runPath, `{"prompt":null}`, 400, invalid("prompt is required")},
		"Run/EmptyPrompt": {post, runPath, `{"prompt":""}`, 400, invalid("prompt is required")},
		"Run/PromptType":  {post, runPath, `{"prompt":["hi"]}`, 400, invalid("prompt must be a string")},
		"Run/PromptTooLong": {
			post, runPath, `{"prompt":"` + strings.Repeat("x", 1001) + `"}`, 400, invalid("prompt is longer than 1000 bytes"),
		},
		"Run/StepsNegative": {
			post, runPath, `{"prompt":"p","maxSteps":-1}`, 400, invalid("maxSteps must be zero or a positive number"),
		},
		"Run/TokensNegative": {
			post, runPath, `{"prompt":"p","tokenBudget":-1}`, 400, invalid("tokenBudget must be zero or a positive number"),
		},
		"Run/CostNegative": {
			post, runPath, `{"prompt":"p","costBudgetMicros":-1}`, 400,
			invalid("costBudgetMicros must be zero or a positive number"),
		},
		"Run/CostUnknown": {
			post, runPath, `{"prompt":"p","costBudgetMicros":1}`, 400,
			invalid("costBudgetMicros cannot be kept: this server knows no prices"),
		},
		"Run/CallsNegative": {
			post, runPath, `{"prompt":"p","toolCallBudget":-1}`, 400,
			invalid("toolCallBudget must be zero or a positive number"),
		},
		"Run/TimeNegative": {
			post, runPath, `{"prompt":"p","wallTimeMs":-1}`, 400, invalid("wallTimeMs must be zero or a positive number"),
		},
		"Run/TimeTooLarge": {
			post, runPath, `{"prompt":"p","wallTimeMs":9223372036854775807}`, 400, invalid("wallTimeMs is too large"),
		},
		"Run/StepsFraction": {post, runPath, `{"prompt":"p","maxSteps":1.5}`, 400, invalid("maxSteps must be an integer")},
		"Run/StepsExponent": {post, runPath, `{"prompt":"p","maxSteps":1e2}`, 400, invalid("maxSteps must be an integer")},
		"Run/StepsString":   {post, runPath, `{"prompt":"p","maxSteps":"3"}`, 400, invalid("maxSteps must be an integer")},
		"Run/StepsOverflow": {
			post, runPath, `{"prompt":"p","maxSteps":99999999999999999999}`, 400, invalid("maxSteps must be an integer"),
		},
		"Run/State": {
			post, runPath, `{"prompt":"p","state":{}}`, 400,
			invalid("state is not taken from a request: what the tools of a run get comes from the host's session"),
		},
		"Run/Options": {
			post, runPath, `{"prompt":"p","providerOptions":{"temperature":0}}`, 400,
			invalid(`providerOptions.temperature is not allowed by the configuration of the agent \"assistant\"`),
		},
		"Run/OptionsType": {
			post, runPath, `{"prompt":"p","providerOptions":["temperature"]}`, 400, invalid("providerOptions must be an object"),
		},
		"Run/AGUIState": {
			post, aguiPath,
			`{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"p"}],"forwardedProps":{"spool":{"state":{"admin":true}}}}`,
			400,
			invalid("forwardedProps.spool.state is not taken from a request: what the tools of a run get comes from the host's session"),
		},
		"Run/AGUIOptions": {
			post, aguiPath,
			`{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"p"}],"forwardedProps":{"spool":{"providerOptions":{"seed":1}}}}`,
			400, invalid(`providerOptions.seed is not allowed by the configuration of the agent \"assistant\"`),
		},
		"Run/AGUIContext": {
			post, aguiPath,
			`{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"p"}],"context":[{"description":"d","value":"v"},{"value":{"a":[1]}}]}`,
			400, invalid("context[1].value must be a string"),
		},
		"Run/AGUITools": {
			post, aguiPath, `{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"p"}],"tools":[[]]}`, 400,
			invalid("tools[0] must be an object"),
		},
		"Run/AGUISchema": {
			post, aguiPath,
			`{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"p"}],"tools":[{"name":"x","parameters":{"properties":"x"}}]}`,
			400, invalid(`tools[0].parameters: parse schema: \"properties\" cannot be a JSON string`),
		},
		"Run/BadRunID": {post, runPath, `{"prompt":"p","runId":"a/b"}`, 400, invalid("runId" + badChars)},
		"Run/BadEditID": {
			post, runPath, `{"prompt":"p","editMessageId":"a b"}`, 400, invalid("editMessageId" + badChars),
		},
		"Run/BadClientID": {
			post, runPath, `{"prompt":"p","clientMessageId":"a b"}`, 400, invalid("clientMessageId" + badChars),
		},
		"Run/UnknownAgent": {
			post, runPath, `{"prompt":"p","agent":"nobody"}`, 400, invalid(`agent: there is none of the name \"nobody\"`),
		},
		"Run/UnknownModel": {
			post, runPath, `{"prompt":"p","model":"none"}`, 400, invalid(`model: there is none of the name \"none\"`),
		},
		"Run/Attachments": {
			post, runPath, `{"prompt":"p","attachments":{}}`, 400, invalid("attachments must be an array"),
		},
		"Run/Attachment": {
			post, runPath, `{"prompt":"p","attachments":["x"]}`, 400, invalid("attachments[0] must be an object"),
		},
		"Run/AttachmentURL": {
			post, runPath, `{"prompt":"p","attachments":[{"url":1}]}`, 400, invalid("attachments[0].url must be a string"),
		},
		"Run/AttachmentNone": {
			post, runPath, `{"prompt":"p","attachments":[{}]}`, 400, invalid("attachments[0].url or artifactId is required"),
		},
		"Run/AttachmentFile": {
			post, runPath, `{"prompt":"p","attachments":[{"url":"file:///etc/passwd"}]}`, 400,
			invalid("attachments[0].url must be an http, https or data URL"),
		},
		"Run/AttachmentType": {
			post, runPath, `{"prompt":"p","attachments":[{"url":"https://h.example/","mediaType":"text/html"}]}`, 400,
			invalid("attachments[0].mediaType must be image/png, image/jpeg, image/gif, image/webp, application/pdf, text/plain, text/markdown, text/csv, application/json"),
		},
		"Run/AttachmentHost": {
			post, runPath, `{"prompt":"p","attachments":[{"url":"https://h.example/"},{"url":"http://169.254.169.254/"}]}`, 400,
			invalid("attachments[1].url names a host that is not allowed"),
		},
		"Run/AttachmentData": {
			post, runPath,
			`{"prompt":"p","attachments":[{"url":"data:image/png;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"}]}`,
			400, invalid("attachments[0].url holds image/gif, and is said to be image/png"),
		},
		"Run/AttachmentTwin": {
			post, runPath,
			`{"prompt":"p","attachments":[{"url":"https://h.example/"},{"url":"https://h.example/","Url":"http://10.0.0.1/"}]}`,
			400, invalid(`attachments[1].url must be spelled exactly so, not \"Url\"`),
		},
		"Run/EditUnknown": {
			post, runPath, `{"threadId":"new","prompt":"p","editMessageId":"nope"}`, 409,
			`{"accepted":false,"threadId":"new","reason":"not_found","error":"Message not found"}`,
		},

		"Control/NoThread":   {post, controlPath, `{}`, 400, invalid("threadId is required")},
		"Control/NullThread": {post, controlPath, `{"threadId":null}`, 400, invalid("threadId is required")},
		"Control/Unknown": {
			post, controlPath, `{"threadId":"unknown"}`, 409,
			`{"accepted":false,"reason":"not_active","error":"Cannot stop thread in state unknown"}`,
		},

		"Respond/NoThread": {
			post, respondPath, `{"toolCallId":"c","approved":true}`, 400, invalid("threadId is required"),
		},
		"Respond/NoCall": {
			post, respondPath, `{"threadId":"t","approved":true}`, 400, invalid("toolCallId is required"),
		},
		"Respond/LongCall": {
			post, respondPath, `{"threadId":"t","approved":true,"toolCallId":"` + strings.Repeat("x", 513) + `"}`, 400,
			invalid("toolCallId is longer than 512 characters"),
		},
		"Respond/NoApproved": {
			post, respondPath, `{"threadId":"t","toolCallId":"c"}`, 400, invalid("approved is required"),
		},
		"Respond/ApprovedNull": {
			post, respondPath, `{"threadId":"t","toolCallId":"c","approved":null}`, 400, invalid("approved is required"),
		},
		"Respond/ApprovedType": {
			post, respondPath, `{"threadId":"t","toolCallId":"c","approved":"yes"}`, 400,
			invalid("approved must be true or false"),
		},
		"Respond/Twice": {
			post, respondPath, `{"threadId":"t","toolCallId":"c","approved":false,"approved":true}`, 400,
			invalid("approved is there twice"),
		},
		"Respond/Miscased": {
			post, respondPath, `{"threadId":"t","toolCallId":"c","approved":false,"APPROVED":true}`, 400,
			invalid(`approved must be spelled exactly so, not \"APPROVED\"`),
		},
		"Respond/Unknown": {
			post, respondPath, `{"threadId":"unknown","toolCallId":"c","approved":true}`, 409,
			`{"delivered":false,"reason":"no_park","error":"No matching pending input request"}`,
		},

		"Events/NoThread": {post, eventsPath, `{"type":"note"}`, 400, invalid("threadId is required")},
		"Events/NoType":   {post, eventsPath, `{"threadId":"kept"}`, 400, invalid("type is required")},
		"Events/BadType":  {post, eventsPath, `{"threadId":"kept","type":"a b"}`, 400, invalid("type" + badChars)},
		"Events/Reserved": {
			post, eventsPath, `{"threadId":"kept","type":"RUN_ENDED"}`, 400, invalid("type RUN_ENDED is reserved"),
		},
		"Events/Case": {
			post, eventsPath, `{"threadId":"kept","type":"Run_Ended"}`, 400, invalid("type Run_Ended is reserved"),
		},
		"List/After": {
			get, eventsPath + "?threadId=kept&after=-1", "", 400, invalid("after must be zero or a positive integer"),
		},
		"List/Limit": {
			get, eventsPath + "?threadId=kept&limit=1001", "", 400, invalid("limit must be an integer from 1 to 1000"),
		},
		"List/Unknown": {get, eventsPath + "?threadId=unknown", "", 404, `{"error":"Thread not found","code":"not_found"}`},
		"Events/Durable": {
			post, eventsPath, `{"threadId":"kept","type":"note","durable":"yes"}`, 400, invalid("durable must be true or false"),
		},
		"Events/Unknown": {
			post, eventsPath, `{"threadId":"unknown","type":"note","durable":true}`, 404,
			`{"error":"Thread not found","code":"not_found"}`,
		},

		"Compact/NoThread": {post, compactPath, `{}`, 400, invalid("threadId is required")},
		"Compact/Unknown": {
			post, compactPath, `{"threadId":"unknown"}`, 409,
			`{"compacted":false,"reason":"not_found","error":"Thread not found"}`,
		},
		"Compact/Active": {
			post, compactPath, `{"threadId":"kept"}`, 409,
			`{"compacted":false,"reason":"active_run","error":"Thread has an active run"}`,
		},

		"History/Unknown": {
			get, historyPath + "?threadId=unknown", "", 404, `{"error":"Thread not found","code":"not_found"}`,
		},
		"History/Version": {
			get, historyPath + "?threadId=kept&version=-1", "", 400, invalid("version must be zero or a positive integer"),
		},
		"History/NoVersion": {
			get, historyPath + "?threadId=kept&version=999", "", 400,
			invalid("version: there is no version 999, the thread has 1 to 1"),
		},
		"History/NoSeq": {
			get, historyPath + "?threadId=kept&seq=999", "", 400, invalid("seq: the record has not reached 999"),
		},
		"History/Both": {
			get, historyPath + "?threadId=kept&seq=0&version=1", "", 400,
			invalid("seq: a request has the version or the seq, not both"),
		},
		"History/PageOf": {
			get, historyPath + "?threadId=kept&version=1&limit=2", "", 400,
			invalid("limit: the snapshot of a version has all messages"),
		},
		"Record/NoThread": {get, recordPath, "", 400, invalid("threadId is required")},
		"Record/Unknown": {
			get, recordPath + "?threadId=unknown", "", 404, `{"error":"Thread not found","code":"not_found"}`,
		},
		"Fork/NoThread":  {post, forkPath, `{"version":1}`, 400, invalid("threadId is required")},
		"Fork/NoVersion": {post, forkPath, `{"threadId":"kept"}`, 400, invalid("version is required")},
		"Fork/BadNew": {
			post, forkPath, `{"threadId":"kept","version":1,"newThreadId":"a/b"}`, 400, invalid("newThreadId" + badChars),
		},
		"Fork/Unknown": {
			post, forkPath, `{"threadId":"unknown","version":1}`, 404, `{"error":"Thread not found","code":"not_found"}`,
		},
		"Fork/Version": {
			post, forkPath, `{"threadId":"kept","version":999}`, 400,
			invalid("version: there is no version 999, the thread has 1 to 1"),
		},
		"Fork/Used": {
			post, forkPath, `{"threadId":"kept","version":1,"newThreadId":"kept"}`, 409,
			`{"accepted":false,"threadId":"kept","messages":0,"reason":"thread_id_used","error":"There is a thread with this id"}`,
		},
		"History/LimitWord": {
			get, historyPath + "?threadId=kept&limit=x", "", 400, invalid("limit must be an integer from 1 to 1000"),
		},
		"History/LimitZero": {
			get, historyPath + "?threadId=kept&limit=0", "", 400, invalid("limit must be an integer from 1 to 1000"),
		},
		"History/LimitHuge": {
			get, historyPath + "?threadId=kept&limit=1001", "", 400, invalid("limit must be an integer from 1 to 1000"),
		},
		"History/Before": {get, historyPath + "?threadId=kept&before=a%20b", "", 400, invalid("before" + badChars)},
		"Stream/Unknown": {
			get, streamPath + "?threadId=unknown", "", 404, `{"error":"Thread not found","code":"not_found"}`,
		},
		"Usage/Unknown": {
			get, usagePath + "?threadId=unknown", "", 404, `{"error":"Thread not found","code":"not_found"}`,
		},
		"Threads/Limit": {get, threadsPath + "?limit=-1", "", 400, invalid("limit must be an integer from 1 to 1000")},
		"Threads/Before": {
			get, threadsPath + "?before=yesterday", "", 400, invalid("before must be the next of an earlier page"),
		},
		"Threads/BeforeID": {
			get, threadsPath + "?before=2026-01-02T03:04:05Z~a%20b", "", 400,
			invalid("before must be the next of an earlier page"),
		},
		"Threads/Query": {get, threadsPath + "?limit=%zz", "", 400, invalid("the query of the URL is malformed")},
		"Delete/Unknown": {
			http.MethodDelete, threadsPath + "?threadId=unknown", "", 404,
			`{"accepted":false,"reason":"not_found","error":"Thread not found"}`,
		},

		"Branches/Unknown": {
			get, branchesPath + "?threadId=unknown", "", 404, `{"error":"Thread not found","code":"not_found"}`,
		},
		"Branch/Unknown": {
			get, branchPath + "?threadId=unknown&branchId=1", "", 404, `{"error":"Thread not found","code":"not_found"}`,
		},
		"Branch/None": {
			get, branchPath + "?threadId=kept&branchId=1", "", 404, `{"error":"Branch not found","code":"not_found"}`,
		},
		"Branch/NoID": {get, branchPath + "?threadId=kept", "", 400, invalid("branchId is required")},
		"Branch/Word": {
			get, branchPath + "?threadId=kept&branchId=x", "", 400, invalid("branchId must be a positive integer"),
		},
		"Branch/Zero": {
			get, branchPath + "?threadId=kept&branchId=0", "", 400, invalid("branchId must be a positive integer"),
		},
		"Branch/Huge": {
			get, branchPath + "?threadId=kept&branchId=99999999999999999999", "", 400,
			invalid("branchId must be a positive integer"),
		},
		"Branch/Before": {
			get, branchPath + "?threadId=kept&branchId=1&before=a%20b", "", 400, invalid("before" + badChars),
		},
		"Branch/Limit": {
			get, branchPath + "?threadId=kept&branchId=1&limit=0", "", 400, invalid("limit must be an integer from 1 to 1000"),
		},
		"Restore/NoThread": {post, restorePath, `{"branchId":1}`, 400, invalid("threadId is required")},
		"Restore/NoID":     {post, restorePath, `{"threadId":"kept"}`, 400, invalid("branchId is required")},
		"Restore/Null":     {post, restorePath, `{"threadId":"kept","branchId":null}`, 400, invalid("branchId is required")},
		"Restore/Word": {
			post, restorePath, `{"threadId":"kept","branchId":"1"}`, 400, invalid("branchId must be an integer"),
		},
		"Restore/Fraction": {
			post, restorePath, `{"threadId":"kept","branchId":1.5}`, 400, invalid("branchId must be an integer"),
		},
		"Restore/Negative": {
			post, restorePath, `{"threadId":"kept","branchId":-1}`, 400, invalid("branchId must be a positive integer"),
		},
		"Restore/None": {
			post, restorePath, `{"threadId":"unknown","branchId":1}`, 409,
			`{"accepted":false,"branchId":1,"reason":"not_found","error":"Thread not found"}`,
		},
		"Restore/Active": {
			post, restorePath, `{"threadId":"kept","branchId":1}`, 409,
			`{"accepted":false,"branchId":1,"reason":"active_run","error":"Thread has an active run"}`,
		},

		"Queue/NoThread": {post, queuePath, `{"runId":"r","agent":"assistant"}`, 400, invalid("threadId is required")},
		"Queue/NoRun":    {post, queuePath, `{"threadId":"t","agent":"assistant"}`, 400, invalid("runId is required")},
		"Queue/NoAgent":  {post, queuePath, `{"threadId":"t","runId":"r"}`, 400, invalid("agent is required")},
		"Queue/Tenant": {
			post, queuePath, `{"tenant":"*","threadId":"t","runId":"r","agent":"assistant"}`, 400, invalid("tenant" + badChars),
		},
		"Queue/UnknownAgent": {
			post, queuePath, `{"threadId":"t","runId":"r","agent":"nobody"}`, 503,
			`{"error":"this process does not have the agent","code":"unavailable"}`,
		},
	}
	for _, more := range []map[string]badInput{
		bodyCases("Run", runPath), bodyCases("Control", controlPath), bodyCases("Respond", respondPath),
		bodyCases("Queue", queuePath), bodyCases("Events", eventsPath), queryCases("History", get, historyPath),
		queryCases("Stream", get, streamPath), queryCases("Usage", get, usagePath), queryCases("List", get, eventsPath),
		bodyCases("Restore", restorePath), bodyCases("Compact", compactPath), queryCases("Branches", get, branchesPath),
		queryCases("Branch", get, branchPath), queryCases("Delete", http.MethodDelete, threadsPath),
	} {
		maps.Copy(all, more)
	}
	return all
}

// Every endpoint answers bad input as the contract says, and nothing changes.
func TestBadInput(t *testing.T) { //nolint:tparallel // what came of all cases is looked at after them
	t.Parallel()

	b := setupOver(t, server.Config{MaxBodyBytes: 4096, QueueVerifier: verifier{}},
		engine.Config{StrictProviderOptions: true})
	if got := b.as(
		t, tokenA, http.MethodPost, runPath, `{"threadId":"kept","prompt":"hello","runId":"r1"}`,
	); got.status != http.StatusAccepted {
		t.Fatalf("start: %+v", got)
	}
	before := b.everything(t)

	for name, c := range badInputs() { //nolint:paralleltest // see above
		t.Run(name, func(t *testing.T) {
			got := b.as(t, tokenA, c.method, c.path, c.body)
			if got.status != c.status || got.body != c.want {
				t.Errorf("got  %d %s\nwant %d %s", got.status, got.body, c.status, c.want)
			}
			if kind := got.header.Get("Content-Type"); kind != "application/json; charset=utf-8" {
				t.Errorf("Content-Type %q", kind)
			}
		})
	}

	if diff := cmp.Diff(before, b.everything(t)); diff != "" {
		t.Errorf("bad input changed something: -before +after\n%s", diff)
	}
	if log := b.logged.String(); strings.Contains(log, "panicked") {
		t.Errorf("something panicked:\n%s", log)
	}
}

// everything is all that the tenants can see.
func (b *bundle) everything(t *testing.T) []string {
	t.Helper()

	var all []string
	for _, token := range []string{tokenA, tokenB} {
		all = append(all,
			b.as(t, token, http.MethodGet, threadsPath, "").body,
			b.as(t, token, http.MethodGet, historyPath+"?threadId=kept", "").body,
			b.as(t, token, http.MethodGet, usagePath+"?threadId=kept", "").body)
	}
	return all
}

// What a newer or sloppier client sends is understood.
func TestTolerated(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	for name, body := range map[string]string{
		"UnknownFields": `{"threadId":"%","prompt":"p","tenant":"b","future":{"deep":[1]}}`,
		"Nulls":         `{"threadId":"%","prompt":"p","model":null,"agent":null,"editMessageId":null,"clientMessageId":null,"runId":null,"maxSteps":null,"attachments":null,"state":null,"providerOptions":null}`,
		"EmptyStrings":  `{"threadId":"%","prompt":"p","model":"","agent":"","editMessageId":"","clientMessageId":"","runId":""}`,
		"Spaces":        "\r\n\t {\"threadId\":\"%\",\"prompt\":\"p\"} \n",
		"BudgetZero":    `{"threadId":"%","prompt":"p","tokenBudget":0,"costBudgetMicros":0,"toolCallBudget":0,"wallTimeMs":0}`,
		"StepsZero":     `{"threadId":"%","prompt":"p","maxSteps":0}`,
		"Image":         `{"threadId":"%","prompt":"p","attachments":[{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==","mediaType":"image/png"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := b.as(t, tokenA, http.MethodPost, runPath, strings.ReplaceAll(body, "%", name))
			if got.status != http.StatusAccepted || !strings.Contains(got.body, `"threadId":"`+name+`"`) {
				t.Errorf("got %d %s", got.status, got.body)
			}
		})
	}
}
