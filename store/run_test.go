package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func TestRunStream(t *testing.T) {
	t.Parallel()

	if id := (wire.Run{ID: "r1"}).Stream(); id != "" {
		t.Errorf("a run that nobody has picked up has stream %q", id)
	}
	if id := (wire.Run{ID: "r1", Segments: 2}).Stream(); id != "r1:2" {
		t.Errorf("stream is %q", id)
	}
}

// TestRunHidesWhatIsOurs keeps the engine's own fields off the wire.
func TestRunHidesWhatIsOurs(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	b, err := json.Marshal(wire.Run{
		Tenant: "acme", ID: "r1", ThreadID: "t1", State: wire.Running, StartedAt: now,
		RootID: "r0", Segments: 2, CreatedAt: now, QueuePosition: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"r1","threadId":"t1","depth":0,"agent":"","model":"","state":"RUNNING","startedAt":"2026-11-21T09:30:00Z",` +
		`"steps":0,"attempts":0,"inputTokens":0,"cachedInputTokens":0,"outputTokens":0,"totalTokens":0}`
	if string(b) != want {
		t.Errorf("written as\n%s, want\n%s", b, want)
	}
}

func TestThreadLeased(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	for want, until := range map[bool]time.Time{true: now.Add(time.Nanosecond), false: now} {
		if got := (wire.Thread{LeaseUntil: until}).Leased(now); got != want {
			t.Errorf("leased until %v: %v", until, got)
		}
	}
	if (wire.Thread{}).Leased(now) {
		t.Error("a thread that nobody has claimed is leased")
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()

	call := spool.ToolCall{RunID: "r1", Step: 3, ID: "call_1"}
	if got := call.IdempotencyKey(); got != "r1/3/call_1" {
		t.Errorf("key is %q", got)
	}
	call.Key = "k"
	if got := call.IdempotencyKey(); got != "k" {
		t.Errorf("key is %q", got)
	}
}

// Each of the things that a key stands for makes it another one, and no two of them can be
// told for each other.
func TestCallKey(t *testing.T) {
	t.Parallel()

	made := func(tenant spool.Tenant, id spool.RunID, nonce string) store.RunRow {
		return store.RunRow{Run: wire.Run{Tenant: tenant, ID: id}, RunState: store.RunState{Nonce: nonce}}
	}
	run := made("acme", "r1", "n")
	if got, want := run.CallKey(3, "c1"), "r1/3/c1/0493e867a088c077b59f8a3e49d85b7b"; got != want {
		t.Errorf("key is %q, and calls that are repeated behind an upgrade need %q", got, want)
	}
	if got := made("acme", "r1", "").CallKey(3, "c1"); got != "r1/3/c1" {
		t.Errorf("key is %q", got)
	}
	seen := make(map[string]bool)
	for _, r := range []store.RunRow{
		run, made("acme2", "r1", "n"), made("acme", "r2", "n"), made("acme", "r1", "o"), made("", "acmer1", "n"),
	} {
		seen[r.CallKey(3, "c1")], seen[r.CallKey(4, "c1")], seen[r.CallKey(3, "c2")] = true, true, true
	}
	if len(seen) != 15 {
		t.Errorf("%d of 15 calls have keys of their own", len(seen))
	}
}

func TestUsageCount(t *testing.T) {
	t.Parallel()

	n := func(v int64) *int64 { return &v }
	got := spool.Usage{Input: n(120), CacheRead: n(100), CacheWrite: n(5), Output: n(30), Reasoning: n(10)}.Count()
	want := spool.TokenCount{InputTokens: 120, CachedInputTokens: 100, OutputTokens: 30, TotalTokens: 150}
	if got != want {
		t.Errorf("count is %+v, want %+v", got, want)
	}
	if (spool.Usage{}).Count() != (spool.TokenCount{}) {
		t.Error("what was not reported counts")
	}
	sum := want
	sum.Add(want)
	if sum != (spool.TokenCount{InputTokens: 240, CachedInputTokens: 200, OutputTokens: 60, TotalTokens: 300}) {
		t.Errorf("sum is %+v", sum)
	}
}
