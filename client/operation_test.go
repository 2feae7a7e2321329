package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

func TestRun(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the operations")
	o := run(t, c, client.RunRequest{
		ThreadID: "t1", RunID: "r1", Prompt: "Hello", ClientMessageID: "mine", Title: "A title",
		Labels: map[string]string{"team": "red"}, Budget: spool.Budget{Tokens: 100_000, ToolCalls: 7, WallTime: time.Minute},
	})
	if o.State != wire.Completed || o.ThreadID != "t1" || o.Text == "" {
		t.Fatalf("outcome %+v", o)
	}
	s := must(c.Snapshot(ctx, "t1", wire.SnapshotOptions{}))(t)
	if s.Thread.Title != "A title" || s.Thread.Labels["team"] != "red" || s.Messages[0].ClientMessageID != "mine" {
		t.Errorf("thread %+v, turn %+v", s.Thread, s.Messages[0])
	}
	used := must(c.Run(ctx, client.RunRequest{ThreadID: "t1", RunID: "r1", Prompt: "Hello"}))(t)
	if used.Accepted || used.Reason != wire.ReasonRunIDUsed {
		t.Errorf("a used id: %+v", used)
	}

	// The same key gives the same run.
	first := must(c.Run(ctx, client.RunRequest{Prompt: "Hello", IdempotencyKey: "order-1"}))(t)
	second := must(c.Run(ctx, client.RunRequest{Prompt: "Hello", IdempotencyKey: "order-1"}))(t)
	if !first.Accepted || first != second {
		t.Errorf("%+v, then %+v", first, second)
	}
}

func TestRunBudgetArrives(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	o := run(t, c, client.RunRequest{
		Prompt: "use look with {\"at\":\"a\"} and use look with {\"at\":\"b\"}", Budget: spool.Budget{ToolCalls: 1},
	})
	if o.StopReason != wire.StopToolCallBudget {
		t.Errorf("stop reason %q", o.StopReason)
	}
}

func TestParkAndRespond(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the operations")
	o := run(t, c, client.RunRequest{ThreadID: "t1", Prompt: `use send with {"to":"ann"}`})
	if o.State != wire.WaitingForInput || len(o.Parks) != 1 {
		t.Fatalf("outcome %+v", o)
	}
	busy := must(c.Run(ctx, client.RunRequest{ThreadID: "t1", Prompt: "Hello"}))(t)
	if busy.Accepted || busy.Reason != wire.ReasonActiveRun {
		t.Errorf("busy: %+v", busy)
	}
	ask := o.Parks[0]
	answer := client.RespondRequest{
		ToolCallID: ask.ToolCallID, Approved: true, Digest: ask.Digest, Arguments: json.RawMessage(`{"to":"bob"}`),
		Reason: "fine",
	}
	other := answer
	other.Digest = "sha256:other"
	if r := must(c.Respond(ctx, "t1", other))(t); r.Delivered || r.Reason != wire.ReasonChanged {
		t.Errorf("another question: %+v", r)
	}
	if r := must(c.Respond(ctx, "t1", answer))(t); !r.Delivered {
		t.Errorf("respond: %+v", r)
	}
	if o = await(t, c, o.RunID); o.State != wire.Completed {
		t.Errorf("outcome %+v", o)
	}
	if r := must(c.Respond(ctx, "t1", answer))(t); r.Delivered || r.Reason == "" {
		t.Errorf("a second answer: %+v", r)
	}
	if stopped := must(c.Stop(ctx, "t1", ""))(t); stopped.Accepted || stopped.Reason != wire.ReasonNotActive {
		t.Errorf("stop: %+v", stopped)
	}
	o = run(t, c, client.RunRequest{ThreadID: "t1", Prompt: `use send with {"to":"ann"}`})
	if stopped := must(c.Stop(ctx, "t1", o.RunID))(t); !stopped.Accepted {
		t.Errorf("stop: %+v", stopped)
	}
	if o = await(t, c, o.RunID); o.State != wire.Cancelled {
		t.Errorf("outcome %+v", o)
	}
}

func TestAwaitShortServer(t *testing.T) {
	t.Parallel()

	_, c := setup(t, func(_ *engine.Config, sc *server.Config) { sc.MaxWait = time.Second })
	if o := run(t, c, client.RunRequest{Prompt: "slow 10"}); o.State != wire.Completed {
		t.Errorf("outcome %+v", o)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the lists")
	for i := range 5 {
		run(t, c, client.RunRequest{
			ThreadID: spool.ThreadID(fmt.Sprintf("t%d", i)), Prompt: "Hello",
			Labels: map[string]string{"odd": strconv.Itoa(i % 2)},
		})
	}
	ids := func(f client.ThreadFilter) (ids []spool.ThreadID) {
		for thread, err := range c.Threads(ctx, f) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, thread.ID)
		}
		return ids
	}
	for size := range 7 {
		if diff := cmp.Diff(
			[]spool.ThreadID{"t4", "t3", "t2", "t1", "t0"}, ids(client.ThreadFilter{PageSize: size}),
		); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
	if diff := cmp.Diff(
		[]spool.ThreadID{"t3", "t1"}, ids(client.ThreadFilter{Labels: map[string]string{"odd": "1"}, State: wire.Completed}),
	); diff != "" {
		t.Errorf("filtered (-want +got):\n%s", diff)
	}
	if got := ids(client.ThreadFilter{Expired: true}); len(got) != 0 {
		t.Errorf("with the mark: %v", got)
	}
	if got := ids(client.ThreadFilter{UpdatedBefore: time.Now().Add(-time.Hour)}); len(got) != 0 {
		t.Errorf("of an hour ago: %v", got)
	}
	for _, err := range c.Threads(ctx, client.ThreadFilter{PageSize: 5000}) {
		wantError(t, err, spool.Invalid, http.StatusBadRequest)
	}
	n := 0
	for r, err := range c.Runs(ctx, client.RunFilter{PageSize: 2, State: wire.Completed, TopLevel: true}) {
		if err != nil || r.State != wire.Completed {
			t.Fatalf("run %+v, %v", r, err)
		}
		n++
	}
	if n != 5 {
		t.Errorf("%d runs", n)
	}
	if o := must(c.Overview(ctx))(t); o.Threads != 5 {
		t.Errorf("overview %+v", o)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the history")
	for range 3 {
		run(t, c, client.RunRequest{ThreadID: "t1", Prompt: `use look with {"at":"x"}`})
	}
	whole := must(c.Snapshot(ctx, "t1", wire.SnapshotOptions{}))(t)
	var want []spool.MessageID
	for _, m := range slices.Backward(whole.Messages) {
		want = append(want, m.ID)
	}
	for _, size := range []int{0, 1, 2, len(want), 100} {
		var got []spool.MessageID
		for m, err := range c.Messages(ctx, "t1", size) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
	after := must(c.Snapshot(ctx, "t1", wire.SnapshotOptions{LastMessageID: want[1]}))(t)
	if len(after.Messages) != 1 || after.Messages[0].ID != want[0] {
		t.Errorf("after %s: %+v", want[1], after.Messages)
	}
	if u := must(c.Usage(ctx, "t1"))(t); u.Tokens.TotalTokens == 0 || u.Context.Messages != len(want) {
		t.Errorf("usage %+v", u)
	}
}

func TestBranches(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the branches")
	run(t, c, client.RunRequest{ThreadID: "t1", Prompt: "Hello"})
	turn := must(c.Snapshot(ctx, "t1", wire.SnapshotOptions{}))(t).Messages[0].ID
	run(t, c, client.RunRequest{ThreadID: "t1", Prompt: "Good morning", EditMessageID: turn})
	branches := must(c.Branches(ctx, "t1"))(t)
	if len(branches) != 1 || branches[0].FromMessageID != turn {
		t.Fatalf("branches %+v", branches)
	}
	if b := must(c.Branch(ctx, "t1", branches[0].ID, wire.BranchOptions{Limit: 1}))(t); len(b.Messages) != 1 ||
		b.Messages[0].Role != spool.RoleAssistant {
		t.Errorf("branch %+v", b)
	}
	if r := must(c.RestoreBranch(ctx, "t1", branches[0].ID))(t); !r.Accepted || r.DroppedBranchID == 0 {
		t.Errorf("restore %+v", r)
	}
	if r := must(c.RestoreBranch(ctx, "t1", branches[0].ID))(t); r.Accepted || r.Reason != wire.ReasonNotFound {
		t.Errorf("a second restore %+v", r)
	}
	if first := must(c.Snapshot(ctx, "t1", wire.SnapshotOptions{}))(t).Messages[0]; first.ID != turn {
		t.Errorf("first message %+v", first)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the events")
	run(t, c, client.RunRequest{ThreadID: "t1", Prompt: "Hello"})
	var want []int64
	for i := range 3 {
		e := must(spool.NewEvent("receipt", map[string]int{"cents": i}, true))(t)
		want = append(want, must(c.Publish(ctx, "t1", e))(t))
	}
	if seq := must(c.Publish(ctx, "t1", must(spool.NewEvent("ping", nil, false))(t)))(t); seq != 0 {
		t.Errorf("a live event has the seq %d", seq)
	}
	var got []int64
	for e, err := range c.Events(ctx, "t1", want[0]) {
		if err != nil || e.Type != "receipt" || e.PublishedBy != "ann" {
			t.Fatalf("event %+v, %v", e, err)
		}
		got = append(got, e.Seq)
	}
	if diff := cmp.Diff(want[1:], got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	_, err := c.Publish(ctx, "nobody", spool.Event{Type: "ping"})
	wantError(t, err, spool.NotFound, http.StatusNotFound)
}

func TestThreads(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the operations")
	run(t, c, client.RunRequest{ThreadID: "t1", Prompt: "Hello", Labels: map[string]string{"a": "1", "b": "2"}})
	title, three := "Another", "3"
	thread := must(c.UpdateThread(ctx, "t1",
		wire.ThreadChange{Title: &title, Labels: map[string]*string{"a": nil, "c": &three}}))(t)
	if diff := cmp.Diff(map[string]string{"b": "2", "c": "3"}, thread.Labels); diff != "" || thread.Title != title {
		t.Errorf("thread %+v, labels (-want +got):\n%s", thread, diff)
	}
	if token := must(c.StreamToken(ctx, "t1"))(t); token.Token == "" || !token.ExpiresAt.After(time.Now()) {
		t.Errorf("stream token %+v", token)
	}
	if r := must(c.Compact(ctx, "t1"))(t); !r.Compacted || r.SummarizedMessages == 0 {
		t.Errorf("compact: %+v", r)
	}
	if r := must(c.Compact(ctx, "t1"))(t); r.Compacted || r.Reason != wire.ReasonNothingToCompact {
		t.Errorf("compact again: %+v", r)
	}
	must(c.Run(ctx, client.RunRequest{ThreadID: "t2", Prompt: "slow 100000"}))(t)
	if r := must(c.DeleteThread(ctx, "t2"))(t); r.Accepted || r.Reason != wire.ReasonActiveRun {
		t.Errorf("delete of a busy thread: %+v", r)
	}
	if r := must(c.DeleteThread(ctx, "t1"))(t); !r.Accepted {
		t.Errorf("delete: %+v", r)
	}
	if r := must(c.DeleteThread(ctx, "t1"))(t); r.Accepted || r.Reason != wire.ReasonNotFound {
		t.Errorf("a second delete: %+v", r)
	}
	_, err := c.DeleteThread(ctx, "")
	wantError(t, err, spool.Invalid, http.StatusBadRequest)
}
