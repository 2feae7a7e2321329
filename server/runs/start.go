package runs

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// StartInput is a request to start a run.
type StartInput struct {
	waitInput

	// IdempotencyKey is a key of your own. A start that comes again with its key gets the first accepted answer
	// again, and another start with the key a 409.
	IdempotencyKey string      `example:"order-1234" header:"Idempotency-Key"`
	Body           *RunRequest `required:"true"`
}

// RunRequest is the body of a start. The tenant is not part of it: see [access.Principal].
type RunRequest struct {
	// State and HostState must not be in a request. They are read only to refuse them.
	State     json.RawMessage `hidden:"true" json:"state,omitempty"`
	HostState json.RawMessage `hidden:"true" json:"hostState,omitempty"`

	wire.StartOptions

	// ThreadID is the thread. If it does not exist, it is created. Left out: a new thread. It must not be empty.
	ThreadID *spool.ThreadID `example:"t1" json:"threadId,omitempty"`
	// Prompt is the user's turn.
	Prompt *string `example:"Hello" json:"prompt" nullable:"false" required:"true"`
	// Title is the title, if the start creates the thread. Defaults to the beginning of the prompt.
	Title string `json:"title,omitempty" maxLength:"200"`
	// Labels are the labels of a thread that the start makes, up to 16.
	Labels map[string]string `json:"labels,omitempty"`
	// EditMessageID is the user turn to replace. It and all messages after it leave the view.
	EditMessageID spool.MessageID `json:"editMessageId,omitempty"`
	// Your own id for the turn. Events and messages have it too.
	ClientMessageID string `json:"clientMessageId,omitempty"`
	// Your own id for the run. A tenant may use an id once. Defaults to a new id.
	RunID spool.RunID `example:"r1" json:"runId,omitempty"`
	// TokenBudget is how many tokens the run and its nested runs may use. Zero: the agent's budget.
	TokenBudget int64 `json:"tokenBudget,omitempty" minimum:"0"`
	// CostBudgetMicros are the run's budget, in millionths of the server's currency. Zero: the agent's budget.
	CostBudgetMicros int64 `json:"costBudgetMicros,omitempty" minimum:"0"`
	// ToolCallBudget is how often it may call tools. Zero: the agent's budget.
	ToolCallBudget int64 `json:"toolCallBudget,omitempty" minimum:"0"`
	// WallTimeMs is how long the run may execute, in milliseconds, without its waits. Zero: the agent's budget.
	WallTimeMs int64 `json:"wallTimeMs,omitempty" minimum:"0"`
	// Images and files of the turn: up to 8, by http, https or data URL.
	Attachments []wire.Attachment `json:"attachments,omitempty"`
	// WhenBusy is what to do while the thread has another run. Defaults to the agent's, or reject. The other options
	// of a steer, such as output, count only if its message becomes a run of its own.
	WhenBusy spool.WhenBusy `enum:"reject,enqueue,latest,interrupt,rollback,steer" json:"whenBusy,omitempty"`
	// When the run starts, at most 366 days ahead. Until then there is no run, but a start that waits, with the same id:
	// see getDelayedStart. It meets a run of the thread when it comes due, with the rights that you have then. A time at
	// which your credentials have ended is refused. A time in the past is now. Left out: now.
	StartAt time.Time `json:"startAt,omitzero"`
}

// Validate implements [rest.Validator].
func (q RunRequest) Validate(context.Context) error {
	if q.Prompt == nil {
		return spool.Errorf(spool.Invalid, "prompt is required")
	}
	for _, f := range []struct {
		name  string
		value json.RawMessage
	}{{"state", q.State}, {"hostState", q.HostState}} {
		if f.value != nil && string(f.value) != "null" {
			return spool.Errorf(spool.Invalid,
				"%s is not taken from a request: what the tools of a run get comes from the host's session", f.name)
		}
	}
	// A client with an empty variable would create a thread with every prompt.
	if q.ThreadID != nil && *q.ThreadID == "" {
		return spool.Errorf(spool.Invalid, "threadId is empty; leave it out for a new thread")
	}
	for _, id := range []struct{ field, value string }{
		{"threadId", string(q.thread())},
		{"runId", string(q.RunID)},
		{"editMessageId", string(q.EditMessageID)},
	} {
		if err := call.CheckOptionalID(id.field, id.value); err != nil {
			return err
		}
	}
	if q.WallTimeMs > math.MaxInt64/int64(time.Millisecond) {
		return spool.Errorf(spool.Invalid, "wallTimeMs is too large")
	}
	return nil
}

// budget returns the budget of the start.
func (q RunRequest) budget() spool.Budget {
	return spool.Budget{
		Tokens: q.TokenBudget, CostMicros: q.CostBudgetMicros, ToolCalls: q.ToolCallBudget,
		WallTime: time.Duration(q.WallTimeMs) * time.Millisecond,
	}
}

// thread returns the thread's id, "" for a new thread.
func (q RunRequest) thread() spool.ThreadID {
	if q.ThreadID == nil {
		return ""
	}
	return *q.ThreadID
}

// StartedRun is the outcome of an accepted run.
type StartedRun struct {
	Accepted bool `example:"true" json:"accepted"` // Always true.

	wire.RunOutcome
}

// RunRefusal is an error of a start, or the result of a start while the queue is full.
type RunRefusal struct {
	Accepted *bool          `json:"accepted,omitempty"                 nullable:"false"`        // Always false.
	ThreadID spool.ThreadID `json:"threadId,omitempty"`                                         // The thread.
	Reason   string         `enum:"queue_full"                         json:"reason,omitempty"` // The same word as code.
	Error    string         `example:"Too many runs wait for a worker" json:"error"`            // The error, for a person.
	// Code is the error's code: queue_full with the fields below, or unavailable.
	Code spool.Code `example:"queue_full" json:"code"`
}

// The other answers of a start than 202.
var (
	StartEnded   = rest.Also[StartedRun](http.StatusOK)
	StartRefused = rest.Also[wire.RunResult](http.StatusConflict)
	StartLater   = rest.Also[RunRefusal](http.StatusServiceUnavailable)
)

// StartAnswer is one of these.
type StartAnswer = rest.Answer[wire.RunResult]

// CodeQueueFull is the error code of a start that is refused because the queue is full.
const CodeQueueFull spool.Code = wire.ReasonQueueFull

// Start accepts a prompt on a thread. When the answer is a 202, the run is on disk and will come to an end; a worker
// executes it. A thread that does not exist is created.
//
// With wait, such as 30s, the answer comes when the run has ended or waits for somebody: a 200 with the outcome. If
// that takes longer, the answer is the usual 202, and the run continues; getRunOutcome has the rest. The run also
// continues if the client disconnects. A request that waits also needs the scope read, and counts as an open stream.
//
// On a thread whose run is not over, whenBusy decides what happens. The answer then has the run's position in the queue
// of the thread. The values interrupt and rollback also need the scope stop. With steer, the message is put into the
// run before its next step, and the answer has that run in steers.
//
// With startAt, the answer has startAt and no state: the start waits for its time, and wait does not apply. Whether the
// request is valid is checked now, and the run id and the Idempotency-Key are taken now.
//
// A 409 has the reason: the thread has a run that is not over (`active_run`), too many runs wait for the thread
// (`queue_full`), the run id was used before (`run_id_used`), another start had the Idempotency-Key (`key_reused`, with
// the thread and the run of that start), the turn to edit does not exist (`not_found`) or is not the user's
// (`not_editable`).
//
// A 503 with the reason `queue_full` means that too many runs wait for a worker. Nothing was changed, and Retry-After
// says when to try again.
func (c Controller) Start(ctx context.Context, in StartInput) (StartAnswer, error) {
	who := call.By(ctx)
	thread := who.Key(in.Body.thread())
	call.Concerns(ctx, thread, in.Body.RunID)
	if in.Body.WhenBusy.Stops() && !who.May(access.ScopeStop) {
		return StartAnswer{}, call.About(ctx, access.Lacks(access.ScopeStop, "whenBusy "+string(in.Body.WhenBusy)), thread,
			in.Body.RunID)
	}
	wait, place, err := c.reserveWait(ctx, who, in.waitInput)
	if err != nil {
		return StartAnswer{}, call.About(ctx, err, thread, in.Body.RunID)
	}
	defer place.Release()
	result, err := c.Starts.Run(ctx, c.Engine, thread, wire.StartRequest{
		StartOptions:    in.Body.StartOptions,
		Prompt:          *in.Body.Prompt,
		RunID:           in.Body.RunID,
		Title:           in.Body.Title,
		Labels:          in.Body.Labels,
		EditMessageID:   in.Body.EditMessageID,
		ClientMessageID: in.Body.ClientMessageID,
		Budget:          in.Body.budget(),
		Attachments:     in.Body.Attachments,
		WhenBusy:        in.Body.WhenBusy,
		StartAt:         in.Body.StartAt,
		// The header is a string of RFC 8941, in quotes, but many clients send it bare.
		IdempotencyKey: strings.Trim(in.IdempotencyKey, `"`),
	})
	if err == nil {
		call.Concerns(ctx, spool.ThreadKey{Tenant: thread.Tenant, ID: result.ThreadID}, result.RunID)
	}
	answer := StartAnswer{Body: result}
	switch {
	case err != nil:
		return answer, call.About(ctx, err, thread, in.Body.RunID)
	case result.RetryAfter > 0:
		call.SetRetryAfter(rest.ResponseOf(ctx).Header(), result.RetryAfter)
		answer.Other = StartLater.With(RunRefusal{
			&result.Accepted, result.ThreadID, result.Reason, result.Error, CodeQueueFull,
		})
	case !result.Accepted:
		answer.Other = StartRefused.With(result)
	case wait > 0 && result.StartAt.IsZero():
		// A waiting request does not keep its body.
		*in.Body = RunRequest{}
		rest.ReleaseBody(ctx)
		if outcome := c.awaitStarted(ctx, who, result, wait); outcome != nil {
			answer.Other = StartEnded.With(StartedRun{true, *outcome})
		}
	}
	return answer, nil
}
