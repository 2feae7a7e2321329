package enginetest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// thread returns the thread's row.
func (s *engineTest) thread() (thread wire.Thread) {
	_ = s.backend.Store.View(context.Background(), chat, func(v store.View) (err error) {
		thread, err = v.Thread()
		return err
	})
	return thread
}

// run returns a run of the thread.
func (s *engineTest) run(id spool.RunID) (run store.RunRow) {
	s.Helper()
	s.view(func(v store.View) (err error) {
		run, err = store.FindRun(v, id)
		return err
	})
	return run
}

// usage returns rows of the thread's ledger.
func (s *engineTest) usage(q wire.UsageQuery) []wire.UsageRow {
	s.Helper()
	var report wire.UsageReport
	s.view(func(v store.View) (err error) {
		report, err = v.Usage(q)
		return err
	})
	return report.Rows
}

// jobs counts the jobs of all tenants.
func (s *engineTest) jobs() wire.QueueStats {
	s.Helper()
	stats, err := s.backend.Store.Stats(context.Background(), wire.StatsQuery{Queue: true})
	if err != nil {
		s.Fatal(err)
	}
	return stats.Queue
}

// deadJobs returns the dead jobs of the thread's tenant.
func (s *engineTest) deadJobs() []wire.QueuedJob {
	s.Helper()
	dead, err := s.backend.Store.Jobs(context.Background(), wire.JobQuery{Tenant: chat.Tenant, State: wire.JobDead})
	if err != nil {
		s.Fatal(err)
	}
	return dead
}

func (s *engineTest) view(fn func(v store.View) error) {
	s.Helper()
	if err := s.backend.Store.View(context.Background(), chat, fn); err != nil {
		s.Fatal(err)
	}
}

// all returns everything that the store has of a thread and one of its runs.
func (s *engineTest) all(key spool.ThreadKey, run spool.RunID) compare.Contents {
	s.Helper()
	return read(s, key, func(v store.View) (compare.Contents, error) { return compare.Read(v, run) })
}

// read reads a part of a thread. An error of the store ends the case.
func read[T any](s *engineTest, key spool.ThreadKey, part func(v store.View) (T, error)) (got T) {
	s.Helper()
	err := s.backend.Store.View(context.Background(), key, func(v store.View) (err error) {
		got, err = part(v)
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return got
}

// threadOf returns the row of a thread, which has no id if there is no such thread.
func (s *engineTest) threadOf(key spool.ThreadKey) wire.Thread {
	s.Helper()
	return read(s, key, func(v store.View) (wire.Thread, error) {
		thread, err := v.Thread()
		if spool.CodeOf(err) == spool.NotFound {
			err = nil
		}
		return thread, err
	})
}

// runsOf returns the runs of a thread, the newest first.
func (s *engineTest) runsOf(key spool.ThreadKey) []store.RunRow {
	s.Helper()
	return read(s, key, compare.Runs)
}

// messagesOf returns the view of a thread.
func (s *engineTest) messagesOf(key spool.ThreadKey) []spool.Message {
	s.Helper()
	return read(s, key, func(v store.View) ([]spool.Message, error) { return v.Messages(store.MessageQuery{}) })
}

// branchesOf returns the branches of a thread.
func (s *engineTest) branchesOf(key spool.ThreadKey) []wire.Branch {
	s.Helper()
	return read(s, key, store.View.Branches)
}

// entriesOf returns the record of a thread.
func (s *engineTest) entriesOf(key spool.ThreadKey) []wire.Entry {
	s.Helper()
	return read(s, key, func(v store.View) ([]wire.Entry, error) { return v.Entries(store.EntryQuery{}) })
}

// parksOf returns the parks of a run.
func (s *engineTest) parksOf(key spool.ThreadKey, run spool.RunID) []store.Park {
	s.Helper()
	return read(s, key, func(v store.View) ([]store.Park, error) { return v.Parks(run) })
}

// until waits for a condition, for up to an hour of the bubble, or two minutes in real time. The longer it waits, the
// less often it looks, because each look may be a request to a server.
func (s *engineTest) until(what string, done func() bool) {
	s.Helper()
	limit := time.Hour
	if s.options.RealTime {
		limit = 2 * time.Minute
	}
	begin := time.Now()
	for wait := time.Millisecond; !done(); wait = min(
		2*wait, max(250*time.Millisecond, min(2*time.Second, time.Since(begin)/100)),
	) {
		if time.Since(begin) > limit {
			s.Fatalf("waited %s for %s: the thread is %+v", limit, what, s.thread())
		}
		<-time.After(wait)
	}
}

// becomes waits for a state of the thread.
func (s *engineTest) becomes(state wire.State) {
	s.Helper()
	s.until("state "+string(state), func() bool { return s.thread().State == state })
}

// ended waits for the end of the thread's run.
func (s *engineTest) ended(state wire.State) {
	s.Helper()
	s.until("the end of the run", func() bool { return s.thread().State.Terminal() })
	if got := s.thread(); got.State != state {
		s.Fatalf("the run ended as %s, want %s: %+v", got.State, state, s.run(got.RunID))
	}
}

// script returns a line for each part of the thread's messages.
func (s *engineTest) script() (lines []string) {
	s.Helper()
	s.view(func(v store.View) error {
		messages, err := v.Messages(store.MessageQuery{})
		for _, m := range messages {
			lines = append(lines, messageLine(m))
		}
		return err
	})
	return lines
}

func messageLine(m spool.Message) string {
	parts := []string{string(m.Role)}
	for _, p := range m.Content.Shown() {
		switch p.Type {
		case spool.PartToolCall:
			parts = append(parts, string(p.ToolCallID)+"="+p.ToolName+string(compare.Canonical(p.Args)))
		case spool.PartToolResult:
			parts = append(parts, string(p.ToolCallID)+":"+string(compare.Canonical(p.Result)))
		case spool.PartReasoning:
			parts = append(parts, "("+p.Text+")")
		case spool.PartImage:
			parts = append(parts, "<"+p.Image+">")
		default:
			parts = append(parts, p.Text)
		}
	}
	return strings.Join(parts, " ")
}

// record returns a line for each entry of the thread.
func (s *engineTest) record() (lines []string) {
	s.Helper()
	s.view(func(v store.View) error {
		entries, err := v.Entries(store.EntryQuery{})
		for _, e := range entries {
			lines = append(lines, entryLine(e))
		}
		return err
	})
	return lines
}

func entryLine(e wire.Entry) string {
	var p struct {
		State, StreamID, Status, ToolCallID, Reason, About, Note string
		Approved                                                 *bool
	}
	_ = json.Unmarshal(e.Payload, &p)
	line := []string{string(e.Type)}
	for _, word := range []string{p.StreamID, p.Status, p.ToolCallID, cmp.Or(p.About, p.Reason), p.Note, p.State} {
		if word != "" {
			line = append(line, word)
		}
	}
	if p.Approved != nil {
		line = append(line, map[bool]string{true: "approved", false: "denied"}[*p.Approved])
	}
	return strings.Join(line, " ")
}

// lines reports an error unless got is want.
func (s *engineTest) lines(what string, got []string, want ...string) {
	s.Helper()
	if slices.Equal(got, want) {
		return
	}
	same := 0
	for same < min(len(got), len(want)) && got[same] == want[same] {
		same++
	}
	from := max(same-2, 0)
	s.Errorf("%s, from line %d of %d:\n got %s\nwant %s", what, from+1, len(want), excerpt(got, from), excerpt(want, from))
}

// excerpt returns a few lines from the given index on.
func excerpt(lines []string, from int) string {
	return strings.Join(lines[min(from, len(lines)):min(from+12, len(lines))], "\n     ")
}

// same reports an error unless got is what was wanted. See [compare.Equal].
func (s *engineTest) same(what string, got, want any) {
	s.Helper()
	if !compare.Equal(got, want) {
		s.Errorf("%s:\n got %s\nwant %s", what, compare.Dump(got), compare.Dump(want))
	}
}

// plain returns a tool that answers with a fixed result.
func plain(name, result string) spool.Tool {
	return spool.Tool{
		ToolSpec: spool.ToolSpec{Name: name},
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage(result), nil
		},
	}
}

// approved returns a tool whose calls need an approval.
func approved(name, result string) spool.Tool {
	t := plain(name, result)
	t.Approval = spool.AlwaysApprove
	return t
}

// executed returns how many tool calls took effect.
func (s *engineTest) executed() int {
	return len(s.history.Calls())
}
