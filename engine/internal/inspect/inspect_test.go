package inspect

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var rules = thread.Rules{Parameters: func(store.View, store.Park) (json.RawMessage, error) { return nil, nil }}

// parked is a thread whose run r waits, and whose nested run n asks c2.
func parked(change func(rows *maptx.Rows)) *maptx.Tx {
	tx := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, maptx.Start)
	ask := func(id spool.ToolCallID, agent spool.AgentID) store.Park {
		return store.Park{
			RunID: "r", ToolCallID: id, AgentID: agent, Step: 1, State: wire.ParkOpen, ExpiresAt: maptx.Start.Add(time.Hour),
			Args: json.RawMessage(`{}`),
		}
	}
	nested := ask("c2", "n")
	nested.Frames = []wire.ParkFrame{{ToolCallID: "c9"}}
	tx.Rows = maptx.Rows{
		Thread: &wire.Thread{ID: "c", State: wire.WaitingForInput, RunID: "r"},
		Runs: []store.RunRow{
			{
				Run:      wire.Run{ID: "r", State: wire.WaitingForInput, Segments: 1, StartedAt: maptx.Start},
				RunState: store.RunState{Children: 1, Revision: "v1"},
			},
			{Run: wire.Run{ID: "n", RootID: "r", ParentID: "r", Depth: 1, State: wire.WaitingForInput}},
		},
		Parks: []store.Park{ask("c1", ""), nested},
	}
	if change != nil {
		change(&tx.Rows)
	}
	return tx
}

// The questions of an outcome are those that somebody can answer now, and for a dispatched run those of its tree.
func TestOutcomeQuestions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		run    spool.RunID
		change func(rows *maptx.Rows)
		want   string
	}{
		{"of the tree", "r", nil, "c1 c2"},
		{"of a nested run", "n", nil, "c2"},
		{"answered", "r", func(rows *maptx.Rows) { rows.Parks[0].State = wire.ParkAnswered }, "c2"},
		{"at the end of the time", "r", func(rows *maptx.Rows) { rows.Parks[1].ExpiresAt = maptx.Start }, "c1"},
		{"of a run that fails, because nobody answered another one", "r", func(rows *maptx.Rows) {
			rows.Parks[1].State, rows.Parks[1].Expiry.Then = wire.ParkExpired, spool.ExpireFail
		}, ""},
		{"of a run whose end is decided", "r", func(rows *maptx.Rows) { rows.Runs[0].Ending = &store.Ending{} }, ""},
		{"of a run that does not wait", "r", func(rows *maptx.Rows) { rows.Runs[0].State = wire.Running }, ""},
	} {
		tx := parked(c.change)
		run, err := store.FindRun(tx, c.run)
		if err != nil {
			t.Fatal(err)
		}
		o, err := Outcome(tx, rules, run)
		ids := make([]string, len(o.Parks))
		for i, p := range o.Parks {
			ids[i] = string(p.ToolCallID)
		}
		if got := strings.Join(ids, " "); got != c.want || err != nil || Settled(o) != (c.want != "") || o.Parks == nil {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
		if _, err := openPark(tx, "c1"); (err == nil) != strings.HasPrefix(c.want, "c1") && c.run == "r" {
			t.Errorf("%s: the question of c1: %v", c.name, err)
		}
	}
	if row, err := openPark(parked(nil), "c2"); err != nil || len(row.Runs) != 2 || row.Runs[1].ID != "n" {
		t.Errorf("the question of a nested run: %+v, %v", row.Runs, err)
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		run    store.RunRow
		change func(rows *maptx.Rows)
		want   wire.RunOutcome
	}{
		{
			"queued",
			store.RunRow{Run: wire.Run{State: wire.Queued, StartedAt: maptx.Start, EnqueuedAt: maptx.Start}},
			nil,
			wire.RunOutcome{
				State: wire.Queued, EnqueuedAt: maptx.Start,
			},
		},
		{"the second that waits", store.RunRow{
			Run:      wire.Run{State: wire.Queued, QueuePosition: 9},
			RunState: store.RunState{Wait: &store.Wait{}},
		}, func(rows *maptx.Rows) {
			rows.Runs = append(rows.Runs, store.RunRow{Run: wire.Run{ID: "w", QueuePosition: 3}})
		}, wire.RunOutcome{State: wire.Queued, Position: 2}},
		{"steered", store.RunRow{
			Run:      wire.Run{State: wire.Completed},
			RunState: store.RunState{Wait: &store.Wait{Delivered: &wire.Delivered{RunID: "s"}}},
		}, nil, wire.RunOutcome{
			State: wire.Completed, Delivered: &wire.Delivered{RunID: "s"},
		}},
		{"completed", store.RunRow{
			Run: wire.Run{
				State: wire.Completed, StopReason: wire.StopCompleted, Segments: 1, StartedAt: maptx.Start, Steps: 2,
				Currency: "USD", CostMicros: 3,
			},
			RunState: store.RunState{Output: &store.RunOutput{Value: json.RawMessage(`1`)}},
		}, nil, wire.RunOutcome{
			State: wire.Completed, StopReason: wire.StopCompleted, StartedAt: maptx.Start, Steps: 2,
			Output: json.RawMessage(`1`), Costs: []wire.Money{{Currency: "USD", Micros: 3}},
		}},
		{"failed", store.RunRow{
			Run:      wire.Run{State: wire.Failed, StopReason: wire.StopFailed, Error: "no"},
			RunState: store.RunState{Output: &store.RunOutput{Value: json.RawMessage(`1`)}},
		}, nil, wire.RunOutcome{State: wire.Failed, StopReason: wire.StopFailed, Error: "no"}},
	} {
		tx := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, maptx.Start)
		c.run.ID, c.want.RunID, c.want.Parks = "r", "r", []wire.InputRequired{}
		tx.Rows.Thread, tx.Rows.Runs = &wire.Thread{}, []store.RunRow{c.run}
		if c.change != nil {
			c.change(&tx.Rows)
		}
		got, err := Outcome(tx, rules, c.run)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
}

// The message of an outcome is the last answer of the run itself.
func TestOutcomeMessage(t *testing.T) {
	t.Parallel()
	say := func(run spool.RunID, agent spool.AgentID, role spool.Role) spool.Message {
		return spool.Message{
			ID: spool.MessageID(string(run) + string(role)), RunID: run, AgentID: agent, Role: role,
			Content: spool.TextContent("by " + string(run)),
		}
	}
	tx := parked(func(rows *maptx.Rows) {
		rows.Messages = []spool.Message{
			say("r", "", spool.RoleUser), say("r", "", spool.RoleAssistant), say("n", "n", spool.RoleAssistant),
			say("later", "", spool.RoleAssistant),
		}
	})
	for i, want := range []string{"by r", "by n"} {
		if o, err := Outcome(tx, rules, tx.Rows.Runs[i]); err != nil || o.Text != want || o.Message == nil {
			t.Errorf("the outcome says %q, want %q: %v", o.Text, want, err)
		}
	}
}

// The detail of a run has what is its own: entries, parks, usage, steps and children.
func TestRun(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return maptx.Start.Add(time.Duration(seconds) * time.Second) }
	use := func(agent spool.AgentID, step, seconds int, outcome wire.Outcome) wire.UsageRow {
		return wire.UsageRow{
			RunID: "r", AgentID: agent, Kind: spool.UsageStep, Step: step, Outcome: outcome, CreatedAt: at(seconds),
			Usage: spool.Usage{Input: new(int64(5))},
		}
	}
	summary := use("", 1, 3, wire.OutcomeFinished)
	summary.Kind = spool.UsageCompaction
	tx := parked(func(rows *maptx.Rows) {
		rows.Entries = []wire.Entry{
			{Seq: 1, RunID: "r", Type: wire.EntryRunStarted, CreatedAt: at(1)},
			{Seq: 2, RunID: "x"},
			{Seq: 3, RunID: "r", Type: wire.EntryRunStarted, CreatedAt: at(10)},
		}
		rows.Usage = []wire.UsageRow{
			use("", 1, 4, wire.OutcomeError), use("", 1, 6, wire.OutcomeFinished), summary, use("n", 1, 7, wire.OutcomeFinished),
			use("", 2, 13, wire.OutcomeFinished),
		}
		rows.Runs[1].StartedAt = at(6)
		rows.Effects = []store.Effect{
			{RunID: "r", Step: 1, ToolCallID: "c7", State: wire.EffectDone, Result: toolresult.Error("status 500")},
			{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectVoid},
		}
		rows.Messages = []spool.Message{
			{
				ID: "m", RunID: "r", Role: spool.RoleAssistant,
				Content: spool.Content{{Type: spool.PartToolCall, ToolCallID: "c7", ToolName: "look"}},
			},
		}
	})
	for _, c := range []struct {
		run  spool.RunID
		want string
	}{
		{"r", "revision v1, children [n], entries [1 3], usage 5, parks [c1], " +
			"step 1 finished: 2 attempts, 10 tokens, 5000 ms, [look c7 done  failed,  c1 void open], step 2 finished: 1 attempts, 5 tokens, 3000 ms, []"},
		{
			"n",
			"revision v1, children [], entries [], usage 1, parks [c2], step 1 finished: 1 attempts, 5 tokens, 1000 ms, [ c2  open]",
		},
	} {
		d, err := Run(tx, c.run)
		if got := described(d); got != c.want || err != nil {
			t.Errorf("%s: %v\n got %s\nwant %s", c.run, err, got, c.want)
		}
	}
	if _, err := Run(tx, "other"); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("an unknown run: %v", err)
	}
}

func described(d wire.RunDetail) string {
	var children []spool.RunID
	var entries []int64
	var parks []spool.ToolCallID
	for _, r := range d.Children {
		children = append(children, r.ID)
	}
	for _, e := range d.Entries {
		entries = append(entries, e.Seq)
	}
	for _, p := range d.Parks {
		parks = append(parks, p.ToolCallID)
	}
	all := []string{
		fmt.Sprintf("revision %s, children %v, entries %v, usage %d, parks %v", d.Revision, children, entries, len(d.Usage),
			parks),
	}
	for _, s := range d.Steps {
		calls := make([]string, len(s.Calls))
		for i, c := range s.Calls {
			calls[i] = fmt.Sprintf("%s %s %s %s", c.ToolName, c.ToolCallID, c.Effect, c.Park)
			if c.Failed {
				calls[i] += " failed"
			}
		}
		all = append(all, fmt.Sprintf("step %d %s: %d attempts, %d tokens, %d ms, [%s]", s.Index, s.Outcome, s.Attempts,
			s.TotalTokens, s.DurationMS, strings.Join(calls, ", ")))
	}
	return strings.Join(all, ", ")
}

// A page of events leaves out the engine's own entries, and names the place behind it only if more may follow.
func TestEvents(t *testing.T) {
	t.Parallel()
	tx := parked(func(rows *maptx.Rows) {
		for i := range int64(5000) {
			e := wire.Entry{Seq: i + 1, Type: wire.EntryRunStarted}
			if i == 0 || i == 1 || i == 4 || i == 2500 {
				e.Type, e.Published = "MINE", true
			}
			if i == 2 {
				e.Type = "OF_A_NEWER_SERVER"
			}
			rows.Entries = append(rows.Entries, e)
		}
	})
	for _, c := range []struct {
		q    wire.EventQuery
		want string
	}{
		{wire.EventQuery{Limit: 2}, "[1 2] next 2"},
		{wire.EventQuery{After: 2, Limit: 2}, "[5] next 2002"},
		{wire.EventQuery{After: 2002, Limit: 1}, "[2501] next 2501"},
		{wire.EventQuery{After: 2501, Limit: 9}, "[] next 4501"},
		{wire.EventQuery{After: 4501, Limit: 9}, "[] next 0"},
	} {
		page, err := Events(tx, c.q)
		seqs := make([]int64, len(page.Events))
		for i, e := range page.Events {
			seqs[i] = e.Seq
		}
		if got := fmt.Sprintf("%v next %d", seqs, page.Next); got != c.want || err != nil {
			t.Errorf("%+v: %s, want %s, %v", c.q, got, c.want, err)
		}
	}
	for q, want := range map[wire.EventQuery]string{
		{}: "100", {Limit: 1000}: "1000", {After: -1}: "after must be zero or a positive integer",
		{Limit: -1}: "limit must be an integer from 1 to 1000", {Limit: 1001}: "limit must be an integer from 1 to 1000",
	} {
		filled, err := CheckEvents(q)
		if got := strconv.Itoa(filled.Limit); err == nil && got != want || err != nil && spool.MessageOf(err) != want {
			t.Errorf("%+v: %s, %v, want %s", q, got, err, want)
		}
	}
}

// A list has the beginning of large arguments, and where the engine cuts a character in two, not that one.
func TestCutArguments(t *testing.T) {
	t.Parallel()
	for size, preview := range map[int]int{10: 0, maxShown: 0, maxShown + 2: previewBytes - 1} {
		asked := wire.Question{}
		asked.Arguments = json.RawMessage(`"` + strings.Repeat("é", (size-2)/2) + `"`)
		whole := len(asked.Arguments)
		cutArguments(&asked)
		if cut := preview > 0; len(asked.ArgumentsPreview) != preview || (asked.Arguments == nil) != cut ||
			cut && asked.ArgumentsBytes != whole {
			t.Errorf("of %d bytes, %d are shown", whole, len(asked.ArgumentsPreview))
		}
	}
}
