package crud

import (
	"context"
	"errors"
	"reflect"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/valid"
)

// Body is the type of bodies of one of the routes create, update and patch. It is made by
// [Input].
type Body[T any] interface {
	// document returns the type that is sent.
	document() reflect.Type
	// apply changes the row to what a body of that type says, or returns what is wrong with it.
	apply(ctx context.Context, body reflect.Value, row *T) error
}

// Input makes bodies of the type In, whose tags say what is checked and documented, and has
// into write them into a row. For create the row is empty; for update and patch it is the one
// that is there, of which into changes what In has a say in. A patch has fields that know
// whether they were sent ([rest.Opt]), or into asks [rest.Sent].
//
// Methods Validate of an In ([rest.Validator]) are asked before that. into is called in the
// transaction of the write. Its error is that of the request.
func Input[In, T any](into func(ctx context.Context, in In, row *T) error) Body[T] {
	if into == nil {
		panic("crud: Input needs a function")
	}
	return bodies[In, T]{into}
}

// bodies is a Body whose documents are of type B.
type bodies[B, T any] struct {
	into func(ctx context.Context, in B, row *T) error
}

func (bodies[B, T]) document() reflect.Type { return reflect.TypeFor[B]() }

func (b bodies[B, T]) apply(ctx context.Context, body reflect.Value, row *T) error {
	in, _ := reflect.TypeAssert[B](body)
	return b.into(ctx, in, row)
}

// validate asks the methods Validate of a row, and of what is in it.
func (m *model) validate(ctx context.Context, row any) error {
	if m.valid == nil {
		return nil
	}
	faults, first, err := m.valid.Check(ctx, reflect.ValueOf(row), valid.Place{In: fault.Body}, faultsOf)
	if err != nil || len(faults) == 0 {
		return err //nolint:wrapcheck // it is the program's own
	}
	refused, _ := errors.AsType[*rest.Error](first)
	all := *refused
	all.Faults = faults
	return &all
}

// faultsOf returns the faults of an error that has some.
func faultsOf(err error) ([]fault.Fault, bool) {
	e, ok := errors.AsType[*rest.Error](err)
	if !ok || len(e.Faults) == 0 {
		return nil, false
	}
	return e.Faults, true
}

// Answer is the type of answers. It is made by [Output].
type Answer[T any] interface {
	// returns documents the answer of one row.
	returns(status int) rest.RouteOption
	// view maps the rows of a list. It is nil when they are shown as they are.
	view() rest.RouteOption
	show(row T) any
}

// Output answers with what f makes of a row, one or each of a list.
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

// whole shows the model as it is.
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
