package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
	"github.com/spoolhq/spool/wire"
)

// RunFor starts a run that answers with a T, waits for its end, and returns the value. T is a struct or a map
// with string keys. Its schema becomes the request's Output, unless that is set: the json tag of a field has
// its name and whether it is optional, and its jsonschema tag has the description.
//
// A refused start is a [spool.Conflict] error. A run that does not complete with a value, or that waits for a
// person, is an [OutcomeError]. The run continues when ctx ends or the process dies. With an IdempotencyKey, a
// later RunFor with the same request returns the value of the same run.
func RunFor[T any](ctx context.Context, e *Engine, key spool.ThreadKey, r wire.StartRequest) (T, error) {
	var none T
	if r.Output == nil {
		schema, err := OutputFor[T]()
		if err != nil {
			return none, err
		}
		r.Output = schema
	}
	started, err := e.Run(ctx, key, r)
	switch {
	case err != nil:
		return none, err
	case !started.Accepted:
		return none, spool.Errorf(spool.Conflict, "run refused: %s", started.Error)
	}
	key.ID = started.ThreadID
	return AwaitFor[T](ctx, e.Watcher, key, started.RunID)
}

// AwaitFor waits as [Watcher.Await] does, and returns the value of a run that answers with a T: see [RunFor].
// After an [OutcomeError] with parks, it can be called again.
func AwaitFor[T any](ctx context.Context, w *Watcher, key spool.ThreadKey, id spool.RunID) (T, error) {
	var value T
	o, err := w.Await(ctx, key, id)
	switch {
	case err != nil:
		return value, err
	case o.Output == nil:
		return value, &OutcomeError{Outcome: o}
	}
	if err := json.Unmarshal(o.Output, &value); err != nil {
		var none T
		return none, &OutcomeError{Outcome: o, Err: fmt.Errorf("decode the value: %w", err)}
	}
	return value, nil
}

// OutputFor returns the schema of a T, under the name of the type. It returns an [spool.Invalid] error for a
// type whose JSON is not an object.
func OutputFor[T any]() (*spool.OutputSchema, error) {
	t := reflect.TypeFor[T]()
	schema, err := argschema.Infer(t)
	if err != nil {
		return nil, spool.Errorf(spool.Invalid, "the type %s has no schema: %s", t, err)
	}
	return &spool.OutputSchema{Name: outputName(t), Schema: schema}, nil
}

// outputName returns the type's name with the letters that a name may have.
func outputName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') {
			return r
		}
		return -1
	}, t.Name())
	return cmp.Or(name[:min(len(name), 64)], "output")
}

// OutcomeError is the error of a run without a value of the expected type: it failed, was stopped, was cut
// short, or waits for a person.
type OutcomeError struct {
	Outcome wire.RunOutcome
	// Err is the error of a value that T cannot hold. Nil: there is no value.
	Err error
}

// Error says why there is no value.
func (e *OutcomeError) Error() string {
	o := e.Outcome
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case len(o.Parks) > 0:
		return fmt.Sprintf("run %s waits for an answer", o.RunID)
	case o.Error != "":
		return fmt.Sprintf("run %s: %s", o.RunID, o.Error)
	default:
		return fmt.Sprintf("run %s has no value: %s", o.RunID, o.StopReason)
	}
}

// Unwrap returns Err.
func (e *OutcomeError) Unwrap() error { return e.Err }
