package agui

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/strictjson"
	"github.com/spoolhq/spool/wire"
)

// stateKey is this server's key in a client's state and in metadata.
const stateKey = "spool"

// StateUse says how to treat the client's state, which agent and page share in AG-UI. This server uses one
// key of it, "spool", with a [ThreadState].
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

// UseOf returns how to treat the state that a client sent.
func UseOf(state json.RawMessage) StateUse {
	if !strictjson.IsObject(state) {
		return NoState
	}
	return SharedState
}

// ThreadState is the state of the thread.
type ThreadState struct {
	State      wire.State      `json:"state"`                // The state of the thread.
	RunID      spool.RunID     `json:"runId,omitempty"`      // Its run.
	StopReason wire.StopReason `json:"stopReason,omitempty"` // Why the run ended.
	Error      string          `json:"error,omitempty"`      // Why the run failed.
}

// states sends states to a client, each one once.
type states struct {
	use  StateUse
	last ThreadState
	set  bool // whether the client has got a state
}

// change returns the event of a new state, or nothing if the client already has the state.
func (s *states) change(state ThreadState) []Event {
	if s.use == NoState || state.State == "" || state == s.last {
		return nil
	}
	s.last = state
	if s.use == OwnState && !s.set {
		s.set = true
		return []Event{StateSnapshot{Snapshot: map[string]ThreadState{stateKey: state}}}
	}
	// "add" also replaces an existing value.
	return []Event{StateDelta{Delta: []Operation{{Op: "add", Path: "/" + stateKey, Value: state}}}}
}

// StateSnapshot replaces the client's state.
type StateSnapshot struct {
	// Snapshot is the state, which replaces the client's. It has the thread under the key spool.
	Snapshot map[string]ThreadState `json:"snapshot"`
}

// StateDelta changes the client's state, by RFC 6902.
type StateDelta struct {
	Delta []Operation `json:"delta"` // Changes of the state that the client has, by RFC 6902.
}

// Operation is one change of a [StateDelta].
type Operation struct {
	Op    string      `json:"op"`    // The operation.
	Path  string      `json:"path"`  // The JSON Pointer of the value.
	Value ThreadState `json:"value"` // The new value.
}
