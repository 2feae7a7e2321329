package registry

import (
	"bytes"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
	"github.com/spoolhq/spool/internal/strictjson"
	"github.com/spoolhq/spool/store"
)

// maxOutputSchema bounds the schema of a start, in bytes.
const maxOutputSchema = 16 << 10

// compileOutput checks the agent's own schema.
func (a *Agent) compileOutput() (err error) {
	if a.Output == nil {
		return nil
	}
	if err := a.Output.Check(); err != nil {
		return err
	}
	if a.output, err = argschema.Compile(a.Output.Schema); err != nil {
		return spool.Errorf(spool.Invalid, "output.schema: %s", err)
	}
	return nil
}

// CheckStartOutput validates the schema of a start, nil for none.
func CheckStartOutput(agent *Agent, s *spool.OutputSchema) error {
	switch {
	case s == nil:
		return nil
	case agent.FixedOutput:
		return spool.Errorf(spool.Invalid, "output is not allowed by the configuration of the agent %q", agent.Name)
	case len(s.Schema) > maxOutputSchema:
		return spool.Errorf(spool.Invalid, "output.schema is longer than %d bytes", maxOutputSchema)
	}
	if err := s.Check(); err != nil {
		return err
	}
	if err := spool.CheckJSON("output.schema", s.Schema); err != nil {
		return err
	}
	var words map[string]json.RawMessage
	if json.Unmarshal(s.Schema, &words) != nil || words == nil {
		return spool.Errorf(spool.Invalid, "output.schema must be an object")
	}
	if err := strictjson.Check(s.Schema, words); err != nil {
		return spool.Errorf(spool.Invalid, "output.schema.%s", spool.MessageOf(err))
	}
	if _, err := argschema.Bounded(s.Schema); err != nil {
		return spool.Errorf(spool.Invalid, "output.schema: %s", err)
	}
	return nil
}

// OutputOf returns the schema of a run's answer: that of its start, or the agent's. Nil: any text.
func (a *Agent) OutputOf(run store.RunRow) *spool.OutputSchema {
	if run.Output != nil && run.Output.Schema != nil {
		return run.Output.Schema
	}
	return a.Output
}

// CheckOutput checks the answer of a run that has a schema. It returns the value, or an error for the
// model.
func (a *Agent) CheckOutput(run store.RunRow, answer string) (json.RawMessage, error) {
	schema := a.output
	if run.Output != nil && run.Output.Schema != nil {
		var err error
		if schema, err = argschema.Bounded(run.Output.Schema.Schema); err != nil {
			return nil, spool.Errorf(spool.Invalid, "%s", err)
		}
	}
	text := bytes.TrimSpace([]byte(answer))
	if len(text) == 0 {
		return nil, spool.Errorf(spool.Invalid, "the answer is empty")
	}
	if err := schema.CheckOutput(text); err != nil {
		return nil, err
	}
	if err := spool.CheckJSON("the answer", text); err != nil {
		return nil, err
	}
	return text, nil
}
