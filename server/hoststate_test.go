package server_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// What the host gives to a run is with the run, and in nothing that goes out: no answer, no
// frame of any format, no job, no log.
func TestHostStateStaysInside(t *testing.T) {
	t.Parallel()

	const marker = "mark-of-the-host"
	b := setup(t, server.Config{HostState: func(r *http.Request, p access.Principal) (json.RawMessage, error) {
		if r.Header.Get("Authorization") == "" || p.Subject != "anna" {
			t.Errorf("the host is asked for %+v", p)
		}
		return json.RawMessage(`{"account":"` + marker + `"}`), nil
	}})
	var out strings.Builder
	ask := func(method, path, body string) {
		got := b.as(t, tokenA, method, path, body)
		out.WriteString(got.body)
	}
	const sending = `{"threadId":"t1","prompt":"use send with {\"to\":\"x\"}","whenBusy":"enqueue"`
	ask(http.MethodPost, runPath, sending+`}`)
	ask(http.MethodPost, runPath, sending+`,"runId":"waits"}`)

	taken, _, err := b.backend.Store.Claim(t.Context(), store.ClaimQuery{Limit: 10, Lease: time.Minute})
	if err != nil || len(taken) == 0 {
		t.Fatalf("%d jobs, %v", len(taken), err)
	}
	jobs, err := json.Marshal(taken)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(jobs)
	for _, d := range taken {
		if err := b.backend.Store.Ack(t.Context(), d, store.Ack{Kind: store.AckRelease, Refund: true}); err != nil {
			t.Fatal(err)
		}
	}

	b.work(t)
	watch := b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA})
	agui := b.stream(t, call{path: streamPath + "?wireFormat=ag-ui&threadId=t1", token: tokenA})
	seen := func(all []message) []message {
		for _, m := range all {
			out.WriteString(m.raw)
		}
		return all
	}
	for range 2 { // the run, and the one that waits
		id := toolCallID(t, seen(watch.until(t, entry(wire.EntryInputRequired))))
		ask(http.MethodGet, historyPath+"?threadId=t1", "")
		ask(http.MethodPost, respondPath, `{"threadId":"t1","toolCallId":"`+id+`","approved":true}`)
	}
	seen(watch.until(t, state(wire.Completed)))
	seen(agui.until(t, func(m message) bool { return strings.Contains(m.raw, `"RUN_FINISHED"`) }))
	posted := b.do(t, call{
		method: http.MethodPost, path: "/api/agent/ag-ui", token: tokenA,
		body: aguiInput("t2", `,"messages":[{"id":"m1","role":"user","content":"hi"}]`),
	})
	out.WriteString(posted.body)
	for _, path := range []string{historyPath, usagePath, branchesPath} {
		ask(http.MethodGet, path+"?threadId=t1", "")
	}
	ask(http.MethodGet, threadsPath, "")
	ask(http.MethodGet, "/openapi.json", "")
	ask(http.MethodPost, runPath, `{"threadId":"t1","runId":"waits","prompt":"again"}`)
	ask(http.MethodPost, runPath, `{"threadId":"t1","prompt":"x","agent":"nobody"}`)
	ask(http.MethodDelete, threadsPath+"?threadId=none", "")

	for _, id := range []spool.ThreadID{"t1", "t2"} {
		err := b.backend.Store.View(t.Context(), spool.ThreadKey{Tenant: "a", ID: id}, func(v store.View) error {
			runs, err := v.Runs(wire.RunQuery{})
			for _, run := range runs {
				r, err := store.FindRun(v, run.ID)
				if err != nil {
					return err
				}
				if !strings.Contains(string(r.HostState), marker) {
					t.Errorf("run %s has lost the state: %s", r.ID, r.HostState)
				}
				plain, err := json.Marshal(r)
				if err != nil {
					return err
				}
				out.Write(plain)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if out.Len() < 5000 || strings.Contains(out.String(), marker) ||
		strings.Contains(strings.ToLower(out.String()), "hoststate") {
		t.Errorf("the state is in what goes out, or too little did: %s", out.String())
	}
	if strings.Contains(b.logged.String(), marker) {
		t.Errorf("the state is in the log: %s", b.logged.String())
	}
}

// A client cannot say it, and an error of the host says nothing to a client.
func TestHostStateRefuses(t *testing.T) {
	t.Parallel()

	var state json.RawMessage
	var fail error
	b := setup(t, server.Config{
		HostState: func(*http.Request, access.Principal) (json.RawMessage, error) { return state, fail },
	})
	start := func(thread string) answer {
		return b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"`+thread+`","runId":"`+thread+`","prompt":"hi"}`)
	}
	for _, name := range []string{"state", "hostState"} {
		got := b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","runId":"t1","prompt":"hi","`+name+`":{"evil":1}}`)
		if got.status != http.StatusBadRequest ||
			!strings.Contains(got.body, `"error":"`+name+` is not taken from a request`) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	const internal = `{"error":"Internal error","code":"internal"}`
	for _, state = range []json.RawMessage{
		[]byte(`"s3cret"`), []byte(`{`), json.RawMessage(`{"a":"` + strings.Repeat("x", spool.MaxHostStateBytes) + `"}`),
	} {
		if got := start("t1"); got.status != http.StatusInternalServerError || got.body != internal {
			t.Errorf("%.20s: %d %s", state, got.status, got.body)
		}
	}
	state, fail = nil, errors.New("s3cret")
	if got := start("t1"); got.status != http.StatusInternalServerError || got.body != internal {
		t.Errorf("an error: %d %s", got.status, got.body)
	}
	fail = spool.Errorf(spool.Forbidden, "no account")
	if got := start("t1"); got.status != http.StatusForbidden || got.body != `{"error":"no account","code":"forbidden"}` {
		t.Errorf("a refusal: %d %s", got.status, got.body)
	}
	fail = nil
	if got := start("t1"); got.status != http.StatusAccepted {
		t.Errorf("without a state: %d %s", got.status, got.body)
	}
	err := b.backend.Store.View(t.Context(), spool.ThreadKey{Tenant: "a", ID: "t1"}, func(v store.View) error {
		run, err := store.FindRun(v, "t1")
		if run.HostState != nil {
			t.Errorf("the client's state was taken: %s", run.HostState)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
