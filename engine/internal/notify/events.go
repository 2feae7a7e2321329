package notify

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Commit is what a transaction has changed, as far as events tell it.
type Commit struct {
	// Version is the version of the thread with the change.
	Version int64
	// Runs are the runs that were written, in the order of their first write.
	Runs []RunChange
	// Entries are the new entries of the record. Each is about a run that About returns.
	Entries []*wire.Entry
	About   func(id spool.RunID) (Run, error)
	// Parks are the parks that were written.
	Parks []store.Park
	// Removed is true if the thread was removed. Nothing else is told then.
	Removed bool
}

// Run is what events tell of a run.
type Run struct {
	ID         spool.RunID
	Agent      string
	State      wire.State
	StopReason wire.StopReason
	Error      string
	Expired    wire.Expired
	// Segments counts the segments. A run without one was never claimed.
	Segments int
	Nested   bool
	// Webhook is the webhook of its start, or empty.
	Webhook string
}

// RunOf returns what events tell of a run.
func RunOf(r *store.RunRow) Run {
	run := Run{
		ID: r.ID, Agent: r.Agent, State: r.State, StopReason: r.StopReason, Error: r.Error, Expired: r.Expired,
		Segments: r.Segments, Nested: r.RootID != "",
	}
	if r.Options != nil {
		run.Webhook = r.Options.Webhook
	}
	return run
}

// RunChange is a run before and after a commit. Before is the zero run if the commit has added it.
type RunChange struct{ Before, After Run }

// Event is an event of a commit, before anybody knows who is told.
type Event struct {
	Type wire.WebhookType
	Data wire.WebhookData
	// Webhook is the webhook of the start of its run, or empty.
	Webhook string
	// Answerable is true for a question that a link can answer.
	Answerable bool
}

// Events returns the events of a commit, in the order in which they are told, without what they say of the thread.
func Events(c Commit) ([]Event, error) {
	var all []Event
	add := func(kind wire.WebhookType, run Run, change func(e *Event)) {
		e := Event{Type: kind, Webhook: run.Webhook, Data: wire.WebhookData{
			Version: c.Version, Index: len(all), RunID: run.ID, Agent: run.Agent, State: run.State, Expired: run.Expired,
		}}
		if run.State.Terminal() {
			e.Data.StopReason, e.Data.Error = run.StopReason, run.Error
		}
		if change != nil {
			change(&e)
		}
		all = append(all, e)
	}
	if c.Removed {
		add(wire.WebhookThreadDeleted, Run{}, nil)
		return all, nil
	}
	for _, r := range c.Runs {
		if !r.After.Nested && r.Before.Segments == 0 && r.After.Segments > 0 {
			add(wire.WebhookRunStarted, r.After, nil)
		}
	}
	for _, entry := range c.Entries {
		kinds, change, err := told(c, entry)
		if err != nil {
			return nil, err
		}
		if len(kinds) == 0 {
			continue
		}
		run, err := c.About(entry.RunID)
		if err != nil {
			return nil, err
		}
		for _, kind := range kinds {
			add(kind, run, change)
		}
	}
	for _, r := range c.Runs {
		if !r.After.Nested && !r.Before.State.Terminal() {
			if kind := ended(r.After); kind != "" {
				add(kind, r.After, nil)
			}
		}
	}
	return all, nil
}

// ended returns the event about the end of a run. Empty: it goes on, or was only a message for another run.
func ended(r Run) wire.WebhookType {
	switch {
	case r.StopReason == wire.StopSteered:
		return ""
	case r.State == wire.Completed:
		return wire.WebhookRunCompleted
	case r.State == wire.Failed:
		return wire.WebhookRunFailed
	case r.State == wire.Cancelled:
		return wire.WebhookRunCancelled
	default:
		return ""
	}
}

// told returns which events an entry is, if any, and what they say of it.
func told(c Commit, entry *wire.Entry) ([]wire.WebhookType, func(e *Event), error) {
	switch entry.Type {
	case wire.EntryInputRequired:
		return asked(c, entry)
	case wire.EntryInputExpiring:
		var p wire.InputExpiring
		err := read(entry, &p)
		return one(wire.WebhookRunExpiring), func(e *Event) {
			question(e, c, entry.RunID, wire.WebhookQuestion{
				ToolCallID: p.ToolCallID, ExpiresAt: p.ExpiresAt, OnExpiry: p.OnExpiry,
			})
		}, err
	case wire.EntryInputExpired:
		var p wire.InputExpired
		err := read(entry, &p)
		return one(wire.WebhookRunExpired), func(e *Event) {
			question(e, c, entry.RunID, wire.WebhookQuestion{ToolCallID: p.ToolCallID, OnExpiry: p.OnExpiry})
			e.Answerable = false
		}, err
	case wire.EntryHandedOver:
		var p wire.HandedOver
		err := read(entry, &p)
		return one(wire.WebhookRunHandedOver), func(e *Event) {
			e.Data.HandedOver = &wire.WebhookHandedOver{From: p.From, To: p.To}
		}, err
	default:
		reason := budgets[entry.Type]
		if reason == "" {
			return nil, nil, nil
		}
		return one(wire.WebhookRunBudgetReached), func(e *Event) { e.Data.Budget = reason }, nil
	}
}

func one(kind wire.WebhookType) []wire.WebhookType { return []wire.WebhookType{kind} }

// budgets are the entries about a budget that is used up.
var budgets = map[wire.EntryType]wire.StopReason{
	wire.EntryTokenBudgetExhausted:    wire.StopTokenBudget,
	wire.EntryCostBudgetExhausted:     wire.StopCostBudget,
	wire.EntryToolCallBudgetExhausted: wire.StopToolCallBudget,
	wire.EntryTimeBudgetExhausted:     wire.StopTimeBudget,
}

// asked returns the events of a question. One about a budget is two.
func asked(c Commit, entry *wire.Entry) ([]wire.WebhookType, func(e *Event), error) {
	var p wire.InputRequired
	if err := read(entry, &p); err != nil {
		return nil, nil, err
	}
	p = p.FromRecord()
	kinds, used := one(wire.WebhookRunWaiting), struct {
		Exhausted wire.StopReason `json:"exhausted"`
	}{}
	if p.Reason == wire.ParkBudget {
		if err := json.Unmarshal(p.Arguments, &used); err != nil {
			return nil, nil, spool.Wrap(spool.Internal, "the question about a budget cannot be read", err)
		}
		kinds = append(kinds, wire.WebhookRunBudgetReached)
	}
	return kinds, func(e *Event) {
		if e.Type == wire.WebhookRunBudgetReached {
			e.Data.Budget = used.Exhausted
		}
		question(e, c, entry.RunID, wire.WebhookQuestion{
			ToolCallID: p.ToolCallID, ToolName: p.ToolName, Reason: p.Reason, ExpiresAt: p.ExpiresAt, OnExpiry: p.OnExpiry,
			Digest: p.Digest,
		})
		e.Answerable = e.Answerable && e.Type == wire.WebhookRunWaiting
	}, nil
}

// question puts a question into an event, with what only its park has.
func question(e *Event, c Commit, run spool.RunID, q wire.WebhookQuestion) {
	for i := range c.Parks {
		if p := &c.Parks[i]; p.RunID == run && p.ToolCallID == q.ToolCallID {
			q.ToolName, q.Reason, q.Digest = p.ToolName, p.Reason, p.Digest
			if q.ExpiresAt.IsZero() {
				q.ExpiresAt = p.ExpiresAt
			}
		}
	}
	e.Data.Question, e.Answerable = &q, q.Digest != ""
}

func read(entry *wire.Entry, payload any) error {
	if err := json.Unmarshal(entry.Payload, payload); err != nil {
		return spool.Wrap(spool.Internal, "the entry "+string(entry.Type)+" cannot be read", err)
	}
	return nil
}
