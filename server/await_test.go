package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

const outcomePath = "/api/agent/runs"

// outcome is an answer that says what a run has come to.
func (a answer) outcome(t *testing.T) (o struct {
	wire.RunOutcome

	Accepted bool
},
) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &o); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return o
}

// later makes a call in the background, and returns once the run that it is about is there.
func (b *bundle) later(t *testing.T, c call, run string) <-chan answer {
	t.Helper()

	got := make(chan answer, 1)
	go func() { got <- b.do(t, c) }()
	b.isThere(t, run)
	return got
}

// isThere waits until tenant a has a run.
func (b *bundle) isThere(t *testing.T, run string) {
	t.Helper()
	within(t, "the run is there", func() {
		for b.as(t, tokenA, http.MethodGet, outcomePath+"/"+run, "").status == http.StatusNotFound {
			<-time.After(time.Millisecond)
		}
	})
}

// One request starts a run and has its answer; another one has the same later.
func TestRunWait(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	got := b.as(t, tokenA, http.MethodPost, runPath+"?wait=30s", `{"threadId":"t1","runId":"r1","prompt":"Hello"}`)
	o := got.outcome(t)
	if got.status != http.StatusOK || !o.Accepted || o.State != wire.Completed || o.StopReason != wire.StopCompleted ||
		!strings.Contains(o.Text, "You said: Hello") ||
		o.Message == nil || o.Message.Text() != o.Text || o.Usage.TotalTokens == 0 || o.RunID != "r1" || o.ThreadID != "t1" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if !strings.Contains(got.body, `"parks":[]`) {
		t.Errorf("without parks: %s", got.body)
	}
	for _, path := range []string{outcomePath + "/r1", outcomePath + "/r1?wait=30s"} {
		same := b.as(t, tokenA, http.MethodGet, path, "")
		if want := strings.Replace(got.body, `"accepted":true,`, "", 1); same.status != http.StatusOK || same.body != want {
			t.Errorf("%s: %d %s\nwant %s", path, same.status, same.body, want)
		}
	}
}

// A run that needs a person ends the wait with what it asks. Whoever has answered waits again.
func TestRunWaitPark(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	got := b.as(t, tokenA, http.MethodPost, runPath+"?wait=30s",
		`{"threadId":"t1","runId":"r1","prompt":"use send with {\"to\":\"ann\"}"}`)
	o := got.outcome(t)
	if got.status != http.StatusOK || o.State != wire.WaitingForInput || len(o.Parks) != 1 ||
		o.Parks[0].ToolName != "send" ||
		string(o.Parks[0].Arguments) != `{"to":"ann"}` || o.Parks[0].Digest == "" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	body, err := json.Marshal(map[string]any{
		"threadId": "t1", "toolCallId": o.Parks[0].ToolCallID, "digest": o.Parks[0].Digest, "approved": true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.as(t, tokenA, http.MethodPost, respondPath, string(body)); got.status != http.StatusOK {
		t.Fatal(got)
	}
	got = b.as(t, tokenA, http.MethodGet, outcomePath+"/r1?wait=30s", "")
	if o := got.outcome(t); got.status != http.StatusOK || o.State != wire.Completed ||
		!strings.Contains(o.Text, "sent to ann") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// When the time is up the answer is the one of a start that does not wait, and of a GET where
// the run is. The run goes on.
func TestRunWaitTooShort(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	got := b.as(t, tokenA, http.MethodPost, runPath+"?wait=20ms", `{"threadId":"t1","runId":"r1","prompt":"Hello"}`)
	if got.status != http.StatusAccepted || got.body != `{"accepted":true,"threadId":"t1","runId":"r1","state":"QUEUED"}` {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, path := range []string{outcomePath + "/r1", outcomePath + "/r1?wait=20ms"} {
		got = b.as(t, tokenA, http.MethodGet, path, "")
		if o := got.outcome(t); got.status != http.StatusOK || o.State != wire.Queued ||
			!strings.Contains(got.body, `"text":"","parks":[]`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	b.work(t)
	if o := b.as(t, tokenA, http.MethodGet, outcomePath+"/r1?wait=1m", "").outcome(t); o.State != wire.Completed {
		t.Errorf("%+v", o)
	}
}

// A wait that makes no sense is named, and starts nothing.
func TestRunWaitInvalid(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{MaxWait: 90 * time.Second})
	const want = `{"error":"wait must be a duration above zero and up to 1m30s, such as \"30s\"","code":"invalid"}`
	for _, wait := range []string{"0s", "0", "-1s", "30", "91s", "1h", "forever", "1e3s", "%20"} {
		for _, c := range []call{
			{method: http.MethodPost, path: runPath, body: `{"threadId":"t1","runId":"r1","prompt":"Hello"}`},
			{method: http.MethodGet, path: outcomePath + "/r1"},
		} {
			c.token, c.path = tokenA, c.path+"?wait="+wait
			if got := b.do(t, c); got.status != http.StatusBadRequest || got.body != want {
				t.Errorf("%s %s: %d %s", c.method, c.path, got.status, got.body)
			}
		}
	}
	for _, waits := range []string{"wait=1s&wait=2s", "wait=1s&wait=1s", "wait=1s&x=1&wait=2s"} {
		for _, c := range []call{
			{method: http.MethodPost, path: runPath, body: `{"threadId":"t1","runId":"r1","prompt":"Hello"}`},
			{method: http.MethodGet, path: outcomePath + "/r1"},
		} {
			c.token, c.path = tokenA, c.path+"?"+waits
			if got := b.do(t, c); got.status != http.StatusBadRequest ||
				got.body != `{"error":"wait must be given only once","code":"invalid"}` {
				t.Errorf("%s %s: %d %s", c.method, c.path, got.status, got.body)
			}
		}
	}
	if got := b.as(t, tokenA, http.MethodGet, outcomePath+"/r1", ""); got.status != http.StatusNotFound {
		t.Errorf("something was started: %s", got.body)
	}
	if _, err := server.New(b.engine, server.Config{Insecure: true, MaxWait: -1}); spool.CodeOf(err) != spool.Invalid ||
		!strings.Contains(err.Error(), "MaxWait") {
		t.Errorf("a negative bound: %v", err)
	}
	// An empty one is an absent one.
	if got := b.as(
		t, tokenA, http.MethodPost, runPath+"?wait=", `{"threadId":"t1","prompt":"Hello"}`,
	); got.status != http.StatusAccepted {
		t.Errorf("an empty wait: %d %s", got.status, got.body)
	}
}

// A start that is repeated under its key waits for the run of the first one. So does one whose
// run has to wait for the thread.
func TestRunWaitAgain(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	start := call{
		method: http.MethodPost, path: runPath + "?wait=1m", token: tokenA,
		header: map[string]string{"Idempotency-Key": "k1"}, body: `{"threadId":"t1","runId":"r1","prompt":"Hello"}`,
	}
	first := b.later(t, start, "r1")
	again := b.later(t, start, "r1")
	line := b.later(t, call{
		method: http.MethodPost, path: runPath + "?wait=1m", token: tokenA,
		body: `{"threadId":"t1","runId":"r2","prompt":"And again","whenBusy":"enqueue"}`,
	}, "r2")
	b.work(t)
	one, two, three := receive(t, "the first", first), receive(t, "the second", again), receive(t, "the third", line)
	if o := one.outcome(t); one.status != http.StatusOK || o.RunID != "r1" || o.State != wire.Completed {
		t.Errorf("the first: %d %s", one.status, one.body)
	}
	if diff := cmp.Diff(one.body, two.body); diff != "" {
		t.Errorf("the repeated one differs: %s", diff)
	}
	if o := three.outcome(t); three.status != http.StatusOK || o.RunID != "r2" ||
		!strings.Contains(o.Text, "You said: And again") {
		t.Errorf("the one in line: %d %s", three.status, three.body)
	}
	// One that is refused is refused at once.
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t2","runId":"r3","prompt":"slow 1000"}`)
	if got := b.as(
		t, tokenA, http.MethodPost, runPath+"?wait=1m", `{"threadId":"t2","prompt":"Hello"}`,
	); got.status != http.StatusConflict {
		t.Errorf("refused: %d %s", got.status, got.body)
	}
}

// A client that goes away stops nothing.
func TestRunWaitDisconnect(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Limits: server.Limits{OpenStreams: 1}})
	ctx, cancel := context.WithCancel(patiently(t))
	r := b.request(t, call{
		method: http.MethodPost, path: runPath + "?wait=1m", token: tokenA,
		body: `{"threadId":"t1","runId":"r1","prompt":"Hello"}`,
	})
	gone := make(chan error, 1)
	go func() {
		res, err := http.DefaultTransport.RoundTrip(r.WithContext(ctx))
		if err == nil {
			_ = res.Body.Close()
		}
		gone <- err
	}()
	b.isThere(t, "r1")
	cancel()
	if err := receive(t, "the client is gone", gone); !errors.Is(err, context.Canceled) {
		t.Errorf("the client got an answer: %v", err)
	}
	b.work(t)
	within(t, "its place is free", func() {
		for {
			got := b.as(t, tokenA, http.MethodGet, outcomePath+"/r1?wait=1m", "")
			if got.status == http.StatusTooManyRequests {
				continue
			}
			if o := got.outcome(t); o.State != wire.Completed {
				t.Errorf("%d %s", got.status, got.body)
			}
			return
		}
	})
}

// A server that drains, and one whose engine is closed, answers those who wait at once.
func TestRunWaitDrain(t *testing.T) {
	t.Parallel()

	for name, end := range map[string]func(b *bundle){
		"Drain":  func(b *bundle) { b.server.Drain() },
		"Engine": func(b *bundle) { b.engine.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, server.Config{})
			start := call{
				method: http.MethodPost, path: runPath + "?wait=1m", token: tokenA,
				body: `{"threadId":"t1","runId":"r1","prompt":"Hello"}`,
			}
			post := b.later(t, start, "r1")
			get := b.later(t, call{method: http.MethodGet, path: outcomePath + "/r1?wait=1m", token: tokenA}, "r1")
			end(b)
			if got := receive(t, "the start", post); got.status != http.StatusAccepted ||
				got.body != `{"accepted":true,"threadId":"t1","runId":"r1","state":"QUEUED"}` {
				t.Errorf("the start: %d %s", got.status, got.body)
			}
			if got := receive(t, "the question", get); got.status != http.StatusOK || got.outcome(t).State != wire.Queued {
				t.Errorf("the question: %d %s", got.status, got.body)
			}
			start.body = `{"threadId":"t2","prompt":"Hello"}`
			if got := b.do(t, start); got.status != http.StatusAccepted {
				t.Errorf("one that comes later: %d %s", got.status, got.body)
			}
		})
	}
}

// Who waits counts among the open streams, and who may not read is not told what a run says.
// Both are refused before anything is started.
func TestRunWaitRefused(t *testing.T) {
	t.Parallel()

	auth, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
		{
			Token:     "a-token-that-only-writes",
			Principal: access.Principal{Tenant: "a", Subject: "will", Scopes: []access.Scope{access.ScopeWrite}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, server.Config{Authenticator: auth, Limits: server.Limits{OpenStreams: 1}})
	first := b.later(t, call{
		method: http.MethodPost, path: runPath + "?wait=1m", token: tokenA,
		body: `{"threadId":"t1","runId":"r1","prompt":"Hello"}`,
	}, "r1")
	for _, c := range []struct {
		call
		status int
		text   string
	}{
		{
			call{http.MethodPost, runPath + "?wait=1m", `{"threadId":"t2","prompt":"Hello"}`, tokenA, nil},
			429,
			"too many open streams: 1 at a time are allowed",
		},
		{
			call{http.MethodGet, outcomePath + "/r1?wait=1m", "", tokenA, nil},
			429,
			"too many open streams: 1 at a time are allowed",
		},
		{
			call{http.MethodGet, streamPath + "?threadId=t1", "", tokenA, nil},
			429,
			"too many open streams: 1 at a time are allowed",
		},
		{
			call{http.MethodPost, runPath + "?wait=1m", `{"threadId":"t2","prompt":"Hello"}`, "a-token-that-only-writes", nil},
			403, `the scope \"read\" is required for wait`,
		},
		{
			call{http.MethodGet, outcomePath + "/r1", "", "a-token-that-only-writes", nil},
			403,
			`the scope \"read\" is required`,
		},
	} {
		got := b.do(t, c.call)
		if got.status != c.status || !strings.Contains(got.body, c.text) || got.status == 429 && got.waits() != 1 {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.status, got.body)
		}
	}
	if got := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t2", ""); got.status != http.StatusNotFound {
		t.Errorf("something was started: %s", got.body)
	}
	b.work(t)
	if got := receive(t, "the first", first); got.status != http.StatusOK {
		t.Errorf("the first: %d %s", got.status, got.body)
	}
	if got := b.as(t, tokenA, http.MethodGet, outcomePath+"/r1?wait=1m", ""); got.status != http.StatusOK {
		t.Errorf("the place is not free: %d %s", got.status, got.body)
	}
}

// A run is gone with its thread, and it never was there for those who may not see it.
func TestRunOutcomeGone(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","runId":"r1","prompt":"Hello"}`)
	const gone = `{"error":"Run not found","code":"not_found"}`
	for _, path := range []string{outcomePath + "/r1", outcomePath + "/r1?wait=1m", outcomePath + "/none?wait=1m"} {
		if got := b.as(t, tokenB, http.MethodGet, path, ""); got.status != http.StatusNotFound || got.body != gone {
			t.Errorf("%s of another tenant: %d %s", path, got.status, got.body)
		}
	}
	if got := b.as(t, tokenA, http.MethodGet, outcomePath+"/no!id", ""); got.status != http.StatusBadRequest ||
		!strings.Contains(got.body, "runId") {
		t.Errorf("no id: %d %s", got.status, got.body)
	}
	b.work(t)
	b.as(t, tokenA, http.MethodGet, outcomePath+"/r1?wait=1m", "")
	until(t, "the thread, which can be pruned when its worker has acknowledged the ticket", func() bool {
		return strings.Contains(b.as(t, tokenA, http.MethodPost, prunePath, `{"olderThan":"0s"}`).body, `"threads":1`)
	})
	for _, path := range []string{outcomePath + "/r1", outcomePath + "/r1?wait=1m"} {
		if got := b.as(t, tokenA, http.MethodGet, path, ""); got.status != http.StatusNotFound || got.body != gone {
			t.Errorf("%s after a prune: %d %s", path, got.status, got.body)
		}
	}
}

// Who waits has nothing of the memory for bodies any more.
func TestRunWaitBody(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{MaxBodyBytes: 3 << 20, BodyMemory: 8 << 20})
	var all []<-chan answer
	for _, run := range []string{"r1", "r2", "r3", "r4", "r5"} {
		body := `{"runId":"` + run + `","prompt":"Hello","more":"` + strings.Repeat("x", 2<<20) + `"}`
		all = append(all, b.later(t, call{method: http.MethodPost, path: runPath + "?wait=1m", token: tokenA, body: body},
			run))
	}
	b.work(t)
	for _, from := range all {
		if got := receive(t, "the answer", from); got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

// A wait ends with the credentials that it was asked for with.
func TestRunWaitCredentials(t *testing.T) {
	t.Parallel()

	auth, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, server.Config{Authenticator: auth})
	post := b.later(t, call{
		method: http.MethodPost, path: runPath + "?wait=1m", token: tokenA,
		body: `{"threadId":"t1","runId":"r1","prompt":"Hello"}`,
	}, "r1")
	get := b.later(t, call{method: http.MethodGet, path: outcomePath + "/r1?wait=1m", token: tokenA}, "r1")
	if err := auth.Replace(nil); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, "the start", post); got.status != http.StatusAccepted {
		t.Errorf("the start: %d %s", got.status, got.body)
	}
	if got := receive(t, "the question", get); got.status != http.StatusUnauthorized {
		t.Errorf("the question: %d %s", got.status, got.body)
	}
}
