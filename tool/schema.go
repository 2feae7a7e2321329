package tool

import (
	"context"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
)

// noArguments is the schema of a tool without arguments.
var noArguments = json.RawMessage(`{"type":"object","additionalProperties":false}`)

// FromSchema returns a tool with a JSON schema of its arguments, draft 2020-12 or draft-07, instead of a Go
// type. Nil parameters: the tool has no arguments. Arguments are checked against the schema; call gets them
// unchanged.
//
// FromSchema returns an [spool.Invalid] error for an invalid name, and for a schema that does not compile, is
// not an object's, refers to another document, or has patterns that together are too large to be compiled.
func FromSchema(
	name, description string,
	parameters json.RawMessage,
	call func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error),
) (spool.Tool, error) {
	if !nameExpr.MatchString(name) {
		return spool.Tool{}, spool.Errorf(spool.Invalid, "tool name %q does not match %s", argschema.Bound(name), nameExpr)
	}
	if call == nil {
		return spool.Tool{}, spool.Errorf(spool.Invalid, "tool %s has no function", name)
	}
	source := parameters
	if len(source) == 0 {
		source = noArguments
	}
	var s *argschema.Schema
	err := argschema.CheckPatterns(source)
	if err == nil {
		s, err = argschema.Compile(source)
	}
	if err != nil {
		return spool.Tool{}, spool.Errorf(spool.Invalid, "parameters of tool %s: %s", name, argschema.Bound(err.Error()))
	}
	return spool.Tool{
		ToolSpec: spool.ToolSpec{Name: name, Description: description, Parameters: parameters},
		Check:    s.Check,
		Call: func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
			if err := s.Check(c.Args); err != nil {
				return nil, err
			}
			return call(withCall(ctx, c), c)
		},
	}, nil
}
