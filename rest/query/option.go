package query

import (
	"context"
	"slices"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/option"
)

// Option is an option of a route that answers with a list: [Filter], [Order], [OrderDefault]
// or [Search]. One value may be given to any number of routes.
type Option interface {
	option.Route
	// Compile prepares the option for lists of m. The error is a mistake of registration,
	// starts with place and names what is wrong.
	Compile(m *Model, place string) (Stage, error)
}

// Stage reads its parameters from a request and narrows or orders a list. It is safe for
// concurrent use.
type Stage interface {
	// Params describes the parameters for the API's document. All of them are optional. The
	// caller must not change them.
	Params() []bind.Param
	// Apply returns the list that the request asks for, or what is wrong with the request.
	// It returns l itself when the request has none of the parameters.
	Apply(ctx context.Context, in *bind.Input, l List) (List, []fault.Fault)
}

// sent reports whether the query string has one of the parameters, however often.
func sent(in *bind.Input, names []string) bool {
	if in.Request().URL.RawQuery == "" {
		return false
	}
	for name := range in.QueryNames() {
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}
