package view

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// MarshalJSON returns the JSON form of what the view shows. spec/events.md describes it, and
// spec/fixtures/views.json has examples.
func (t *Thread) MarshalJSON() ([]byte, error) {
	out := wireView{
		Thread:   wireThread{Thread: t.row, CreatedAt: t.row.CreatedAt, UpdatedAt: t.row.UpdatedAt},
		Messages: wireMessages(t.messages), Drafts: wireMessages(t.Drafts()),
		Parks: make([]wirePark, len(t.parks)), Runs: make([]wireRun, len(t.runs)), Queue: t.queue,
		Pending: make([]wirePending, len(t.pending)), ProviderWaits: t.waits, Deleted: t.deleted,
	}
	for i, p := range t.parks {
		out.Parks[i] = wirePark(p)
	}
	for i, r := range t.runs {
		out.Runs[i] = wireRunOf(r)
	}
	for i, p := range t.pending {
		out.Pending[i] = wirePending(p)
	}
	if out.Queue == nil {
		out.Queue = []wire.QueuedRun{}
	}
	if out.ProviderWaits == nil {
		out.ProviderWaits = []wire.ProviderWait{}
	}
	if t.retry != nil {
		out.Retry = &wireRetry{t.retry.RunID, t.retry.At, t.retry.Error}
	}
	if t.cursor != nil {
		at := t.cursor.String()
		out.Cursor = &at
	}
	return json.Marshal(out)
}

// wireView is the JSON form of a [Thread]. Its fields have the names and the forms of the wire.
type wireView struct {
	Thread        wireThread          `json:"thread"`
	Messages      []wireMessage       `json:"messages"`
	Drafts        []wireMessage       `json:"drafts"`
	Parks         []wirePark          `json:"parks"`
	Pending       []wirePending       `json:"pending"`
	Runs          []wireRun           `json:"runs"`
	Queue         []wire.QueuedRun    `json:"queue"`
	Retry         *wireRetry          `json:"retry"`
	ProviderWaits []wire.ProviderWait `json:"providerWaits"`
	Cursor        *string             `json:"cursor"`
	Deleted       bool                `json:"deleted,omitempty"`
}

// wireThread leaves out the times that the view does not know.
type wireThread struct {
	wire.Thread

	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

// wireMessage leaves out the time of a message that came with a stream.
type wireMessage struct {
	ID              spool.MessageID `json:"id"`
	ThreadID        spool.ThreadID  `json:"threadId"`
	Role            spool.Role      `json:"role"`
	Content         spool.Content   `json:"content"`
	CreatedAt       time.Time       `json:"createdAt,omitzero"`
	ClientMessageID string          `json:"clientMessageId,omitempty"`
	RunID           spool.RunID     `json:"runId,omitempty"`
	AgentID         *spool.AgentID  `json:"agentId"`
}

func wireMessages(messages []spool.Message) []wireMessage {
	out := make([]wireMessage, len(messages))
	for i, m := range messages {
		out[i] = wireMessage{
			ID: m.ID, ThreadID: m.ThreadID, Role: m.Role, Content: m.Content, CreatedAt: m.CreatedAt,
			ClientMessageID: m.ClientMessageID, RunID: m.RunID,
		}
		if m.AgentID != "" {
			out[i].AgentID = &m.AgentID
		}
	}
	return out
}

// wirePark is a question with the run that waits and the time of the question.
type wirePark struct {
	wire.InputRequired

	RunID   spool.RunID `json:"runId"`
	AskedAt time.Time   `json:"askedAt,omitzero"`
}

// wirePending is a call whose work goes on elsewhere, with the run that waits.
type wirePending struct {
	wire.CallPending

	RunID spool.RunID `json:"runId"`
}

type wireRetry struct {
	RunID spool.RunID `json:"runId"`
	At    time.Time   `json:"at"`
	Error string      `json:"error,omitempty"`
}

// wireRun leaves out the times that the view does not know, and the durations that follow from them.
type wireRun struct {
	wire.RunJSON

	StartedAt  time.Time `json:"startedAt,omitzero"`
	DurationMS int64     `json:"durationMs,omitempty"`
	QueuedMS   int64     `json:"queuedMs,omitempty"`
}

func wireRunOf(r wire.Run) wireRun {
	out := wireRun{StartedAt: r.StartedAt, RunJSON: wire.RunJSON{
		ID: r.ID, ThreadID: r.ThreadID, ParentID: r.ParentID, CallID: r.CallID, Depth: r.Depth, Agent: r.Agent, Model: r.Model,
		State: r.State, StopReason: r.StopReason, Error: r.Error, StartedBy: r.StartedBy, EnqueuedAt: r.EnqueuedAt, EndedAt: r.EndedAt,
		MaxSteps: r.MaxSteps, Steps: r.Steps, Attempts: r.Attempts, InputTokens: r.InputTokens, CachedInputTokens: r.CachedInputTokens,
		OutputTokens: r.OutputTokens, TotalTokens: r.TotalTokens, Prompt: r.Prompt, Result: r.Result,
		CostMicros: r.CostMicros, Currency: r.Currency, Expired: r.Expired,
	}}
	if a := r.Allowance; a != nil {
		out.TokenBudget, out.CostBudgetMicros = a.Budget.Tokens, a.Budget.CostMicros
		out.ToolCallBudget, out.WallTimeMS = a.Budget.ToolCalls, a.Budget.WallTime.Milliseconds()
	}
	return out
}
