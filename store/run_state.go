package store

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// RunRow is everything that a store keeps of a run: the part that callers see, and the engine's own state. Its JSON is
// only the part that clients see, so a store needs a form of its own.
type RunRow struct {
	wire.Run
	RunState
}

// RunState is the part of a run that only the engine needs. No caller and no client sees it.
//
// A store may keep it as one JSON text. The fields without a JSON name are kept next to it: they come from
// the start, may be large, and do not change while the run continues.
type RunState struct {
	// StartKey is the idempotency key of the start, unique in the tenant. Empty: none.
	StartKey string `json:"-"`
	// StartHash identifies the request of the start: another request with the same StartKey is refused. Empty: there is
	// no StartKey, or it is of an older version.
	StartHash string `json:"-"`
	// HostState is a JSON object that the host gave to the start, for the tools of the run and for the settle
	// hook. The engine does not read it. A run that this one spawns gets the same. Nil: none.
	HostState json.RawMessage `json:"-"`
	// ProviderOptions is a JSON object of the start, for the requests to the provider. A run that this one
	// spawns gets the same. Nil: none.
	ProviderOptions json.RawMessage `json:"-"`
	// Client is the client's input of the start. A run that this one spawns gets the tools, and not the
	// context. Nil: none.
	Client *wire.ClientInput `json:"-"`
	// Nonce is a random text that is created with the run and never changes. The keys of the run's tool calls
	// depend on it, and no client or tool ever sees it: see [RunRow.CallKey]. Empty: the run began before
	// there were nonces.
	Nonce string `json:"-"`
	// Scopes are the scopes of the subject that started the run. They decide which tools the run
	// has: see [spool.Tool.Access].
	Scopes []string `json:"-"`

	// Revision is the revision of the agent in the latest segment of a dispatched run. Empty: there was no
	// segment, or it was of an older version.
	Revision wire.RevisionID `json:"revision,omitempty"`
	// Wait is the state of a run that waits, or has waited, for the thread. Nil: the thread was
	// free.
	Wait *Wait `json:"wait,omitempty"`
	// Continues is the run whose turn a redriven run answers: the first of the failed runs that it goes on with. Empty:
	// the run was not redriven, or by an older version.
	Continues spool.RunID `json:"continues,omitempty"`
	// Steered is true if messages may wait to be put into the run: see [spool.BusySteer].
	Steered bool `json:"steered,omitempty"`
	// Children counts the nested runs of a dispatched run, at any depth.
	Children int `json:"children,omitempty"`

	// ToolLists are the lists that a dispatched run and its nested runs have from their tool sources: see
	// [spool.ToolSource]. Nil: they have needed none yet.
	ToolLists []PinnedTools `json:"toolLists,omitempty"`

	// Described are the tools of the catalogue that the run can call, in the order in which they were described: see
	// [spool.Tool.Search]. A nested run has its own. Nil: none.
	Described []string `json:"described,omitempty"`

	// Saved is the offset in the current segment's stream up to which the thread's messages have
	// everything. Zero: they have nothing of it.
	Saved wire.Offset `json:"saved,omitzero"`
	// Draft is the current step while its tools run: the model has answered, and the step is not
	// saved. Nil between steps.
	Draft *Draft `json:"draft,omitempty"`
	// Resume is the model's answer that can be asked for again: see [spool.ResumePoint]. It is set while that answer is
	// under way, also between segments. Nil: there is none.
	Resume *ResumableAnswer `json:"resume,omitempty"`
	// Fallback says which models have failed, and which one the run asks. Nil: none has failed.
	Fallback *RunFallback `json:"fallback,omitempty"`
	// Handovers are the changes of the run's agent, in order: see [spool.Agent.Transfers]. Nil: there was none.
	Handovers []Handover `json:"handovers,omitempty"`
	// Held is true if the start named no agent, and the run has the one that the thread was handed to.
	Held bool `json:"held,omitempty"`
	// Paused is true if the last saved step is an answer that its provider has paused: see [spool.FinishPause]. The
	// run then goes on with another question to the model.
	Paused bool `json:"paused,omitempty"`
	// Context is the provider's count of the prompt of the last finished step, which may be a step of an
	// earlier run of the same agent. Nil: nothing was counted yet.
	Context *ContextCount `json:"context,omitempty"`
	// Cleared is the last message whose tool results prompts leave out, so that later steps, later runs of the agent
	// and other workers send the same prompts. Empty: they leave out none.
	Cleared spool.MessageID `json:"cleared,omitempty"`

	// WallTime is how long workers have executed a dispatched run, without the time of the present worker. A
	// nested run has none of its own.
	WallTime time.Duration `json:"wallTime,omitempty"`
	// WorkerSince is when the present worker claimed the run. Zero: no worker has it.
	WorkerSince time.Time `json:"workerSince,omitzero"`
	// Deaths counts the segments since the last finished step whose worker died, without those in
	// IsolatedDeaths.
	Deaths int `json:"deaths,omitempty"`
	// Isolated is true if several workers have died in the run's step, so that the step may be the cause. A
	// worker executes only one such run at a time.
	Isolated bool `json:"isolated,omitempty"`
	// IsolatedDeaths counts the segments since the last finished step whose worker died while the
	// run was isolated.
	IsolatedDeaths int `json:"isolatedDeaths,omitempty"`

	// Options are the options of the start that have no field of their own in a [RunRow]. They never change, and a run
	// that this one spawns gets the same. Nil: the start has set none of them.
	Options *wire.StartOptions `json:"options,omitempty"`
	// Output is the state of a run that answers with a JSON value. Nil: its start brought no schema, and no
	// answer was checked.
	Output *RunOutput `json:"output,omitempty"`

	// StopAt is when the run was asked to stop. Zero: never.
	StopAt time.Time `json:"stopAt,omitzero"`
	// Ending is the end that waits for the settle hook. Nil: none.
	Ending *Ending `json:"ending,omitempty"`
	// SettleClaim is the time until which one process may run the settle hook.
	SettleClaim time.Time `json:"settleClaim,omitzero"`
	// SettledAt is when the settle hook succeeded. Zero: it has not.
	SettledAt time.Time `json:"settledAt,omitzero"`
}

// Given returns the state of a new run that inherits the fields that this run's start set.
func (s RunState) Given() RunState {
	return RunState{
		HostState: s.HostState, ProviderOptions: s.ProviderOptions, Client: s.Client, Scopes: s.Scopes, Options: s.Options,
	}
}

// WallTimeAt returns how long workers have executed the run at a time.
func (s RunState) WallTimeAt(now time.Time) time.Duration {
	if s.WorkerSince.IsZero() {
		return s.WallTime
	}
	return s.WallTime + max(0, now.Sub(s.WorkerSince))
}

// Ending is how a run ends.
type Ending struct {
	State  wire.State      `json:"state"`
	Reason wire.StopReason `json:"reason"`
	Error  string          `json:"error,omitempty"`
	// Closed is true if the record already has the end of the last segment.
	Closed bool `json:"closed,omitempty"`
}

// ResumableAnswer is an answer of a model that is under way at its provider. It has no row in the usage ledger
// yet.
type ResumableAnswer struct {
	// Model is the configured name of the model, and Requested the provider's.
	Model     string `json:"model"`
	Requested string `json:"requested,omitempty"`
	// Step is the step that the answer is for, from 1.
	Step int `json:"step"`
	// Request identifies the request. Another request must not get the answer.
	Request string `json:"request"`
	// Room is the bound of a prompt that was shortened because the provider refused the whole one, in tokens. Zero: it
	// was not.
	Room int64 `json:"room,omitempty"`
	// Data is what [spool.ModelRequest.Resume] gets.
	Data json.RawMessage `json:"data"`
	// Prompt is the estimate of the prompt's tokens, and Cost its cost. They are charged if the run ends without
	// the answer. Cost is nil if no price is known.
	Prompt int64       `json:"prompt,omitempty"`
	Cost   *spool.Cost `json:"cost,omitempty"`
}

// Draft is a step whose model has answered. It becomes a message once the whole step is done.
type Draft struct {
	Message spool.Message    `json:"message"`
	Usage   spool.TokenCount `json:"usage"`
}
