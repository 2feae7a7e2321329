package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// strict starts a run of anna's whose call somebody else has to approve, and returns the
// question.
func strict(t *testing.T, b *bundle) (*events, wire.InputRequired) {
	t.Helper()

	b.work(t)
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","agent":"strict","prompt":"use send with {\"to\":\"x\"}"}`)
	watch := b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA})
	var asked wire.InputRequired
	for _, m := range watch.until(t, entry(wire.EntryInputRequired)) {
		if entry(wire.EntryInputRequired)(m) {
			if err := json.Unmarshal(m.frame.Event.Payload, &asked); err != nil {
				t.Fatal(err)
			}
		}
	}
	return watch, asked
}

// Who started a run may not approve its calls where that is asked for, and neither may who
// is not known.
func TestDistinctApprover(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	watch, asked := strict(t, b)
	if !asked.DistinctApprover {
		t.Error("the question does not say who may answer")
	}
	respond := func(token, approved string) answer {
		return b.as(t, token, http.MethodPost, respondPath,
			`{"threadId":"t1","toolCallId":"`+string(asked.ToolCallID)+`","approved":`+approved+`}`)
	}
	const refused = `{"delivered":false,"reason":"same_approver","error":"This request is for somebody else than who started the run"}`
	for _, token := range []string{tokenA, namelessA} {
		for _, approved := range []string{"true", "false"} {
			if got := respond(token, approved); got.status != http.StatusConflict || got.body != refused {
				t.Errorf("%s, %s: %d %s", token, approved, got.status, got.body)
			}
		}
	}
	if got := respond(secondA, "true"); got.status != http.StatusOK || got.body != `{"delivered":true}` {
		t.Errorf("somebody else: %d %s", got.status, got.body)
	}
	watch.until(t, state(wire.Completed))
	history := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body
	if !strings.Contains(history, `"startedBy":"anna"`) {
		t.Errorf("the run does not say who started it: %s", history)
	}
}

// The same holds for clients of AG-UI, which start and answer on one path.
func TestDistinctApproverAGUI(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	post := func(token, run, rest string) answer {
		return b.as(t, token, http.MethodPost, aguiPath,
			`{"threadId":"t1","runId":"`+run+`","tools":[],"context":[],`+rest+`}`)
	}
	got := post(tokenA, "r1",
		`"messages":[{"id":"m1","role":"user","content":"use send with {\"to\":\"x\"}"}],"forwardedProps":{"spool":{"agent":"strict"}}`)
	_, id, _ := strings.Cut(got.body, `"toolCallId":"`)
	id, _, _ = strings.Cut(id, `"`)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"distinctApprover":true`) {
		t.Fatalf("%d %s", got.status, got.body)
	}
	resume := `"messages":[],"resume":[{"interruptId":"` + id + `","status":"resolved","payload":{"approved":true}}]`
	for _, token := range []string{tokenA, namelessA} {
		if got := post(token, "r2", resume); got.status != http.StatusConflict ||
			!strings.Contains(got.body, `"reason":"same_approver"`) {
			t.Errorf("%s: %d %s", token, got.status, got.body)
		}
	}
	if got := post(secondA, "r3", resume); got.status != http.StatusOK || !strings.Contains(got.body, "sent to x") {
		t.Errorf("somebody else: %d %s", got.status, got.body)
	}
}
