package agui

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// stateKey is the only key of a client's state, and of metadata, that is this server's.
const stateKey = "spool"

// StateUse says what is done with the state of the client, which is shared between agent
// and page in AG-UI. Ours is one key of it, "spool", with a [ThreadState].
type StateUse int

// The uses of the client's state.
const (
	// OwnState is for a client without a state: it gets one with our key alone.
	OwnState StateUse = iota
	// SharedState is for a client whose state is an object: our key is put into it.
	SharedState
	// NoState leaves the state alone.
	NoState
)

// UseOf returns what can be done with the state that a client has sent.
func UseOf(state json.RawMessage) StateUse {
	var object map[string]json.RawMessage
	if json.Unmarshal(state, &object) != nil || object == nil {
		return NoState
	}
	return SharedState
}

// ThreadState is where the thread is.
type ThreadState struct {
	State      spool.State      `doc:"The state of the thread." json:"state"`
	RunID      spool.RunID      `doc:"Its run."                 json:"runId,omitempty"`
	StopReason spool.StopReason `doc:"Why the run ended."       json:"stopReason,omitempty"`
	Error      string           `doc:"Why the run failed."      json:"error,omitempty"`
}

func threadState(r spool.Run) ThreadState {
	return ThreadState{State: r.State, RunID: r.ID, StopReason: r.StopReason, Error: r.Error}
}

// states tells a client of states, each once.
type states struct {
	use  StateUse
	last ThreadState
	set  bool // whether the client has a state to change
}

// change returns the event of a new state, and nothing where the client has it already.
func (s *states) change(state ThreadState) []Event {
	if s.use == NoState || state.State == "" || state == s.last {
		return nil
	}
	s.last = state
	if s.use == OwnState && !s.set {
		s.set = true
		return []Event{StateSnapshot{Snapshot: map[string]ThreadState{stateKey: state}}}
	}
	// "add" replaces what is there.
	return []Event{StateDelta{Delta: []Operation{{Op: "add", Path: "/" + stateKey, Value: state}}}}
}

// StateSnapshot replaces the state that the client has.
type StateSnapshot struct {
	Snapshot map[string]ThreadState `doc:"The state, in place of the one that the client has: the thread under the key spool." json:"snapshot"`
}

// StateDelta changes the state that the client has, by RFC 6902.
type StateDelta struct {
	Delta []Operation `doc:"Changes of the state that the client has, by RFC 6902." json:"delta"`
}

// Operation is one change of a [StateDelta].
type Operation struct {
	Op    string      `doc:"What is done."       json:"op"`
	Path  string      `doc:"Where it is done."   json:"path"`
	Value ThreadState `doc:"What is there then." json:"value"`
}
