// Package stage is what the options of a list do for each request: they read their parameters,
// and narrow or order the list. It joins packages rest and query, and imports the descriptions
// of lists, parameters and faults only.
package stage

import (
	"context"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Stage is an option that was compiled for lists of one model. It is safe for concurrent use.
type Stage interface {
	// Params describes the parameters for the API's document. All of them are optional. The
	// caller must not change them.
	Params() []bind.Param
	// Columns returns what the stage can ask a source for, so that an adapter can check it
	// before the first request does. The conditions that methods of a filter make are not known
	// before they are called.
	Columns() []*driver.Column
	// Apply returns the list that the request asks for, or what is wrong with the request.
	// It returns l itself when the request has none of the parameters.
	Apply(ctx context.Context, in *bind.Input, l *driver.List) (*driver.List, []fault.Fault)
}

// Defaulter is a stage that does nothing but order a list for which the client asks for no order.
type Defaulter interface{ DefaultOrder() []driver.Sort }

// Orderer is a stage whose parameter tells in which order the list is without it.
type Orderer interface {
	// Ordered returns the stage for a list that another one orders by sorts where the client
	// does not. The sorts are nil when nothing says them, and a list is free when the handler
	// may give it an order of its own.
	Ordered(another bool, sorts []driver.Sort, free bool) Stage
}

// SettleOrder leaves the order of a list for which the client asks for none to one of the
// stages of a route: a [Defaulter], or the paginator when ordered is true, comes before an
// [Orderer].
func SettleOrder(stages []Stage, ordered, free bool) []Stage {
	var sorts []driver.Sort
	for _, s := range stages {
		if s, ok := s.(Defaulter); ok && !ordered {
			ordered, sorts = true, s.DefaultOrder()
		}
	}
	settled := make([]Stage, len(stages))
	for i, s := range stages {
		if o, ok := s.(Orderer); ok {
			s = o.Ordered(ordered, sorts, free)
		}
		settled[i] = s
	}
	return settled
}
