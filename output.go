package spool

import (
	"encoding/json"
	"regexp"
)

// MaxOutputEvent bounds the value in the events about the end of a run, in bytes. A larger value is left out
// of them; [RunOutcome.Output] and [RunDetail.Output] have it.
const MaxOutputEvent = 64 << 10

// outputName is the pattern of [OutputSchema.Name].
var outputName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Check returns an [Invalid] error that names the wrong field of the schema. It does not compile the JSON
// Schema.
func (s *OutputSchema) Check() error {
	switch {
	case !outputName.MatchString(s.Name):
		return Errorf(Invalid, "output.name must have 1 to 64 letters, digits, hyphens and underscores")
	case len(s.Description) > maxOutputDescription:
		return Errorf(Invalid, "output.description is longer than %d bytes", maxOutputDescription)
	case len(s.Schema) == 0:
		return Errorf(Invalid, "output.schema is required")
	}
	return nil
}

// maxOutputDescription bounds [OutputSchema.Description], in bytes.
const maxOutputDescription = 4096

// OutputRejected is the payload of [EntryOutputRejected].
type OutputRejected struct {
	// AgentID is the nested run. Nil: the dispatched run.
	AgentID *AgentID `doc:"The nested run. Left out: the run itself." json:"agentId,omitempty" nullable:"false"`
	// Step is the step of the answer, from 1.
	Step    int    `doc:"The step of the answer, from 1."         json:"step"`
	Problem string `doc:"How the answer differs from the schema." json:"problem"`
	// Repair is true if the model is asked once more. Otherwise the run fails.
	Repair bool `doc:"Whether the model is asked once more. Otherwise the run fails." json:"repair"`
}

// RunOutput is the state of a run that answers with a JSON value.
type RunOutput struct {
	// Schema is that of the start. Nil: the agent's.
	Schema *OutputSchema `json:"schema,omitempty"`
	// Problem says what was wrong with the first answer, for the model. Empty: no answer was wrong.
	Problem string `json:"problem,omitempty"`
	// Rejected is the message with that answer. Empty: the answer was empty.
	Rejected MessageID `json:"rejected,omitempty"`
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
