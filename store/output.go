package store

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// RunOutput is the state of a run that answers with a JSON value.
type RunOutput struct {
	// Schema is that of the start. Nil: the agent's.
	Schema *spool.OutputSchema `json:"schema,omitempty"`
	// Problem says what was wrong with the first answer, for the model. Empty: no answer was wrong.
	Problem string `json:"problem,omitempty"`
	// Rejected is the message with that answer. Empty: the answer was empty.
	Rejected spool.MessageID `json:"rejected,omitempty"`
	// RejectedStep is the step of that answer, from 1.
	RejectedStep int `json:"rejectedStep,omitempty"`
	// Value is the value that fits. Nil: there is none yet.
	Value json.RawMessage `json:"value,omitempty"`
}

// OutputValue returns the JSON value of a run, or nil.
func (s RunState) OutputValue() json.RawMessage {
	if s.Output == nil {
		return nil
	}
	return s.Output.Value
}
