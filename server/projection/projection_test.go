package projection_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// pair is a client of the native frames, and one of a projection. They get the same frames.
type pair struct {
	t    *testing.T
	view *view.Thread
	wire *plainClient
	from *projection.Projection
}

// compare compares what they show. The view forgets an unfinished step at the end of the stream, and the
// projection at the end of the segment, which comes next. So they are compared at all other frames.
func (p *pair) compare(at string) {
	p.t.Helper()
	for _, wrong := range p.wire.wrong {
		p.t.Errorf("%s: %s", at, wrong)
	}
	want := shown(slices.Concat(p.view.Messages(), p.view.Drafts()))
	if diff := cmp.Diff(want, shown(slices.Concat(p.wire.messages, p.wire.drafts()))); diff != "" {
		p.t.Fatalf("%s: the client of the native frames and that of the projection differ: -native +projection\n%s", at, diff)
	}
}

func (p *pair) frame(f wire.FormedFrame) {
	p.t.Helper()
	plain := f.Frame
	if f.Formed != nil {
		plain.Snapshot = whole(f.Formed)
	}
	if err := p.view.Apply(plain); err != nil {
		p.t.Fatal(err)
	}
	changes, err := p.from.Frame(f)
	if err != nil {
		p.t.Fatal(err)
	}
	p.wire.apply(changes)
	text, err := json.Marshal(plain)
	if err != nil {
		p.t.Fatal(err)
	}
	ends := f.Item != nil && f.Item.Type.End() || f.Snapshot != nil || f.Formed != nil
	notice := f.Event != nil && f.Event.Type != wire.EntryRunStarted && f.Event.Type != wire.EntryRunEnded
	if !ends && !notice {
		p.compare(string(text))
	}
}

// whole returns a snapshot with its messages.
func whole(s *wire.FormedSnapshot) *wire.Snapshot {
	out := *s.Snapshot
	out.Messages = decoded(s.All())
	return &out
}

// viewed are the messages that a client of native frames shows.
type viewed []spool.Message

func (m viewed) encode() (out [][]byte) {
	for _, one := range m {
		text, _, _ := native.AppendMessage(nil, one)
		out = append(out, text)
	}
	return out
}
func (m viewed) All() [][]byte         { return m.encode() }
func (m viewed) First(n int) [][]byte  { return m[:n].encode() }
func (m viewed) Before(int64) [][]byte { return m.encode() }

func (m viewed) Through(spool.MessageID) [][]byte { return m.encode() }

func fixture(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../spec/fixtures/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The frames of the shared transcript give the same messages in both ways.
func TestTranscript(t *testing.T) {
	t.Parallel()

	var in struct {
		Frames []struct{ Frame wire.Frame }
	}
	fixture(t, "transcript", &in)
	p := &pair{t: t, view: view.New(nil), wire: &plainClient{}}
	p.from = projection.New(projection.Options{Load: func() (*wire.FormedSnapshot, error) {
		row := p.view.Row()
		return &wire.FormedSnapshot{
			Snapshot:       &wire.Snapshot{Thread: row, Runs: p.view.Runs()},
			FormedMessages: viewed(p.view.Messages()), OnRelease: func() {},
		}, nil
	}})
	for _, f := range in.Frames {
		p.frame(wire.FormedFrame{Frame: f.Frame})
	}
	var outcomes []projection.Outcome
	for _, end := range p.wire.ends {
		outcomes = append(outcomes, end.Outcome)
	}
	if diff := cmp.Diff(
		[]projection.Outcome{projection.Waits, projection.Finished, projection.Finished}, outcomes,
	); diff != "" {
		t.Errorf("the ends of runs: -want +got\n%s", diff)
	}
}

// A client that comes at one of the shared snapshots shows the same in both ways.
func TestSnapshots(t *testing.T) {
	t.Parallel()

	var in struct {
		Snapshots []struct {
			Name  string
			Value wire.Snapshot
		}
	}
	fixture(t, "snapshots", &in)
	compared := 0
	for _, c := range in.Snapshots {
		s := c.Value
		if s.AfterMessageID != nil || len(s.Runs) == 0 {
			continue
		}
		compared++
		s.Thread.RunID = s.Runs[0].ID // this and the number of the segment are not on the wire
		if s.Stream != nil {
			_, s.Runs[0].Segments, _ = s.Stream.StreamID.Split()
		}
		shared, _, _ := native.Finish(&s)
		formed := &wire.FormedSnapshot{Snapshot: &s, FormedMessages: viewed(s.Messages), Shared: shared, OnRelease: func() {}}
		p := &pair{t: t, view: view.New(&s), wire: &plainClient{}, from: projection.New(projection.Options{})}
		changes, err := p.from.Prelude(formed, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.wire.apply(changes)
		p.compare(c.Name)
	}
	if compared == 0 {
		t.Error("no snapshot was compared")
	}
}

var key = spool.ThreadKey{Tenant: "acme", ID: "t"}

// Whole runs give the same messages in both ways: for the client that follows from the start, and for one that
// comes after any of the frames.
func TestRuns(t *testing.T) {
	t.Parallel()

	send := func(id spool.ToolCallID, approved bool) func(*testing.T, *engine.Engine) {
		return func(t *testing.T, e *engine.Engine) {
			t.Helper()
			if got, err := e.Respond(t.Context(), key, wire.Response{ToolCallID: id, Approved: approved}); err != nil ||
				!got.Delivered {
				t.Fatal(got, err)
			}
		}
	}
	waits := func(turn spooltest.Turn) spooltest.Turn {
		turn.Before = func(context.Context) error {
			<-time.After(3 * time.Second)
			return nil
		}
		return turn
	}
	for name, c := range map[string]struct {
		turns []spooltest.Turn
		play  func(*testing.T, *engine.Engine)
		want  projection.Outcome
	}{
		"Text": {[]spooltest.Turn{{Reasoning: []string{"h", "m"}, Text: []string{"a", "b"}}}, nil, projection.Finished},
		"Tools": {[]spooltest.Turn{
			{
				Text:  []string{"Look."},
				Calls: []spooltest.Call{{ID: "c1", Name: "lookup", Args: `{"n":1}`}, {ID: "c2", Name: "nothing", Args: "no json"}},
			},
			spooltest.Use(spooltest.Call{ID: "c3", Name: "lookup"}), spooltest.Say("Done."),
		}, nil, projection.Finished},
		"Parks": {
			[]spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("Sent.")},
			send("c1", true),
			projection.Finished,
		},
		"Denied": {
			[]spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("Well.")},
			send("c1", false),
			projection.Finished,
		},
		"Retries": {[]spooltest.Turn{
			{Reasoning: []string{"x"}, Text: []string{"not said"}, Err: &spool.ModelError{Status: 503}},
			{Reasoning: []string{"y"}, Text: []string{"said"}},
		}, nil, projection.Finished},
		"Fails": {
			[]spooltest.Turn{{Text: []string{"not said"}, Err: &spool.ModelError{Status: 400}}}, nil, projection.Failed,
		},
		"Stops": {
			[]spooltest.Turn{{Text: []string{"said"}, Calls: []spooltest.Call{{ID: "c1", Name: "hang"}}}},
			func(t *testing.T, e *engine.Engine) {
				t.Helper()
				if got, err := e.Stop(t.Context(), key); err != nil || !got.Accepted {
					t.Fatal(got, err)
				}
			}, projection.Cancelled,
		},
		"Steers": {
			[]spooltest.Turn{waits(spooltest.Use(spooltest.Call{ID: "c1", Name: "lookup"})), spooltest.Say("Left.")},
			func(t *testing.T, e *engine.Engine) {
				t.Helper()
				if got, err := e.Run(
					t.Context(), key, wire.StartRequest{Prompt: "left", RunID: "r2", WhenBusy: spool.BusySteer},
				); err != nil || !got.Accepted {
					t.Fatal(got, err)
				}
			}, projection.Finished,
		},
		"Nests": {[]spooltest.Turn{
			spooltest.Use(spooltest.Call{ID: "s1", Name: spool.SpawnTool, Args: `{"name":"mailer","instructions":"Mail ann."}`}),
			{Text: []string{"I write."}, Calls: []spooltest.Call{{ID: "c1", Name: "send"}}},
			spooltest.Say("Written."), spooltest.Say("Done."),
		}, send("c1-dg29gg", true), projection.Finished},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(t, spooltest.NewModel(c.turns...))
				if got, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "hello", RunID: "r1"}); err != nil ||
					!got.Accepted {
					t.Fatal(got, err)
				}
				p, leave := follow(t, e)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- e.Work(ctx, engine.WorkOptions{}) }()
				settle(time.Second)
				if c.play != nil {
					c.play(t, e)
				}
				settle(time.Hour)
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
				leave()
				p.compare("at the end")
				if len(p.wire.ends) == 0 || p.wire.ends[len(p.wire.ends)-1].Outcome != c.want {
					t.Errorf("the run has the ends %+v, want %v", p.wire.ends, c.want)
				}
			})
		})
	}
}

func settle(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func newEngine(t *testing.T, model spool.Model) *engine.Engine {
	t.Helper()
	tool := func(name string, call func(context.Context, spool.ToolCall) (json.RawMessage, error)) spool.Tool {
		return spool.Tool{ToolSpec: spool.ToolSpec{Name: name}, Call: call}
	}
	send := tool("send", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(`"sent"`), nil
	})
	send.Approval = spool.AlwaysApprove
	lookup := tool("lookup", func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) { return c.Args, nil })
	hang := tool("hang", func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{
			Name: "a", Model: "m", Tools: []spool.Tool{send, lookup, hang},
			Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{"mailer": {Tools: []spool.Tool{send}}}},
		}},
		Models: map[string]spool.Model{"m": model}, Stream: option.Stream{FlushEvery: -1}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// follow returns a pair that follows from now on. After each of its frames, another pair comes, at the present
// snapshot. Leave ends it.
func follow(t *testing.T, e *engine.Engine) (p *pair, leave func()) {
	t.Helper()
	var first *wire.FormedSnapshot
	p, first = arrive(t, e)
	at := first.Cursor()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		follower, err := e.FollowFormed(ctx, key, wire.FollowOptions{Cursor: &at, LastTurnID: "r1"}, native)
		if err != nil {
			return
		}
		for frames, err := range follower.Frames(ctx, 0) {
			if err != nil {
				return
			}
			for _, f := range frames {
				p.frame(f)
				arrive(t, e)
			}
		}
	}()
	synctest.Wait()
	return p, func() {
		cancel()
		<-over
	}
}

// arrive returns a pair that comes at the present snapshot.
func arrive(t *testing.T, e *engine.Engine) (*pair, *wire.FormedSnapshot) {
	t.Helper()
	load := func() (*wire.FormedSnapshot, error) { return e.FormedSnapshot(context.Background(), key, native) }
	first, err := load()
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{
		t: t, view: view.New(whole(first)), wire: &plainClient{}, from: projection.New(projection.Options{Load: load}),
	}
	changes, err := p.from.Prelude(first, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.wire.apply(changes)
	p.compare("at a snapshot")
	return p, first
}
