package spool

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	// Name matches [A-Za-z0-9_-]{1,64}.
	Name        string
	Description string
	// Parameters is the JSON Schema of the arguments, an object's. Nil: no arguments.
	Parameters json.RawMessage
}

// Tool is a tool of an agent. Its functions are safe for concurrent use.
type Tool struct {
	ToolSpec

	// Call executes the tool. Its result is any JSON, nil for null. An error becomes the call's result, which
	// the model reads; a [ParkRequest] parks the run instead, a [PendingError] lets it wait for work elsewhere,
	// and an [OutcomeUnknownError] asks a person. If ctx ends, the run was stopped or the worker
	// shuts down. If the call then fails, its outcome is unknown unless the tool is idempotent.
	Call func(ctx context.Context, call ToolCall) (json.RawMessage, error)

	// Cancel stops the work of a pending call: see [Pending]. The engine calls it after the run was stopped or
	// has failed, or the call's time is over. The call has its Pending. A worker calls it once or, after a crash,
	// again, and only logs an error. Defaults to letting the work go on.
	Cancel func(ctx context.Context, call ToolCall) error

	// Check returns an error for wrong arguments, before they are used or shown to an approver. The model
	// reads the error. Defaults to accepting every JSON object.
	Check func(args json.RawMessage) error

	// Approval says whether a call parks until a person allows it. An error is the
	// call's result. Defaults to no call.
	Approval func(ctx context.Context, call ToolCall) (bool, error)

	// Access limits the tool to runs of these callers. In other runs the tool does not exist: the model does
	// not see it, and a call of it is a call of an unknown tool. Defaults to all runs.
	Access Access

	// Search puts the tool into the agent's catalogue. The model does not get it with each request, but two tools:
	// [SearchTool] finds tools of the catalogue by words of their names and descriptions, and [DescribeTool] describes
	// them. What was described stands behind the other tools from the next request on, until the run ends, and is then a
	// tool like any other. A run can have [MaxDescribed] of them. For catalogues of more than a few dozen tools. Defaults
	// to false.
	Search bool

	// DistinctApprover forbids the subject that started the run to answer the questions of the tool's calls:
	// see [wire.Run.DistinctFrom]. Defaults to false.
	DistinctApprover bool

	// Expiry says how long a call of the tool waits for an answer, and what happens without one. Defaults to
	// the engine's ParkTTL, a warning, and a result that says so.
	Expiry Expiry

	// PendingTimeout is how long a call may be pending before it fails. It counts from the first [PendingError],
	// and anew after a question. Defaults to [DefaultPendingTimeout].
	PendingTimeout time.Duration

	// Polling says that the same call may have the same result many times, because it looks whether something has
	// happened. For another tool, the model is told at the third step with the same calls and the same results and
	// nothing in between, and the run ends at the sixth, with [wire.StopRepeated]. Defaults to false.
	Polling bool

	// Idempotent says that a call may be repeated with the same idempotency key after a crash left its
	// outcome unknown. Otherwise a person is asked.
	Idempotent bool

	// PendingIdempotent says the same of a call with a [ToolCall.Pending], whose first call has begun the work: it may
	// be repeated with the same answer to a question of the work. A call with a Pending and without an answer is
	// always repeated. Defaults to Idempotent.
	PendingIdempotent bool
}

// ToolCall is one call of a tool.
type ToolCall struct {
	Thread ThreadKey
	RunID  RunID
	// Step is the step of the run that the call belongs to, from 1.
	Step int
	ID   ToolCallID
	Name string
	Args json.RawMessage
	// Agent is the name of the run's agent. For a nested run it is the name that the spawn call used.
	Agent string
	// Subject is the subject that started the run: see [wire.Run.StartedBy]. Empty: not known.
	Subject string
	// Key is the call's idempotency key, which the engine sets: see [store.RunRow.CallKey]. Empty: the run has no
	// nonce.
	Key string
	// Fence numbers the workers of the thread: it grows with each takeover. A tool that remembers the greatest
	// fence of a run can refuse calls of an older worker, which was paused and does not know that it lost the run.
	Fence int64
	// Answer is the answer to the park of this call. Nil: the call has not parked.
	Answer *Answer
	// Resume is the Resume of the [ParkRequest] that Answer answers. With a Resume and without an Answer, the
	// request has expired. Nil: the call has not parked with a Resume.
	Resume json.RawMessage
	// Pending is the State of the last [PendingError] of the call. Answer and Resume are then nil, unless they belong
	// to a question that the tool has asked since. Nil: the call has not been pending.
	Pending json.RawMessage
	// Looking says that the engine only asks whether the call is still pending. It drops a result, and calls the
	// tool again for it.
	Looking bool
	// HostState is the host state of the run's start, a JSON object that no client sees. It must not be
	// changed. Nil: none.
	HostState json.RawMessage
	// PublishFunc gets the events that the call publishes. The engine sets it, and a test may. Nil: events
	// are checked and dropped. Tools use [ToolCall.Publish] and [ToolCall.PublishDurable].
	PublishFunc func(ctx context.Context, e Event) error
	// LeaseFunc is what CheckLease asks. The engine sets it, and a test may. Nil: no worker can lose the call.
	LeaseFunc func(ctx context.Context) error
	// SaveArtifactFunc saves the files that the call makes. The engine sets it if it stores artifacts, and a test
	// may. Nil: the engine stores none. Tools use [ToolCall.SaveArtifact].
	SaveArtifactFunc func(ctx context.Context, a NewArtifact) (Artifact, error)
	// StoresResults says that the engine saves a large result as an artifact. Otherwise the message has the whole
	// result, so a tool should return little of it.
	StoresResults bool
	// OpenArtifactFunc opens the files of the call's thread. The engine sets it if it stores artifacts, and a test may.
	// Nil: the engine stores none. Tools use [ToolCall.OpenArtifact].
	OpenArtifactFunc func(ctx context.Context, id ArtifactID) (Artifact, io.ReadCloser, error)
}

// IdempotencyKey returns a text that is the same for every repeat of the call, and different for every other
// call, including those of other tenants: see [store.RunRow.CallKey].
func (c ToolCall) IdempotencyKey() string {
	if c.Key != "" {
		return c.Key
	}
	return plainCallKey(c.RunID, c.Step, c.ID)
}

// CheckLease returns an error if the call's worker may have lost the run, because it was paused or cannot reach the
// store: then another worker may have the run, or it was stopped, and the call must have no effect any more. The
// engine calls it before the tool. A tool calls it again right before an effect that comes later, and before each
// further attempt. It is quick unless the lease is about to end: then it asks the store, and may block.
func (c ToolCall) CheckLease(ctx context.Context) error {
	if c.LeaseFunc == nil {
		return nil
	}
	return c.LeaseFunc(ctx)
}

// SpawnTool is the name of the tool with which an agent spawns nested runs.
const SpawnTool = "spawnSubagent"

// AlwaysApprove is a [Tool.Approval] that parks every call.
func AlwaysApprove(context.Context, ToolCall) (bool, error) { return true, nil }
