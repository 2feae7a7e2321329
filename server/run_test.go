package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

func TestRun(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	const start = `{"threadId":"t1","runId":"r1","prompt":"hello","clientMessageId":"c1"}`
	got := b.as(t, tokenA, http.MethodPost, runPath, start)
	if got.status != http.StatusAccepted || got.body != `{"accepted":true,"threadId":"t1","runId":"r1","state":"QUEUED"}` {
		t.Errorf("start: %d %s", got.status, got.body)
	}
	got = b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"again"}`)
	if got.status != http.StatusConflict ||
		got.body != `{"accepted":false,"threadId":"t1","reason":"active_run","error":"Thread has an active run"}` {
		t.Errorf("second start: %d %s", got.status, got.body)
	}
	got = b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t2","runId":"r1","prompt":"again"}`)
	if got.status != http.StatusConflict ||
		got.body != `{"accepted":false,"threadId":"t2","reason":"run_id_used","error":"Run id already used"}` {
		t.Errorf("used run id: %d %s", got.status, got.body)
	}
	if got = b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t2", ""); got.status != http.StatusNotFound {
		t.Errorf("a refused start made a thread: %s", got.body)
	}
	got = b.as(t, tokenA, http.MethodPost, runPath, `{"prompt":"hello"}`)
	var made struct{ ThreadID, RunID string }
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != http.StatusAccepted ||
		made.ThreadID == "" || made.RunID == "" {
		t.Errorf("start without a thread: %d %s", got.status, got.body)
	}
}

// An empty thread id is a client's mistake, and not the wish for a new thread.
func TestRunThreadID(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	const empty = `{"error":"threadId is empty; leave it out for a new thread","code":"invalid"}`
	got := b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"","prompt":"hello"}`)
	if got.status != http.StatusBadRequest || got.body != empty {
		t.Errorf("empty: %d %s", got.status, got.body)
	}
	if list := b.as(t, tokenA, http.MethodGet, threadsPath, ""); list.body != `{"threads":[]}` {
		t.Errorf("a refused start made a thread: %s", list.body)
	}
	for _, body := range []string{`{"prompt":"hello"}`, `{"threadId":null,"prompt":"hello"}`} {
		if got := b.as(t, tokenA, http.MethodPost, runPath, body); got.status != http.StatusAccepted {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

// The header repeats the first answer, with and without the quotes of its grammar.
func TestRunIdempotencyKey(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	start := func(key, thread string) answer {
		return b.do(t, call{
			method: http.MethodPost, path: runPath, token: tokenA,
			body:   `{"threadId":"` + thread + `","prompt":"hello"}`,
			header: map[string]string{"Idempotency-Key": key},
		})
	}
	first := start("k1", "t1")
	for _, key := range []string{"k1", `"k1"`} {
		if again := start(key, "t1"); again.status != http.StatusAccepted || again.body != first.body {
			t.Errorf("again with %s: %d %s, want %s", key, again.status, again.body, first.body)
		}
	}
	reused := b.do(t, call{
		method: http.MethodPost, path: runPath, token: tokenA, body: `{"threadId":"t1","prompt":"another"}`,
		header: map[string]string{"Idempotency-Key": "k1"},
	})
	if want := strings.NewReplacer(
		`"accepted":true`, `"accepted":false`, `"state":"QUEUED"`,
		`"reason":"key_reused","error":"This Idempotency-Key belongs to another start"`,
	).Replace(first.body); reused.status != http.StatusConflict || reused.body != want {
		t.Errorf("another body: %d %s, want %s", reused.status, reused.body, want)
	}
	if other := start("k2", "t1"); other.status != http.StatusConflict {
		t.Errorf("another key: %d %s", other.status, other.body)
	}
	if bad := start("a b", "t2"); bad.status != http.StatusBadRequest {
		t.Errorf("bad key: %d %s", bad.status, bad.body)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hello"}`)
	if got := b.as(t, tokenA, http.MethodPost, controlPath, `{"threadId":"t1"}`); got.status != http.StatusOK ||
		got.body != `{"accepted":true}` {
		t.Errorf("stop: %d %s", got.status, got.body)
	}
	got := b.as(t, tokenA, http.MethodPost, controlPath, `{"threadId":"t1"}`)
	if got.status != http.StatusConflict ||
		got.body != `{"accepted":false,"reason":"not_active","error":"Cannot stop thread in state CANCELLED"}` {
		t.Errorf("second stop: %d %s", got.status, got.body)
	}
}

// Eight people answer one approval: one is told that it counts, seven that it does not,
// and the record says who it was.
func TestRespondRace(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"use send with {\"to\":\"x\"}"}`)
	watch := b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA})
	callID := toolCallID(t, watch.until(t, entry(wire.EntryInputRequired)))

	var (
		answering sync.WaitGroup
		statuses  = make(chan int, 8)
	)
	for range 8 {
		answering.Go(func() {
			statuses <- b.as(t, tokenA, http.MethodPost, respondPath,
				`{"threadId":"t1","toolCallId":"`+callID+`","approved":true,"payload":{"note":"fine"}}`).status
		})
	}
	answering.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	if count[http.StatusOK] != 1 || count[http.StatusConflict] != 7 {
		t.Errorf("statuses %v", count)
	}
	all := watch.until(t, state(wire.Completed))
	var answered []message
	for _, m := range all {
		if entry(wire.EntryHITLResponse)(m) {
			answered = append(answered, m)
		}
	}
	if len(answered) != 1 || !strings.Contains(answered[0].raw, `"answeredBy":"anna"`) {
		t.Errorf("answers in the record: %+v", answered)
	}
}

// toolCallID returns the call of the last park that was streamed.
func toolCallID(t *testing.T, all []message) string {
	t.Helper()

	for _, m := range slices.Backward(all) {
		if entry(wire.EntryInputRequired)(m) {
			var park wire.InputRequired
			if err := json.Unmarshal(m.frame.Event.Payload, &park); err != nil {
				t.Fatal(err)
			}
			return string(park.ToolCallID)
		}
	}
	t.Fatal("nothing parked")
	return ""
}

// What the agent does not allow of the provider options is ignored, and the answer says so: in its body, and in a
// header for a stream, which has no body of its own.
func TestProviderOptionsWarning(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	const warning = `ignored of providerOptions, because the configuration of the agent "assistant" does not allow it: "seed"`
	for name, got := range map[string]answer{
		"run":  b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hello","providerOptions":{"seed":7}}`),
		"chat": b.as(t, tokenA, http.MethodPost, chatPath, chatBody("t2", chatTurn, `,"providerOptions":{"seed":7}`)),
		"ag-ui": b.as(t, tokenA, http.MethodPost, aguiPath,
			aguiInput("t3", says+`,"forwardedProps":{"spool":{"providerOptions":{"seed":7}}}`)),
	} {
		if got.status >= http.StatusBadRequest || got.header.Get("X-Spool-Warning") != warning {
			t.Errorf("%s: %d %v %s", name, got.status, got.header, got.body)
		}
		if name == "run" && !strings.Contains(got.body, `"warning":"ignored of providerOptions`) {
			t.Errorf("%s", got.body)
		}
	}
	if got := b.as(
		t, tokenA, http.MethodPost, runPath, `{"threadId":"t4","prompt":"hello"}`,
	); got.header.Get("X-Spool-Warning") != "" || strings.Contains(got.body, "warning") {
		t.Errorf("without options: %v %s", got.header, got.body)
	}
	if !strings.Contains(b.logged.String(), "a start asked for what its agent does not allow") {
		t.Errorf("the log: %s", b.logged)
	}
}
