// Package tool makes [spool.Tool] values: from typed Go functions with [New], and from
// JSON schemas with [FromSchema]. Tools over other technologies are in its subpackages.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
)

var nameExpr = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// New returns a tool that calls fn. The schema of its arguments follows from In, a struct or a map with
// string keys. The json tag of a field has its name and whether it is optional, and its jsonschema tag has
// the description.
//
// Arguments are checked against the schema before fn gets them, and unknown fields are refused. fn's error is
// returned unchanged, so it may be a [spool.ParkRequest]. The call is in ctx: see [CallFrom].
//
// Set other properties of the tool, such as Approval, on the returned value.
//
// New panics if the name is invalid or a type has no JSON form: tools are made when a program starts, and
// such a mistake is in its source.
func New[In, Out any](name, description string, fn func(ctx context.Context, in In) (Out, error)) spool.Tool {
	fail := func(format string, args ...any) {
		panic(fmt.Sprintf("tool.New(%q): ", name) + fmt.Sprintf(format, args...))
	}
	if !nameExpr.MatchString(name) {
		fail("a name matches %s", nameExpr)
	}
	if fn == nil {
		fail("the function is nil")
	}
	parameters, err := argschema.Infer(reflect.TypeFor[In]())
	if err != nil {
		fail("the arguments %s have no schema: %v", reflect.TypeFor[In](), err)
	}
	s, err := argschema.Compile(parameters)
	if err != nil {
		fail("the arguments %s have no schema: %v", reflect.TypeFor[In](), err)
	}
	if err := marshals[Out](); err != nil {
		fail("the result %s has no JSON form: %v", reflect.TypeFor[Out](), err)
	}

	return spool.Tool{
		ToolSpec: spool.ToolSpec{Name: name, Description: description, Parameters: parameters},
		Check: func(args json.RawMessage) error {
			_, err := decode[In](s, args)
			return err
		},
		Call: func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
			in, err := decode[In](s, call.Args)
			if err != nil {
				return nil, err
			}
			out, err := fn(withCall(ctx, call), in)
			if err != nil {
				return nil, err
			}
			result, err := json.Marshal(out)
			if err != nil {
				return nil, fmt.Errorf("marshal result: %w", err)
			}
			return result, nil
		},
	}
}

// decode checks arguments and decodes them. The schema cannot express everything that decoding refuses, such
// as an invalid time, so both errors name the field.
func decode[In any](s *argschema.Schema, args json.RawMessage) (In, error) {
	var in In
	if err := s.Check(args); err != nil {
		return in, err
	}
	if len(args) == 0 {
		return in, nil
	}
	err := json.Unmarshal(args, &in)
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return in, nil
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return in, spool.Errorf(spool.Invalid, "argument %s: a JSON %s is no %s", mismatch.Field, mismatch.Value,
			mismatch.Type)
	default:
		return in, spool.Errorf(spool.Invalid, "arguments: %s", argschema.Bound(err.Error()))
	}
}

// marshals returns an error for a type that never marshals.
func marshals[Out any]() error {
	var zero Out
	_, err := json.Marshal(zero)
	if _, ok := errors.AsType[*json.UnsupportedTypeError](err); ok {
		return err
	}
	return nil
}

type callKey struct{}

func withCall(ctx context.Context, call spool.ToolCall) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

// CallFrom returns the call for which a function given to [New] runs. The call has the idempotency key and,
// if it has parked, the answer. It reports false outside of such a function.
func CallFrom(ctx context.Context) (spool.ToolCall, bool) {
	call, ok := ctx.Value(callKey{}).(spool.ToolCall)
	return call, ok
}
