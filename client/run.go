package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// RunRequest asks for a run.
type RunRequest struct {
	// Prompt is the user's turn. Required.
	Prompt string `json:"prompt"`

	wire.StartOptions

	// Attachments are images and files of the turn.
	Attachments []wire.Attachment `json:"attachments,omitempty"`
	// Budget bounds the run together with its nested runs. Each zero field defaults to that of the agent. The
	// wall time is rounded up to milliseconds.
	Budget spool.Budget `json:"-"`
	// ClientMessageID is the caller's own id for the turn. The turn's events and its message have it.
	ClientMessageID string `json:"clientMessageId,omitempty"`
	// EditMessageID is the turn to replace. It and all messages after it become a branch. Empty: none.
	EditMessageID spool.MessageID `json:"editMessageId,omitempty"`
	// IdempotencyKey lets the request arrive twice: a start with a key that was used before gets the first
	// accepted answer again, and a start that asks for something else is refused with
	// [wire.ReasonKeyReused]. [Client.Run] then also repeats the request after a failure. Empty: the request
	// is sent once.
	IdempotencyKey string `json:"-"`
	// Labels are the labels of a thread that the start creates.
	Labels map[string]string `json:"labels,omitempty"`
	// RunID is the caller's choice of id, which a tenant may use once. Defaults to a new id.
	RunID spool.RunID `json:"runId,omitempty"`
	// ThreadID is the thread, which is created if it does not exist. Defaults to a new thread.
	ThreadID spool.ThreadID `json:"threadId,omitempty"`
	// Title is the title of a thread that the start creates. Defaults to the beginning of the prompt.
	Title string `json:"title,omitempty"`
	// WhenBusy says what to do while the thread has another run. Defaults to the agent's.
	WhenBusy spool.WhenBusy `json:"whenBusy,omitempty"`
	// StartAt is when the run starts: see [Client.DelayedStarts]. A time that is not ahead is now. Zero: now.
	StartAt time.Time `json:"startAt,omitzero"`
}

// startBody is the body of a start.
type startBody struct {
	RunRequest

	TokenBudget      int64 `json:"tokenBudget,omitempty"`
	CostBudgetMicros int64 `json:"costBudgetMicros,omitempty"`
	ToolCallBudget   int64 `json:"toolCallBudget,omitempty"`
	WallTimeMS       int64 `json:"wallTimeMs,omitempty"`
}

// Run starts a run, and returns when the server has stored it. A refusal is a result with a reason: see the
// constants of package spool that are named Reason. If the server has no room for the run at present,
// [wire.RunResult.RetryAfter] is how long to wait.
//
// A request that fails with [spool.Unavailable] and has no IdempotencyKey may have started a run or not.
func (c *Client) Run(ctx context.Context, in RunRequest) (wire.RunResult, error) {
	q := post("/api/agent/run", startBody{
		in, in.Budget.Tokens, in.Budget.CostMicros, in.Budget.ToolCalls,
		int64((in.Budget.WallTime + time.Millisecond - 1) / time.Millisecond),
	})
	q.refusals = append(q.refusals, http.StatusServiceUnavailable)
	if in.IdempotencyKey != "" {
		q.repeatable, q.header = true, http.Header{"Idempotency-Key": {in.IdempotencyKey}}
	}
	result, later, err := doOrLater[wire.RunResult](ctx, c, q)
	result.RetryAfter = later
	return result, err
}

// Outcome returns the present outcome of a run. It returns a [spool.NotFound] error for a run that does not
// exist.
func (c *Client) Outcome(ctx context.Context, run spool.RunID) (wire.RunOutcome, error) {
	return do[wire.RunOutcome](ctx, c, get(runPath(run)))
}

func runPath(run spool.RunID) string { return "/api/agent/runs/" + url.PathEscape(string(run)) }

const (
	// longWait is how long the server is asked to wait for the end of a run, and shortWait how long a server
	// that does not wait so long.
	longWait, shortWait = 30 * time.Second, time.Second
	// answerTime is how much longer than that an answer may take.
	answerTime = 15 * time.Second
)

// Await waits until a run has ended or needs an answer, and returns its outcome: the state is terminal, or
// Parks is not empty. It goes on while the server restarts or cannot be reached, until ctx ends. The run does
// not end with it. Await returns a [spool.NotFound] error for a run that does not exist.
func (c *Client) Await(ctx context.Context, run spool.RunID) (wire.RunOutcome, error) {
	wait := longWait
	for failures := 0; ; {
		asked := time.Now()
		o, err := c.awaitFor(ctx, run, wait)
		switch {
		case err == nil && (o.State.Terminal() || len(o.Parks) > 0):
			return o, nil
		case ctx.Err() != nil:
			return wire.RunOutcome{}, canceled(ctx)
		case err == nil && time.Since(asked) >= wait:
			failures = 0
			continue
		case err == nil: // the server shuts down
			failures = 1
		case StatusOf(err) == http.StatusBadRequest && wait > shortWait:
			wait = shortWait
			continue
		case passing(err):
			failures++
		default:
			return wire.RunOutcome{}, err
		}
		if !pause(ctx, c.options.Backoff.wait(failures, askedWait(err))) {
			return wire.RunOutcome{}, canceled(ctx)
		}
	}
}

// awaitFor waits for the outcome of a run, once and for the given time.
func (c *Client) awaitFor(ctx context.Context, run spool.RunID, wait time.Duration) (wire.RunOutcome, error) {
	limited, cancel := context.WithTimeout(ctx, wait+answerTime)
	defer cancel()
	o, _, err := once[wire.RunOutcome](limited, c, get(runPath(run), "wait", wait.String()))
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = spool.Errorf(spool.Unavailable, "the server did not answer in time")
	}
	return o, err
}

// Stop stops a run of the thread and cancels the runs that wait for the thread. With a run id, it stops only
// that run. Empty: the thread's.
func (c *Client) Stop(ctx context.Context, thread spool.ThreadID, run spool.RunID) (wire.StopResult, error) {
	return do[wire.StopResult](ctx, c, post("/api/agent/control", struct {
		ThreadID spool.ThreadID `json:"threadId"`
		RunID    spool.RunID    `json:"runId,omitempty"`
	}{thread, run}))
}

// RespondRequest answers a park.
type RespondRequest struct {
	// ToolCallID names the park. Required.
	ToolCallID spool.ToolCallID `json:"toolCallId"`
	// Approved allows the call.
	Approved bool `json:"approved"`
	// Arguments is a JSON object with which an approved call runs instead of its own arguments. Nil: its own.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Digest is that of the question that was shown, so that the answer counts for no other question. It is
	// required for the second and later questions of a call. Empty: it is not compared.
	Digest string `json:"digest,omitempty"`
	// Payload is any JSON for the tool. Nil: none.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Reason is the reason, for the model and for the record.
	Reason string `json:"reason,omitempty"`
}

// Respond answers a park of the thread. An answer that does not count is a result with a reason, such as
// [wire.ReasonAnswered].
func (c *Client) Respond(ctx context.Context, thread spool.ThreadID, in RespondRequest) (wire.RespondResult, error) {
	return do[wire.RespondResult](ctx, c, post("/api/agent/respond", struct {
		ThreadID spool.ThreadID `json:"threadId"`
		RespondRequest
	}{thread, in}))
}

// Compact summarises the older messages of the thread for the model, and returns when the model has answered.
func (c *Client) Compact(ctx context.Context, thread spool.ThreadID) (wire.CompactResult, error) {
	return do[wire.CompactResult](ctx, c, post("/api/agent/compact", threadBody{thread}))
}

// threadBody is the body of a request that only names a thread.
type threadBody struct {
	ThreadID spool.ThreadID `json:"threadId"`
}

// number returns the decimal form of a parameter, "" for zero.
func number[T ~int | ~int64](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}
