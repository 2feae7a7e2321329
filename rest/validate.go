package rest

import (
	"context"
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/valid"
)

// places returns a function from a field's index to its place in a request.
func (in *input) places() func(index []int) (valid.Place, bool) {
	known := map[string]valid.Place{}
	add := func(index []int, place valid.Place) { known[fmt.Sprint(index)] = place }
	if in.params != nil {
		for _, p := range in.params.Params() {
			add(p.Index, valid.Place{In: p.In, Path: []any{p.Name}})
			if p.Object != nil {
				add(p.Object.Index, valid.Place{In: p.In, Path: []any{p.Object.Name}})
			}
		}
	}
	switch b := in.body; {
	case b == nil:
	case b.upload:
	case len(b.spread) > 0:
		for _, f := range body.Fields(b.typ) {
			add(b.spread[f.Index[0]], valid.Place{In: fault.Body, Path: []any{f.Name}})
		}
	case len(b.index) > 0:
		add(b.index, valid.Place{In: fault.Body})
	default:
		for _, f := range body.Fields(b.typ) {
			add(f.Index, valid.Place{In: fault.Body, Path: []any{f.Name}})
		}
	}
	return func(index []int) (valid.Place, bool) {
		place, ok := known[fmt.Sprint(index)]
		return place, ok
	}
}

// check calls the Validate methods of the input that dst points to.
func (in *input) check(ctx context.Context, tree *valid.Tree, dst any) error {
	faults, first, err := tree.Check(ctx, reflect.ValueOf(dst), valid.Place{}, faultsOf)
	if err != nil || len(faults) == 0 {
		return err //nolint:wrapcheck // the program's own error
	}
	for i := range faults {
		if faults[i].In == "" && in.body != nil {
			faults[i].In = fault.Body
		}
	}
	// Keep the other fields of the first error, such as its status.
	all := *asError(first)
	all.Faults = faults
	return &all
}

// faultsOf returns the faults of err, and false if err is not an [Error] or has no faults.
func faultsOf(err error) ([]Fault, bool) {
	e := asError(err)
	if e == nil || len(e.Faults) == 0 {
		return nil, false
	}
	return e.Faults, true
}
