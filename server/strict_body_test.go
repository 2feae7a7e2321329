package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
)

// strictBody is a body with each field of an operation, each list with an element, and each JSON value with an object.
// THREAD and the others stand for what those of walkCase stand for.
type strictBody struct {
	operation, body string
	// values matches the paths of values of any type, which a tool, a provider or a page reads. Their readers tell keys
	// apart by case.
	values string
	// exact is the path of an object whose keys the client chooses.
	exact string
}

var strictBodies = []strictBody{
	{
		operation: "startRun", values: `(providerOptions|output\.schema)`, exact: `labels`,
		body: `{"threadId":"new","prompt":"p","webhook":"https://h.example/","agent":"assistant","model":"demo","title":"t","labels":{"k":"v"},"editMessageId":"m",
		"clientMessageId":"c","runId":"r","maxSteps":1,"tokenBudget":1,"costBudgetMicros":1,"toolCallBudget":1,"wallTimeMs":1,
		"attachments":[{"url":"https://h.example/","artifactId":"a","mediaType":"image/png","name":"n"}],"providerOptions":{"seed":{"deep":1}},
		"whenBusy":"reject","startAt":"2026-01-02T03:04:05Z","output":{"name":"n","description":"d","schema":{"type":"object"}}}`,
	},
	{operation: "moveDelayedStart", body: `{"startAt":"2026-01-02T03:04:05Z"}`},
	{operation: "stopRun", body: `{"threadId":"THREAD","runId":"RUN"}`},
	{operation: "compactThread", body: `{"threadId":"THREAD"}`},
	{
		operation: "publishEvent", values: `payload`,
		body: `{"threadId":"THREAD","type":"note","durable":true,"payload":{"a":[{"b":1}]}}`,
	},
	{
		operation: "respond", values: `(payload|arguments)`,
		body: `{"threadId":"THREAD","toolCallId":"CALL","approved":false,"reason":"r","digest":"d","payload":{"a":1},"arguments":{"to":"x"}}`,
	},
	{
		operation: "answerInbox", values: `answers\[0\]\.(payload|arguments)`,
		body: `{"answers":[{"threadId":"THREAD","toolCallId":"CALL","digest":"d","approved":false,"reason":"r","payload":{"a":1},"arguments":{"to":"x"}}]}`,
	},
	{
		operation: "createInboxLink",
		body:      `{"threadId":"THREAD","toolCallId":"CALL","digest":"d","approver":"ann","expiresIn":"2h"}`,
	},
	{
		operation: "createWebhook", exact: `labels`,
		body: `{"name":"new","url":"https://h.example/","events":["run.failed"],"agents":["a"],"labels":{"k":"v"},"form":"plain",
		"text":true,"approver":"ann"}`,
	},
	{
		operation: "changeWebhook", exact: `filter.labels`,
		body: `{"url":"https://h.example/","filter":{"events":["run.failed"],"agents":["a"],"labels":{"k":"v"}},"form":"plain",
		"text":true,"approver":"ann","disabled":true}`,
	},
	{operation: "replayWebhooks", body: `{"eventId":"e","since":"2026-01-02T03:04:05Z"}`},
	{
		operation: "createSchedule", exact: `labels`,
		body: `{"name":"new","cron":"0 3 * * *","zone":"UTC","every":"1h","from":"2026-01-02T03:04:05Z","at":"2026-01-02T03:04:05Z",
		"prompt":"p","agent":"assistant","model":"demo","threadId":"t","title":"t","labels":{"k":"v"},"tokenBudget":1,"costBudgetMicros":1,
		"toolCallBudget":1,"wallTimeMs":1,"overlap":"skip","missed":"all","jitter":"1s","grace":"1m","paused":true}`,
	},
	{
		operation: "changeSchedule", exact: `labels`,
		body: `{"cron":"0 3 * * *","zone":"UTC","every":"1h","from":"2026-01-02T03:04:05Z","at":"2026-01-02T03:04:05Z",
		"prompt":"p","agent":"assistant","model":"demo","threadId":"t","title":"t","labels":{"k":"v"},"tokenBudget":1,"costBudgetMicros":1,
		"toolCallBudget":1,"wallTimeMs":1,"overlap":"skip","missed":"all","jitter":"1s","grace":"1m"}`,
	},
	{
		operation: "previewSchedule",
		body:      `{"cron":"0 3 * * *","zone":"UTC","every":"1h","from":"2026-01-02T03:04:05Z","at":"2026-01-02T03:04:05Z"}`,
	},
	{operation: "pauseSchedule", body: `{"reason":"r"}`},
	{operation: "beginSignIn", body: `{"url":"https://h.example/"}`},
	// A message before the last one does not count.
	{
		operation: "postChat",
		values:    `(messages\[0\]|messages\[1\]\.parts\[0\]\.output|providerOptions|output\.schema|tools\[0\]\.parameters|answers\..*\.(payload|arguments))`,
		exact:     `answers`, body: `{"id":"THREAD","trigger":"submit-message","messageId":"m","agent":"a","model":"m","maxSteps":1,"whenBusy":"reject","webhook":"https://h.example/",
			"providerOptions":{"seed":1},"output":{"name":"n","description":"d","schema":{"type":"object"}},"tools":[{"name":"n","description":"d","parameters":{"type":"object"}}],
			"answers":{"CALL":{"payload":{"a":1},"arguments":{"to":"x"}}},"messages":[{"id":"m"},{"id":"RUN","role":"assistant","parts":[{"type":"tool-send","text":"t",
			"state":"approval-responded","toolCallId":"CALL","output":{"a":1},"errorText":"e","url":"u","mediaType":"m","filename":"f","providerExecuted":false,
			"approval":{"id":"i","approved":false,"reason":"r"}}]}]}`,
	},
	{
		operation: "runAgent",
		values:    `(state|messages\[0\]\.content|tools\[0\]\.parameters|forwardedProps\.spool\.(providerOptions|output\.schema))`,
		body: `{"threadId":"new","runId":"r","protocolVersion":"1.0","state":{"a":1},"tools":[{"name":"n","description":"d","parameters":{"type":"object"}}],"context":[{"description":"d","value":"v"}],
			"messages":[{"id":"a","role":"assistant","content":{"a":1}},{"id":"m","role":"user","toolCallId":"c","error":"e","content":[{"type":"image","text":"t","source":{"type":"url","value":"https://h.example/","mimeType":"image/png"}}]}],
			"resume":[],"forwardedProps":{"spool":{"agent":"a","model":"m","maxSteps":1,"whenBusy":"reject","providerOptions":{"seed":1},"output":{"name":"n","description":"d","schema":{"type":"object"}},"onDisconnect":"continue"}}}`,
	},
	{
		operation: "runAgent", values: `resume\[0\]\.payload\.(payload|editedArgs)`,
		body: `{"threadId":"THREAD","runId":"r","messages":[],
		"resume":[{"interruptId":"CALL","status":"resolved","payload":{"approved":false,"reason":"r","digest":"d","payload":{"a":1},"editedArgs":{"to":"x"}}}]}`,
	},
	// It shows the thread, and reads nothing below these values.
	{
		operation: "connectAgent",
		values:    `(state|messages\[0\]\.content|tools\[0\]\.parameters|forwardedProps|resume\[0\]\.payload)`,
		body: `{"threadId":"THREAD","runId":"r","protocolVersion":"1.0","state":{"a":1},"tools":[{"name":"n","description":"d","parameters":{"type":"object"}}],"context":[{"description":"d","value":"v"}],
			"messages":[{"id":"m","role":"user","toolCallId":"c","error":"e","content":"x"}],"resume":[{"interruptId":"CALL","status":"resolved","payload":{"a":1}}],"forwardedProps":{"a":1}}`,
	},
	{operation: "forkThread", body: `{"threadId":"THREAD","version":1,"newThreadId":"t"}`},
	{operation: "createStreamToken", body: `{"threadId":"THREAD"}`},
	{operation: "restoreBranch", body: `{"threadId":"THREAD","branchId":1}`},
	{operation: "updateThread", exact: `labels`, body: `{"threadId":"THREAD","title":"t","owner":"o","labels":{"k":"v"}}`},
	{operation: "operatorStop", body: `{"tenant":"a","threadId":"THREAD","runId":"RUN"}`},
	{
		operation: "operatorRespond", values: `(payload|arguments)`,
		body: `{"tenant":"a","runId":"RUN","threadId":"THREAD","toolCallId":"CALL","approved":false,"reason":"r","digest":"d","payload":{"a":1},"arguments":{"to":"x"}}`,
	},
	{operation: "redriveJobs", body: `{"jobId":1,"all":true,"tenant":"a","before":"2026-01-02T03:04:05Z","limit":1}`},
	{operation: "purgeJobs", body: `{"jobId":1,"all":true,"tenant":"a","olderThan":"1h"}`},
	{operation: "pruneThreads", body: `{"olderThan":"1h","dryRun":true,"tenant":"a","limit":1}`},
	{
		operation: "deliverJob", values: `payload`,
		body: `{"kind":"run","tenant":"a","threadId":"t","runId":"r","agent":"assistant","model":"demo","segment":1,"queue":"q","key":"k","dueAt":"2026-01-02T03:04:05Z","payload":{"a":1}}`,
	},
	{operation: "useInboxLink", values: `payload`, body: `{"approved":false,"reason":"r","payload":{"a":1}}`},
}

// takes reports whether the strict reader accepts the mistake, because another reader checks it.
func (c strictBody) takes(m mutant) bool {
	within := func(path string) bool {
		return c.values != "" && regexp.MustCompile(`^(`+c.values+`)($|[.[])`).MatchString(path)
	}
	parent := m.path[:max(0, strings.LastIndex(m.path, "."))]
	switch m.kind {
	case twice:
		return false
	case miscased:
		return within(parent) || parent != "" && parent == c.exact
	default:
		return within(m.path) || m.path == "forwardedProps" // a client of AG-UI sends what it likes
	}
}

// A body that two readers would understand differently, or that has a value of a wrong type, gets a 400 that names the
// place, wherever that is: at the top, in an object, in a list, or in JSON that a field carries.
func TestStrictBodies(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{QueueVerifier: verifier{}, StreamTokenKeys: [][]byte{[]byte(strings.Repeat("k", 32))}})
	w := newWalkedOn(t, b)
	places := map[string]operation{"useInboxLink": {method: http.MethodPost, path: b.link(t, tokenA, "kept", "ann")}}
	for _, o := range b.operations(t) {
		places[o.id] = o
	}
	before, tried := b.everything(t), 0
	nobody := strings.NewReplacer("{name}", "none", "{runId}", "none")
	for _, c := range strictBodies {
		var body any
		if err := json.Unmarshal([]byte(w.names.Replace(c.body)), &body); err != nil {
			t.Fatal(c.operation, err)
		}
		for _, m := range mutants(body, "") {
			if c.takes(m) {
				continue
			}
			tried++
			got := b.do(t, call{
				method: places[c.operation].method, path: nobody.Replace(places[c.operation].path),
				body: m.text, token: tokenA,
				header: map[string]string{"Accept": "application/json"},
			})
			name := m.path[strings.LastIndex(m.path, ".")+1:]
			if got.status != http.StatusBadRequest || !strings.Contains(got.body, name) ||
				m.kind != "" && !strings.Contains(got.body, m.kind) {
				t.Errorf("%s: %s %s: %d %.300s\n%s", c.operation, m.path, m.kind, got.status, got.body, m.text)
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d bodies", tried)
	}
	if after := b.everything(t); !slices.Equal(before, after) {
		t.Errorf("a wrong body changed something:\n%s\n%s", before, after)
	}
}

// Each field of each body is in the table.
func TestStrictBodiesAreAll(t *testing.T) {
	t.Parallel()

	text, err := setup(t, server.Config{}).server.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Ref                  string `json:"$ref"`
		Properties           map[string]json.RawMessage
		Items                json.RawMessage
		AdditionalProperties json.RawMessage
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			RequestBody struct {
				Content map[string]struct{ Schema json.RawMessage }
			}
		}
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var fields func(of json.RawMessage) map[string]bool
	fields = func(of json.RawMessage) map[string]bool {
		var s schema
		if len(of) == 0 || json.Unmarshal(of, &s) != nil { // additionalProperties may be a boolean
			return nil
		}
		all := fields(doc.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")])
		if all == nil {
			all = make(map[string]bool)
		}
		for name, child := range s.Properties {
			all[name] = true
			maps.Copy(all, fields(child))
		}
		maps.Copy(all, fields(s.Items))
		maps.Copy(all, fields(s.AdditionalProperties))
		return all
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			body, ok := op.RequestBody.Content["application/json"]
			if !ok {
				continue
			}
			var known []string
			for _, c := range strictBodies {
				if c.operation == op.OperationID {
					known = append(known, c.body)
				}
			}
			for name := range fields(body.Schema) {
				if !strings.Contains(strings.Join(known, ""), `"`+name+`":`) {
					t.Errorf("%s %s: strictBodies has no %s for %s", method, path, name, op.OperationID)
				}
			}
		}
	}
}

// mutant is a body with one mistake. The kind is empty for a wrong type.
type mutant struct{ path, kind, text string }

const (
	twice    = " twice"
	miscased = "must be spelled exactly so"
)

// mutants returns the bodies that differ from v by one mistake.
func mutants(v any, path string) (all []mutant) {
	switch v := v.(type) {
	case map[string]any:
		write := func(skip, more string) string {
			members := []string{more}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if key != skip {
					members = append([]string{quoted(key) + ":" + quoted(v[key])}, members...)
				}
			}
			return "{" + strings.Join(members, ",") + "}"
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+key, ".")
			all = append(
				all, mutant{at, twice, write("", quoted(key)+":"+quoted(v[key]))},
				mutant{at, miscased, write("", quoted(strings.ToUpper(key))+":"+quoted(v[key]))},
				mutant{at, "", write(key, quoted(key)+":"+quoted(wrong(v[key])))},
			)
			for _, m := range mutants(v[key], at) {
				all = append(all, mutant{m.path, m.kind, write(key, quoted(key)+":"+m.text)})
			}
		}
	case []any:
		for i, element := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			changed := func(text string) string {
				texts := make([]string, len(v))
				for j, other := range v {
					texts[j] = quoted(other)
				}
				texts[i] = text
				return "[" + strings.Join(texts, ",") + "]"
			}
			all = append(all, mutant{at, "", changed(quoted(wrong(element)))})
			for _, m := range mutants(element, at) {
				all = append(all, mutant{m.path, m.kind, changed(m.text)})
			}
		}
	}
	return all
}

// wrong returns a value of another type.
func wrong(v any) any {
	switch v.(type) {
	case string, []any:
		return 7
	default:
		return []any{}
	}
}

func quoted(v any) string {
	text, _ := json.Marshal(v) //nolint:errchkjson // it was decoded from JSON
	return string(text)
}
