package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/notify"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var until = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

// run returns a run in a state, in its first segment unless it is queued.
func run(id spool.RunID, state wire.State, change ...func(r *notify.Run)) notify.Run {
	r := notify.Run{ID: id, Agent: "a", State: state}
	if state != wire.Queued {
		r.Segments = 1
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func nested(r *notify.Run) { r.Nested = true }

// never is a run that no worker has claimed.
func never(r *notify.Run) { r.Segments = 0 }

func because(reason wire.StopReason, text string) func(r *notify.Run) {
	return func(r *notify.Run) { r.StopReason, r.Error = reason, text }
}

// becomes returns a change of a run.
func becomes(before, after notify.Run) notify.RunChange {
	return notify.RunChange{Before: before, After: after}
}

// asks returns the entry of a question, as the record has it.
func asks(reason string) *wire.Entry {
	return wire.NewEntry(wire.EntryInputRequired, "r", wire.InputRequired{
		ToolCallID: "c", ToolName: "send", Reason: reason, ExpiresAt: until, Digest: "sha256:1",
		Arguments: []byte(`{"exhausted":"cost_budget"}`),
	}.InRecord())
}

func TestEvents(t *testing.T) {
	t.Parallel()

	running := run("r", wire.Running)
	park := store.Park{
		RunID: "r", ToolCallID: "c", ToolName: "send", Reason: wire.ParkApproval, Digest: "sha256:1", ExpiresAt: until,
	}
	elsewhere := park
	elsewhere.RunID, elsewhere.ToolName = "other", "else"
	for name, c := range map[string]struct {
		commit notify.Commit
		want   string // the events, one a line
	}{
		"Start": {notify.Commit{Runs: []notify.RunChange{becomes(notify.Run{}, run("r", wire.Queued))}}, ""},
		"Claimed": {
			notify.Commit{Runs: []notify.RunChange{becomes(run("r", wire.Queued), running)}},
			"run.started r RUNNING",
		},
		"ClaimedByStart": {
			notify.Commit{Runs: []notify.RunChange{becomes(notify.Run{}, running)}}, "run.started r RUNNING",
		},
		"ClaimedAgain": {
			notify.Commit{Runs: []notify.RunChange{becomes(run("r", wire.Queued, func(r *notify.Run) { r.Segments = 1 }),
				run("r", wire.Running, func(r *notify.Run) { r.Segments = 2 }))}}, "",
		},
		"NestedClaimed": {notify.Commit{Runs: []notify.RunChange{becomes(notify.Run{}, run("n", wire.Running, nested))}}, ""},
		"Step":          {notify.Commit{Runs: []notify.RunChange{becomes(running, running)}}, ""},
		"Asked": {
			notify.Commit{
				Runs:    []notify.RunChange{becomes(running, run("r", wire.WaitingForInput))},
				Entries: []*wire.Entry{asks(wire.ParkApproval)},
			}, "run.waiting r WAITING_FOR_INPUT c send approval 1 09:00 answerable",
		},
		"AskedForOutcome": {
			notify.Commit{Entries: []*wire.Entry{asks(wire.ParkOutcomeUnknown)}},
			"run.waiting r RUNNING c send outcome_unknown 1 09:00 answerable",
		},
		"AskedForBudget": {
			notify.Commit{Entries: []*wire.Entry{asks(wire.ParkBudget)}},
			`run.waiting r RUNNING c send budget_reached 1 09:00 answerable
				run.budget_reached r RUNNING cost_budget c send budget_reached 1 09:00`,
		},
		"AskedOfOld": {
			notify.Commit{Entries: []*wire.Entry{wire.NewEntry(wire.EntryInputRequired, "r",
				wire.InputRequired{ToolCallID: "c", ToolName: "send", Reason: "mine"})}},
			"run.waiting r RUNNING c send mine",
		},
		"Expiring": {
			notify.Commit{Parks: []store.Park{elsewhere, park}, Entries: []*wire.Entry{
				wire.NewEntry(wire.EntryInputExpiring, "r", wire.InputExpiring{ToolCallID: "c", ExpiresAt: until}),
			}}, "run.expiring r RUNNING c send approval 1 09:00 answerable",
		},
		"Expired": {
			notify.Commit{Parks: []store.Park{park}, Entries: []*wire.Entry{
				wire.NewEntry(wire.EntryInputExpired, "r", wire.InputExpired{ToolCallID: "c", OnExpiry: spool.ExpireFail}),
			}}, "run.expired r RUNNING c send approval 1 09:00 fail",
		},
		"Extended": {
			notify.Commit{Parks: []store.Park{park}, Entries: []*wire.Entry{
				wire.NewEntry(wire.EntryInputExtended, "r", wire.InputExtended{ToolCallID: "c"}), asks(wire.ParkApproval),
			}}, "run.waiting r RUNNING c send approval 1 09:00 answerable",
		},
		"Budgets": {
			notify.Commit{Entries: []*wire.Entry{
				wire.NewEntry(wire.EntryTokenBudgetExhausted, "r", wire.TokenBudgetExhausted{}),
				wire.NewEntry(wire.EntryCostBudgetExhausted, "r", wire.CostBudgetExhausted{}),
				wire.NewEntry(wire.EntryToolCallBudgetExhausted, "r", wire.ToolCallBudgetExhausted{}),
				wire.NewEntry(wire.EntryTimeBudgetExhausted, "r", wire.TimeBudgetExhausted{}),
			}}, `run.budget_reached r RUNNING token_budget
				run.budget_reached r RUNNING cost_budget
				run.budget_reached r RUNNING tool_call_budget
				run.budget_reached r RUNNING time_budget`,
		},
		"OtherEntries": {
			notify.Commit{Entries: []*wire.Entry{
				wire.NewEntry(wire.EntryTimeLimitReached, "r", wire.TimeLimitReached{}),
				wire.NewEntry(wire.EntryHITLResponse, "r", wire.HITLResponse{}), {Type: "INVOICE_PAID", Published: true},
			}}, "",
		},
		"HandedOver": {
			notify.Commit{
				Runs: []notify.RunChange{becomes(running, run("r", wire.Queued, func(r *notify.Run) { r.Agent, r.Segments = "b", 1 }))},
				Entries: []*wire.Entry{
					wire.NewEntry(wire.EntryHandedOver, "r", wire.HandedOver{From: "a", To: "b"}),
				},
			}, "run.handed_over r QUEUED a>b",
		},
		"Completed": {
			notify.Commit{Runs: []notify.RunChange{becomes(running, run("r", wire.Completed, because(wire.StopLength, "")))}},
			"run.completed r COMPLETED length",
		},
		"Failed": {
			notify.Commit{Runs: []notify.RunChange{becomes(running, run("r", wire.Failed, because(wire.StopFailed, "why")))}},
			"run.failed r FAILED failed why",
		},
		"Cancelled": {
			notify.Commit{Runs: []notify.RunChange{
				becomes(run("w", wire.Queued), run("w", wire.Cancelled, never, because(wire.StopCancelled, ""))),
				becomes(running, run("r", wire.Cancelled, because(wire.StopCancelled, ""))),
			}}, `run.cancelled w CANCELLED cancelled
				run.cancelled r CANCELLED cancelled`,
		},
		"EndedBefore": {
			notify.Commit{Runs: []notify.RunChange{becomes(run("r", wire.Failed), run("r", wire.Failed))}}, "",
		},
		"NestedEnds": {
			notify.Commit{Runs: []notify.RunChange{becomes(run("n", wire.Running, nested), run("n", wire.Completed, nested))}}, "",
		},
		"Steered": {
			notify.Commit{Runs: []notify.RunChange{
				becomes(run("s", wire.Queued), run("s", wire.Completed, never, because(wire.StopSteered, ""))),
			}}, "",
		},
		"All": {
			notify.Commit{
				Runs: []notify.RunChange{
					becomes(notify.Run{}, run("r", wire.Completed, because(wire.StopTokenBudget, ""))),
				},
				Entries: []*wire.Entry{wire.NewEntry(wire.EntryTokenBudgetExhausted, "r", wire.TokenBudgetExhausted{})},
			}, `run.started r COMPLETED token_budget
				run.budget_reached r COMPLETED token_budget token_budget
				run.completed r COMPLETED token_budget`,
		},
		"Removed": {notify.Commit{Removed: true}, "thread.deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c.commit.Version = 7
			c.commit.About = func(id spool.RunID) (notify.Run, error) {
				for _, r := range c.commit.Runs {
					if r.After.ID == id {
						return r.After, nil
					}
				}
				return run(id, wire.Running), nil
			}
			all, err := notify.Events(c.commit)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for i, e := range all {
				if e.Data.Version != 7 || e.Data.Index != i || e.Data.Link != "" || e.Data.Text != "" {
					t.Errorf("event %d: %+v", i, e)
				}
				lines = append(lines, line(e))
			}
			var want []string
			for l := range strings.Lines(c.want) {
				want = append(want, strings.TrimSpace(l))
			}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func line(e notify.Event) string {
	d := e.Data
	parts := []any{e.Type, d.RunID, d.State, d.Budget}
	if d.StopReason != "" {
		parts = append(parts, d.StopReason)
	}
	parts = append(parts, d.Error)
	if q := d.Question; q != nil {
		parts = append(parts, q.ToolCallID, q.ToolName, q.Reason, strings.TrimPrefix(q.Digest, "sha256:"))
		if !q.ExpiresAt.IsZero() {
			parts = append(parts, q.ExpiresAt.Format("15:04"))
		}
		parts = append(parts, q.OnExpiry)
	}
	if h := d.HandedOver; h != nil {
		parts = append(parts, h.From+">"+h.To)
	}
	if e.Answerable {
		parts = append(parts, "answerable")
	}
	return strings.Join(strings.Fields(fmt.Sprintln(parts...)), " ")
}

// A run keeps the webhook of its start, and its events go there.
func TestRunOf(t *testing.T) {
	t.Parallel()

	row := store.RunRow{
		Run: wire.Run{
			ID: "r", RootID: "top", Agent: "a", State: wire.Failed, StopReason: wire.StopFailed, Error: "why", Segments: 3,
			Expired: wire.Expired{Questions: 1, Since: until},
		},
		RunState: store.RunState{Options: &wire.StartOptions{Webhook: "https://h.example/"}},
	}
	want := notify.Run{
		ID: "r", Agent: "a", State: wire.Failed, StopReason: wire.StopFailed, Error: "why", Segments: 3,
		Expired: wire.Expired{Questions: 1, Since: until}, Nested: true, Webhook: "https://h.example/",
	}
	got := notify.RunOf(&row)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("RunOf (-want +got):\n%s", diff)
	}
	got.Nested = false
	all, err := notify.Events(notify.Commit{Runs: []notify.RunChange{{After: got}}})
	if err != nil || len(all) != 2 || all[0].Webhook != want.Webhook || all[1].Data.Expired != want.Expired {
		t.Errorf("Events = %+v, %v", all, err)
	}
}
