package client_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// follow collects the frames of the thread t1 until the given one, and shows them.
func follow(
	t *testing.T, c *client.Client, o client.FollowOptions, until func(wire.Frame) bool,
) ([]wire.Frame, *view.Thread) {
	t.Helper()

	var frames []wire.Frame
	shown := view.New(nil)
	for f, err := range c.Follow(testwait.Context(t, "the frames"), "t1", o) {
		if err != nil {
			t.Fatalf("follow, after %d frames: %v", len(frames), err)
		}
		if err := shown.Apply(f); err != nil {
			t.Fatal(err)
		}
		frames = append(frames, f)
		if until(f) {
			break
		}
	}
	return frames, shown
}

// ended returns a condition for the n-th RUN_ENDED of runs that have ended and are not parked or retried.
func ended(n int) func(wire.Frame) bool {
	return func(f wire.Frame) bool {
		if f.Event != nil && f.Event.Type == wire.EntryRunEnded &&
			strings.Contains(string(f.Event.Payload), `"status":"finished"`) {
			n--
		}
		return n == 0
	}
}

// stored returns the frames that have a cursor, one a line.
func stored(frames []wire.Frame) []string {
	var lines []string
	for _, f := range frames {
		if f.Cursor != nil {
			lines = append(lines, line(f))
		}
	}
	return lines
}

func line(f wire.Frame) string {
	switch f.Kind {
	case wire.FrameThread:
		return fmt.Sprintf("%v: %d %s %s", f.Cursor, f.Event.Seq, f.Event.Type, f.Event.Payload)
	case wire.FrameStream:
		return fmt.Sprintf("%v: %s", f.Cursor, f.Item.Data)
	default:
		return fmt.Sprintf("%v: %s", f.Cursor, f.Kind)
	}
}

// wantSound checks that the frames have no gap and no repeat, and that what they showed is what was saved.
func wantSound(t *testing.T, c *client.Client, frames []wire.Frame, shown *view.Thread) {
	t.Helper()

	wantNoRepeat(t, frames)
	wantShown(t, c, shown)
}

// wantNoRepeat checks that the record has no gap and no repeat, that the offsets of a stream grow, and that no
// user turn came twice.
func wantNoRepeat(t *testing.T, frames []wire.Frame) {
	t.Helper()

	seq := int64(0)
	turns := make(map[string]int)
	offsets := make(map[wire.StreamID]wire.Offset)
	for _, f := range frames {
		switch {
		case f.Kind == wire.FrameSnapshot && f.Snapshot.AfterMessageID == nil:
			seq = f.Snapshot.LastEventSeq
		case f.Item != nil:
			if f.Item.Offset.Compare(offsets[f.StreamID]) <= 0 {
				t.Errorf("offset %v after %v: %s", f.Item.Offset, offsets[f.StreamID], line(f))
			}
			offsets[f.StreamID] = f.Item.Offset
		case f.Event == nil:
		case f.Event.Type == wire.NoticeMessageAppended:
			turns[string(f.Event.Payload)]++
		case f.Event.Seq > 0:
			if f.Event.Seq != seq+1 {
				t.Errorf("seq %d after %d: %s", f.Event.Seq, seq, line(f))
			}
			seq = f.Event.Seq
		}
	}
	for turn, n := range turns {
		if n > 1 {
			t.Errorf("%d times: %s", n, turn)
		}
	}
}

// wantShown checks that the view has the messages that were saved, and no others.
func wantShown(t *testing.T, c *client.Client, shown *view.Thread) {
	t.Helper()

	saved := must(c.Snapshot(testwait.Context(t, "the snapshot"), "t1", wire.SnapshotOptions{}))(t)
	if diff := cmp.Diff(content(saved.Messages), content(shown.Messages())); diff != "" {
		t.Errorf("shown differs (-saved +shown):\n%s", diff)
	}
	if drafts := shown.Drafts(); len(drafts) > 0 {
		t.Errorf("drafts are left: %+v", drafts)
	}
}

// content returns what is said, one message a line.
func content(messages []spool.Message) []string {
	var lines []string
	for _, m := range messages {
		var parts []string
		for _, p := range m.Content {
			parts = append(parts, fmt.Sprintf("%s %s %s%s%s", p.Type, p.ToolName, p.Text, p.Args, p.Result))
		}
		lines = append(lines, fmt.Sprintf("%s: %s", m.Role, strings.Join(parts, " | ")))
	}
	return lines
}

func fromTheStart() client.FollowOptions { return client.FollowOptions{Cursor: &wire.Cursor{}} }

// terse is a model that says two words, so that a run has few bytes.
type terse struct{}

// Stream implements [spool.Model].
func (terse) Stream(context.Context, spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		_ = yield(spool.TextDelta{Text: "Good "}, nil) && yield(spool.TextDelta{Text: "day"}, nil) &&
			yield(spool.Finish{Reason: spool.FinishStop}, nil)
	}
}

// TestFollowCutAtEveryByte cuts the first connection after each byte of the answer.
func TestFollowCutAtEveryByte(t *testing.T) {
	t.Parallel()

	n, direct := setup(t, func(ec *engine.Config, _ *server.Config) { ec.Models["demo"] = terse{} })
	run(t, direct, client.RunRequest{ThreadID: "t1", RunID: "r1", Prompt: "Hi"})
	for _, c := range []struct {
		name    string
		options client.FollowOptions
		shards  int64
		frames  int
		bytes   int64
	}{
		{"FromTheStart", fromTheStart(), 3, 8, 1500},
		{"WithoutCursor", client.FollowOptions{}, 1, 2, 600},
	} {
		whole, _ := follow(t, direct, c.options, ended(1))
		want := stored(whole)
		if len(want) < c.frames {
			t.Fatalf("only %d frames: %v", len(want), want)
		}
		for shard := range c.shards {
			t.Run(fmt.Sprint(c.name, shard), func(t *testing.T) {
				t.Parallel()

				bytes := cutEach(t, n, c.options, shard, c.shards, func(cut int64, frames []wire.Frame, shown *view.Thread) {
					if diff := cmp.Diff(want, stored(frames)); diff != "" {
						t.Fatalf("cut after %d bytes (-want +got):\n%s", cut, diff)
					}
					wantNoRepeat(t, frames)
					if cut%100 == 0 && c.options.Cursor != nil {
						wantShown(t, direct, shown)
					}
				})
				if bytes < c.bytes {
					t.Errorf("the stream has only %d bytes", bytes)
				}
			})
		}
	}
}

// cutEach follows the thread again and again, and cuts the first connection after a number of bytes that grows
// by step, until one connection is enough. It calls check after each time, and returns the last number.
func cutEach(
	t *testing.T, n *node, o client.FollowOptions, first, step int64, check func(
		cut int64, frames []wire.Frame, shown *view.Thread,
	),
) int64 {
	t.Helper()

	var limit, last atomic.Int64
	p := cutConnections(t, n.address, func(k int64) int64 {
		if k == last.Load()+1 {
			return limit.Load()
		}
		return -1
	})
	c := connect(t, p.url())
	for limit.Store(first); ; limit.Add(step) {
		frames, shown := follow(t, c, o, ended(1))
		check(limit.Load(), frames, shown)
		now := p.count.Load()
		if now == last.Load()+1 {
			return limit.Load() // the first connection had the whole run
		}
		last.Store(now)
	}
}

// TestFollowCutLive cuts every connection somewhere, while runs go on.
func TestFollowCutLive(t *testing.T) {
	t.Parallel()

	n, direct := setup(t)
	random := rand.New(rand.NewPCG(1, 2))
	p := cutConnections(t, n.address, func(int64) int64 { return 400 + random.Int64N(3000) })
	ctx := testwait.Context(t, "the starts")
	for i, prompt := range []string{`use look with {"at":"x"} then use look with {"at":"y"}`, "slow 60", "slow 40"} {
		in := client.RunRequest{
			ThreadID: "t1", Prompt: prompt, WhenBusy: spool.BusyEnqueue, RunID: spool.RunID(fmt.Sprintf("r%d", i)),
		}
		if r := must(direct.Run(ctx, in))(t); !r.Accepted {
			t.Fatalf("start: %+v", r)
		}
	}
	frames, shown := follow(t, connect(t, p.url()), fromTheStart(), ended(3))
	wantSound(t, direct, frames, shown)
	if p.count.Load() < 5 {
		t.Errorf("only %d connections", p.count.Load())
	}
	for _, f := range frames {
		if f.Kind == wire.FrameSnapshot {
			t.Errorf("a snapshot, although nothing was lost: %s", line(f))
		}
	}
}

// TestFollowRestart restarts the server in the middle of a run, at the same address and over the same file.
func TestFollowRestart(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "spool.db")
	start := func(address string) (*node, func()) {
		db, err := sqlite.Open(file, &sqlite.Options{Exclusive: true})
		if err != nil {
			t.Fatal(err)
		}
		n := startNode(t, db.Backend(), address)
		return n, func() {
			n.stop(t)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	n, stop := start("127.0.0.1:0")
	c := connect(t, n.url())
	result := must(c.Run(testwait.Context(t, "the start"),
		client.RunRequest{ThreadID: "t1", RunID: "r1", Prompt: "slow 150"}))(t)
	if !result.Accepted {
		t.Fatalf("start: %+v", result)
	}
	restarted, items := 0, 0
	frames, shown := follow(t, c, fromTheStart(), func(f wire.Frame) bool {
		if f.Kind == wire.FrameStream {
			items++
		}
		if items == 20*(restarted+1) && restarted < 2 {
			restarted++
			address := n.address
			stop()
			n, stop = start(address)
		}
		return ended(1)(f)
	})
	wantSound(t, c, frames, shown)
	if restarted != 2 {
		t.Errorf("%d restarts", restarted)
	}
	if o := await(t, c, "r1"); o.State != wire.Completed {
		t.Errorf("outcome %+v", o)
	}
	stop()
}

// TestFollowSlowReader falls behind what the server keeps in memory for one watcher.
func TestFollowSlowReader(t *testing.T) {
	t.Parallel()

	_, c := setup(t, func(ec *engine.Config, _ *server.Config) { ec.Stream.FlushEvery = 0 })
	ctx := testwait.Context(t, "the starts")
	must(c.Run(ctx, client.RunRequest{ThreadID: "t1", RunID: "r1", Prompt: "slow 10"}))(t)
	first := true
	frames, shown := follow(t, c, fromTheStart(), func(f wire.Frame) bool {
		if first {
			first = false
			for i := range 40 { // while this caller does not read
				run(t, c, client.RunRequest{
					ThreadID: "t1", WhenBusy: spool.BusyEnqueue, Prompt: strings.Repeat("word ", 150) + strconv.Itoa(i),
				})
			}
		}
		return ended(41)(f) || f.Event != nil && f.Event.Type == wire.EntryRunEnded && f.Event.Seq == 82
	})
	wantSound(t, c, frames, shown)
}

// TestFollowNewToken replaces a token that the server does not accept any more.
func TestFollowNewToken(t *testing.T) {
	t.Parallel()

	n, direct := setup(t)
	p := cutConnections(t, n.address, func(int64) int64 { return 2500 }) // more than what a client is told first
	tokens := 0
	c := connect(t, p.url(), func(o *client.Options) {
		o.Token = func(context.Context) (string, error) {
			if tokens++; tokens%2 == 0 {
				return "an expired one", nil
			}
			return goodToken, nil
		}
	})
	run(t, direct, client.RunRequest{ThreadID: "t1", Prompt: `use look with {"at":"x"}`})
	frames, shown := follow(t, c, fromTheStart(), ended(1))
	wantSound(t, direct, frames, shown)
	if tokens < 4 {
		t.Errorf("%d tokens", tokens)
	}
}

// TestFollowDeleted ends with the thread.
func TestFollowDeleted(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the end")
	run(t, c, client.RunRequest{ThreadID: "t1", Prompt: "Hello"})
	var last wire.Frame
	var err error
	for f, e := range c.Follow(ctx, "t1", client.FollowOptions{}) {
		if err = e; e != nil {
			break
		}
		last = f
		if f.Event != nil && f.Event.Type == wire.EntryRunEnded {
			must(c.DeleteThread(ctx, "t1"))(t)
		}
	}
	if last.Event == nil || last.Event.Type != wire.NoticeThreadDeleted {
		t.Errorf("last frame %s", line(last))
	}
	wantError(t, err, spool.NotFound, 0)
	for _, err := range c.Follow(ctx, "t1", client.FollowOptions{}) {
		wantError(t, err, spool.NotFound, 404)
	}
}
