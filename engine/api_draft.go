package engine

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
)

// StartRequest asks for a run.
type StartRequest struct {
	// Prompt is the text of the user turn. Required.
	Prompt string
	// Agent names the agent. Defaults to the engine's first.
	Agent string
	// Model names the model. Defaults to the agent's.
	Model string
	// RunID is the caller's choice of id. Defaults to a fresh one.
	RunID spool.RunID
	// EditMessageID is a user turn to replace, with all behind it.
	EditMessageID spool.MessageID
	// ClientMessageID is the client's own name for the user turn.
	ClientMessageID string
	// MaxSteps caps the run below the agent's own ceiling. Zero: no cap.
	MaxSteps int
	// Attachments are images of the user turn.
	Attachments []Attachment
	// IdempotencyKey repeats the first answer for every start with the same key.
	IdempotencyKey string
}

// Attachment is an image of a user turn: an http(s) or data URL.
type Attachment struct {
	URL       string `json:"url"`
	MediaType string `json:"mediaType"`
}

// Refusal reasons of a [RunResult].
const (
	ReasonActiveRun       = "active_run"
	ReasonRunIDUsed       = "run_id_used"
	ReasonNotEditable     = "not_editable"
	ReasonMessageNotFound = "message_not_found"
)

// RunResult is the answer to a start. Refusals (Accepted false) are not errors.
type RunResult struct {
	Accepted bool           `json:"accepted"`
	ThreadID spool.ThreadID `json:"threadId"`
	RunID    spool.RunID    `json:"runId,omitempty"`
	State    spool.State    `json:"state,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Error    string         `json:"error,omitempty"`
}

// StopResult is the answer to a stop.
type StopResult struct {
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitempty"`
	Error    string `json:"error,omitempty"`
}

// Response answers a park.
type Response struct {
	ToolCallID spool.ToolCallID
	Approved   bool
	Payload    json.RawMessage
	// By is the subject who answers.
	By string
}

// RespondResult is the answer to an answer.
type RespondResult struct {
	Delivered bool   `json:"delivered"`
	Reason    string `json:"reason,omitempty"`
	Error     string `json:"error,omitempty"`
}

// DeleteResult is the answer to a deletion. Reason is not_found (404) or active_run (409).
type DeleteResult struct {
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitempty"`
	Error    string `json:"error,omitempty"`
}

// SnapshotOptions narrow a snapshot.
type SnapshotOptions struct {
	LastMessageID spool.MessageID // only messages after it
	Before        spool.MessageID // only messages before it
	Limit         int             // only the newest so many; 0: all
}

// FollowOptions say from where to follow.
type FollowOptions struct {
	Cursor        *spool.Cursor
	LastMessageID spool.MessageID
}

// SSEOptions say from where and how to stream.
type SSEOptions struct {
	// Cursor in its wire form (Last-Event-ID, or the cursor parameter). Malformed: none.
	Cursor string
	// Since is a bare record seq, used only when there is no cursor. Nil: none.
	Since         *int64
	LastMessageID spool.MessageID
	// Retry is sent first. Defaults to Config.RetryHint; negative: not sent.
	Retry      time.Duration
	WireFormat string // "" native; others are an Invalid error
	State      json.RawMessage
}

// EventStream is the body of an SSE answer.
type EventStream struct{ Header http.Header }

// JobResult says what became of a job.
type JobResult struct {
	// Accepted is true when the job need not come back: it was carried out, or there was nothing to do.
	Accepted bool
	Reason   string
	// RetryAfter is when to deliver it again, when Accepted is false.
	RetryAfter time.Duration
}

// WorkOptions bound a worker.
type WorkOptions struct {
	Concurrency int // Defaults to 16
	MaxDeliveries int // Defaults to 20
}

// Settlement is what a settle hook is told. (fields may grow)
type Settlement struct {
	Thread     spool.ThreadKey
	RunID      spool.RunID
	State      spool.State
	StopReason spool.StopReason
	Error      string
	Steps      int
	Usage      spool.TokenCount
}

type SweepReport struct{ Checked, Redispatched, Settled, Errors int }

func (e *Engine) Run(ctx context.Context, key spool.ThreadKey, r StartRequest) (RunResult, error) { panic("draft") } // key.ID "" => new thread; bad input => Invalid error
func (e *Engine) Stop(ctx context.Context, key spool.ThreadKey) (StopResult, error) { panic("draft") }
func (e *Engine) Respond(ctx context.Context, key spool.ThreadKey, r Response) (RespondResult, error) { panic("draft") }
func (e *Engine) Snapshot(ctx context.Context, key spool.ThreadKey, o *SnapshotOptions) (*spool.Snapshot, error) { panic("draft") } // NotFound "Thread not found"
func (e *Engine) Follow(ctx context.Context, key spool.ThreadKey, o FollowOptions) iter.Seq2[spool.Frame, error] { panic("draft") }
func (e *Engine) FollowRecord(ctx context.Context, key spool.ThreadKey, since int64) iter.Seq2[spool.Entry, error] { panic("draft") }
func (e *Engine) ReadStream(ctx context.Context, key spool.ThreadKey, id spool.StreamID, after spool.Offset) iter.Seq2[spool.Item, error] { panic("draft") }
func (e *Engine) SSE(ctx context.Context, key spool.ThreadKey, o SSEOptions) (*EventStream, error) { panic("draft") } // NotFound before anything is sent
// Chunks yields blocks of whole SSE messages, flush after each. Ends nil when the engine shuts down or the thread is deleted, ctx error otherwise. Shared bytes: do not change.
func (s *EventStream) Chunks() iter.Seq2[[]byte, error] { panic("draft") }
// Read makes an EventStream an io.ReadCloser too.
func (s *EventStream) Read(p []byte) (int, error) { panic("draft") }
func (s *EventStream) Close() error { panic("draft") }
func SSEHeaders() http.Header { panic("draft") }
func (e *Engine) Usage(ctx context.Context, key spool.ThreadKey) (spool.ThreadUsage, error) { panic("draft") }
func (e *Engine) Threads(ctx context.Context, tenant spool.Tenant, q spool.ThreadQuery) ([]spool.Thread, error) { panic("draft") }
func (e *Engine) DeleteThread(ctx context.Context, key spool.ThreadKey) (DeleteResult, error) { panic("draft") }
func (e *Engine) ReclaimIfOrphaned(ctx context.Context, key spool.ThreadKey) (bool, error) { panic("draft") }
func (e *Engine) HandleJob(ctx context.Context, j spool.Job) (JobResult, error) { panic("draft") } // ErrUnknownAgent
func (e *Engine) HandleDeadJob(ctx context.Context, j spool.Job, attempts int, cause string) error { panic("draft") }
func (e *Engine) Sweep(ctx context.Context) (SweepReport, error) { panic("draft") }
// Work claims and carries out jobs, and sweeps, until ctx ends; then all segments hand their jobs back and Work returns nil.
func (e *Engine) Work(ctx context.Context, o WorkOptions) error { panic("draft") }
// HasAgent reports whether this process can carry out a job that names the agent.
func (e *Engine) HasAgent(name string) bool { panic("draft") }
// Close ends all event streams: clients are told when to come back (jittered retry), then their streams end. Call before http.Server.Shutdown.
func (e *Engine) Close() { panic("draft") }
