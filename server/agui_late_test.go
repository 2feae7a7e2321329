package server_test

import (
	"bufio"
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// lateStore calls begun when a transaction has given a worker something to do, before the
// caller knows that it has.
type lateStore struct {
	store.Store

	begun func()
}

func (s lateStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	var tx *lateTx
	err := s.Store.Update(ctx, key, fence, func(inner store.Tx) error {
		tx = &lateTx{Tx: inner}
		return fn(tx)
	})
	if err == nil && tx.begun {
		s.begun()
	}
	return err
}

type lateTx struct {
	store.Tx

	begun bool
}

func (tx *lateTx) Write(c store.Changes) error {
	tx.begun = tx.begun || slices.ContainsFunc(c.Jobs,
		func(j wire.Job) bool { return j.Kind == wire.JobStart || j.Kind == wire.JobResume })
	return tx.Tx.Write(c)
}

// aguiCalls are a conversation over AG-UI: a run, one that waits for an answer, and the rest of it
// behind the answer.
var aguiCalls = []string{
	`"runId":"r1","messages":[{"id":"m1","role":"user","content":"hello"}]`,
	`"runId":"r2","messages":[{"id":"m2","role":"user","content":"use send with {\"to\":\"ann\"}"}]`,
	`"runId":"r3","messages":[],"resume":[{"interruptId":"CALL","status":"resolved","payload":{"approved":true}}]`,
}

var (
	interruptID = regexp.MustCompile(`"interrupts":\[\{"id":"([^"]+)"`)
	// ownToRun is what two runs of the same do not share.
	ownToRun = regexp.MustCompile(`(?m)^id: .*\n|"expiresAt":"[^"]+",`)
)

// converse posts calls, and calls seen when the first events of each answer have come. It
// returns the answers less what two conversations do not share.
func converse(t *testing.T, url string, calls []string, seen func()) (answers []string) {
	t.Helper()

	call := ""
	for _, body := range calls {
		body = `{"threadId":"t1","tools":[],"context":[],` + strings.Replace(body, "CALL", call, 1) + `}`
		r, err := http.NewRequestWithContext(patiently(t), http.MethodPost, url+aguiPath, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		lines := bufio.NewReader(answer.Body)
		first, err := readTo(lines, "MESSAGES_SNAPSHOT")
		if err != nil {
			t.Fatal(answer.Status, first, err)
		}
		seen()
		rest, err := readTo(lines, "RUN_FINISHED")
		if err != nil {
			t.Fatal(first, rest, err)
		}
		if waits := interruptID.FindStringSubmatch(rest); waits != nil {
			call = waits[1]
		}
		answers = append(answers, ownToRun.ReplaceAllString(first+rest, ""))
	}
	return answers
}

// segment has a worker execute the segment that is queued on the thread of the calls, to its
// end. Since is the last entry of the record that earlier ones have left.
func segment(t *testing.T, e *engine.Engine, since *int64) {
	t.Helper()

	ctx, stop := context.WithCancel(context.Background())
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	for entry, err := range e.FollowRecord(patiently(t), aguiThread, *since) {
		if err != nil {
			t.Errorf("wait for the segment's end: %v", err)
			break
		}
		if *since = max(*since, entry.Seq); entry.Type == wire.EntryRunEnded {
			break
		}
	}
	stop()
	if err := receive(t, "the worker ends", worked); err != nil {
		t.Error(err)
	}
}

// aguiThread is the thread of the calls.
var aguiThread = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t1"}

// The answer to a POST has all that the run says from there on, as it says it, also when the
// run is over before the stream is open.
func TestAGUITellsWhatWasSaidBeforeItsStream(t *testing.T) {
	t.Parallel()

	var since int64
	e, url := serve(t, memory.New(nil), demo.New(demo.Config{}))
	want := converse(t, url, aguiCalls, func() { segment(t, e, &since) })
	for i, text := range []string{`"delta":"hello`, `"TOOL_CALL_START"`, `"TOOL_CALL_RESULT"`} {
		if !strings.Contains(want[i], text) {
			t.Errorf("a client that was there before the segment was not told %s:\n%s", text, want[i])
		}
	}

	b := memory.New(nil)
	var late *engine.Engine
	var lateSince int64
	b.Store = lateStore{b.Store, func() { segment(t, late, &lateSince) }}
	late, url = serve(t, b, demo.New(demo.Config{}))
	if diff := cmp.Diff(want, converse(t, url, aguiCalls, func() {})); diff != "" {
		t.Errorf("a client that comes when the segment is over, -want +got:\n%s", diff)
	}
}

// Where the run's stream is gone by then, its messages make up for that.
func TestAGUIShowsTheMessagesOfAStreamThatIsGone(t *testing.T) {
	t.Parallel()

	b := memory.New(nil)
	var e *engine.Engine
	var since int64
	b.Store = lateStore{b.Store, func() {
		segment(t, e, &since)
		if err := b.Live.Delete(t.Context(), aguiThread); err != nil {
			t.Error(err)
		}
	}}
	e, url := serve(t, b, demo.New(demo.Config{}))
	got := converse(t, url, aguiCalls[:1], func() {})[0]
	_, last, _ := strings.Cut(got[strings.LastIndex(got, "MESSAGES_SNAPSHOT"):], `"role":"assistant"`)
	if strings.Contains(got, `"delta":"hello`) || !strings.Contains(last, "hello") ||
		!strings.Contains(last, `"outcome":{"type":"success"}`) {
		t.Errorf("the client was told\n%s", got)
	}
}
