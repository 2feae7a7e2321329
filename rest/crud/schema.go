package crud

import (
	"context"
	"errors"
	"reflect"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/valid"
)

// Body is the type of the body of create, update or patch. [Input] makes one.
type Body[T any] interface {
	// document returns the Go type of the body.
	document() reflect.Type
	// apply changes the row as the body says, or returns an error if the body is not valid.
	apply(ctx context.Context, body reflect.Value, row *T) error
}

// Input returns a Body of the type In, whose tags are checked and documented. The function
// into writes the body into a row. For create, the row is empty. For update and patch, it is
// the stored row, and into changes only the fields that In covers. A patch needs to know which
// fields were sent: use [rest.Opt] fields, or call [rest.Sent].
//
// Methods Validate of In ([rest.Validator]) are called before into. into is called in the
// transaction of the write. Its error is answered like an error of a handler.
func Input[In, T any](into func(ctx context.Context, in In, row *T) error) Body[T] {
	if into == nil {
		panic("crud: Input needs a function")
	}
	return bodies[In, T]{into}
}

// bodies is a [Body] of type B.
type bodies[B, T any] struct {
	into func(ctx context.Context, in B, row *T) error
}

func (bodies[B, T]) document() reflect.Type { return reflect.TypeFor[B]() }

func (b bodies[B, T]) apply(ctx context.Context, body reflect.Value, row *T) error {
	in, _ := reflect.TypeAssert[B](body)
	return b.into(ctx, in, row)
}

// validate calls the Validate methods of a row and of the values in it.
func (m *model) validate(ctx context.Context, row any) error {
	if m.valid == nil {
		return nil
	}
	faults, first, err := m.valid.Check(ctx, reflect.ValueOf(row), valid.Place{In: fault.Body}, faultsOf)
	if err != nil || len(faults) == 0 {
		return err //nolint:wrapcheck // the program's own error
	}
	refused, _ := errors.AsType[*rest.Error](first)
	all := *refused
	all.Faults = faults
	return &all
}

// faultsOf returns the faults of err, and false if err is not a [*rest.Error] or has no faults.
func faultsOf(err error) ([]fault.Fault, bool) {
	e, ok := errors.AsType[*rest.Error](err)
	if !ok || len(e.Faults) == 0 {
		return nil, false
	}
	return e.Faults, true
}

// Answer is the type of answers. [Output] makes one.
type Answer[T any] interface {
	// returns documents the answer with one row.
	returns(status int) rest.RouteOption
	// view converts the rows of a list. It is nil if they are shown unchanged.
	view() rest.RouteOption
	show(row T) any
}

// Output returns an Answer that shows f(row) instead of the row, also for each row of a list.
func Output[T, Out any](f func(row T) Out) Answer[T] {
	if f == nil {
		panic("crud: Output needs a function")
	}
	return output[T, Out]{f}
}

type output[T, Out any] struct{ f func(T) Out }

func (output[T, Out]) returns(status int) rest.RouteOption { return rest.Returns[Out](status) }

func (o output[T, Out]) view() rest.RouteOption { return rest.View(o.f) }

func (o output[T, Out]) show(row T) any { return o.f(row) }

// whole shows the model unchanged.
type whole[T any] struct{}

func (whole[T]) returns(status int) rest.RouteOption { return rest.Returns[T](status) }

func (whole[T]) view() rest.RouteOption { return nil }

func (whole[T]) show(row T) any { return &row }

func defaultAnswer[T any](m *model) Answer[T] {
	if m.shown == nil {
		return whole[T]{}
	}
	return Output(func(row T) shown[T] { return shown[T]{row} })
}
