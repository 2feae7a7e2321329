package spool

import (
	"encoding/json"
	"time"
)

// RunRow is all that a store keeps of a run: what callers see of it, and the engine's own state.
type RunRow struct {
	Run
	RunState
}

// RunState is what only the engine needs of a run. No caller and no client sees it.
//
// A store may keep it as one JSON text. The fields without a JSON name are kept beside it: they are
// what the start gave, some of them large, and do not change while the run goes on.
type RunState struct {
	// StartKey is the idempotency key of the start, unique in the tenant. Empty: none.
	StartKey string `json:"-"`
	// HostState is a JSON object that the host gave to the start, for the tools of the run
	// and for the settle hook. The engine does not read it. A run that this one spawns gets the
	// same. Nil: none was given.
	HostState json.RawMessage `json:"-"`
	// ProviderOptions is a JSON object that the start gave for the requests to the provider. A run
	// that this one spawns gets the same. Nil: none was given.
	ProviderOptions json.RawMessage `json:"-"`
	// Client is what the client of the start sent. A run that this one spawns gets the tools, and
	// not the context. Nil: nothing.
	Client *ClientInput `json:"-"`
	// Nonce is a random text that is made with the run and never changes. It goes into the keys
	// of the run's tool calls, and no client or tool ever sees it: see [RunRow.CallKey]. Empty: the
	// run began before there were nonces.
	Nonce string `json:"-"`
	// Scopes are the scopes of the subject that started the run. They decide which tools the run
	// has: see [Tool.Access].
	Scopes []string `json:"-"`

	// Wait is the state of a run that waits, or has waited, for the thread. Nil: the thread was
	// free.
	Wait *Wait `json:"wait,omitempty"`
	// Children counts the nested runs of a dispatched run, at any depth.
	Children int `json:"children,omitempty"`

	// Saved is the offset in the current segment's stream up to which the thread's messages have
	// everything. Zero: they have nothing of it.
	Saved Offset `json:"saved,omitzero"`
	// Draft is the current step while its tools run: the model has answered, and the step is not
	// saved. Nil between steps.
	Draft *Draft `json:"draft,omitempty"`
	// Context is what the provider counted of the prompt of the last finished step, which may
	// be one of an earlier run of the same agent. Nil: nothing was counted yet.
	Context *ContextCount `json:"context,omitempty"`

	// WallTime is how long workers have worked on a dispatched run, without the worker that does so
	// now. A nested run has none of its own.
	WallTime time.Duration `json:"wallTime,omitempty"`
	// WorkerSince is when the present worker claimed the run. Zero: no worker has it.
	WorkerSince time.Time `json:"workerSince,omitzero"`
	// Deaths counts the segments since the last finished step whose worker died, but for those in
	// IsolatedDeaths.
	Deaths int `json:"deaths,omitempty"`
	// Isolated is true if several workers have died in the run's step, so that it is suspected of
	// killing them. A worker works on one such run at a time.
	Isolated bool `json:"isolated,omitempty"`
	// IsolatedDeaths counts the segments since the last finished step whose worker died while the
	// run was isolated.
	IsolatedDeaths int `json:"isolatedDeaths,omitempty"`

	// StopAt is when the run was asked to stop. Zero: never.
	StopAt time.Time `json:"stopAt,omitzero"`
	// Ending is the end that waits for the settle hook. Nil: none.
	Ending *Ending `json:"ending,omitempty"`
	// SettleClaim is until when a process has the settle hook for itself.
	SettleClaim time.Time `json:"settleClaim,omitzero"`
	// SettledAt is when the settle hook had run. Zero: it has not run.
	SettledAt time.Time `json:"settledAt,omitzero"`
}

// Given returns the state of a new run that inherits what the start of this one gave.
func (s RunState) Given() RunState {
	return RunState{HostState: s.HostState, ProviderOptions: s.ProviderOptions, Client: s.Client, Scopes: s.Scopes}
}

// WallTimeAt returns how long workers have worked on the run at a time.
func (s RunState) WallTimeAt(now time.Time) time.Duration {
	if s.WorkerSince.IsZero() {
		return s.WallTime
	}
	return s.WallTime + max(0, now.Sub(s.WorkerSince))
}

// Ending is how a run ends.
type Ending struct {
	State  State      `json:"state"`
	Reason StopReason `json:"reason"`
	Error  string     `json:"error,omitempty"`
	// Closed is true if the record already has the end of the last segment.
	Closed bool `json:"closed,omitempty"`
}

// Draft is a step whose model has answered. It becomes a message once the whole step is done.
type Draft struct {
	Message Message    `json:"message"`
	Usage   TokenCount `json:"usage"`
}
