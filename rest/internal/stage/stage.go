// Package stage has the work of a list's options for each request: they read their parameters, and narrow or
// order the list. It joins packages rest and query, and imports only the descriptions of lists, parameters
// and faults.
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
	// Columns returns the columns that the stage may ask a source for, so that an adapter can check them
	// before the first request. The conditions from methods of a filter are not known before these methods
	// are called.
	Columns() []*driver.Column
	// Apply returns the list that the request asks for, or the faults of the request. If the request has none
	// of the parameters, it returns l itself.
	Apply(ctx context.Context, in *bind.Input, l *driver.List) (*driver.List, []fault.Fault)
}

// Defaulter is a stage that only orders a list, if the client asks for no order.
type Defaulter interface{ DefaultOrder() []driver.Sort }

// Orderer is a stage whose parameter documents the order of the list without it.
type Orderer interface {
	// Ordered returns the stage for a list that another stage orders by sorts if the client asks for no
	// order. Nil sorts: no stage does. A free list is one that the handler may order itself.
	Ordered(another bool, sorts []driver.Sort, free bool) Stage
}

// Sorter is a stage that orders a list. Leading returns the keys with which an order may begin.
type Sorter interface{ Leading() []driver.Key }

// Collator is a stage that sets the collation of a list.
type Collator interface{ Collation() string }

// SettleOrder leaves the default order of a list to one of the stages of a route: a [Defaulter], or the
// paginator if ordered is true, takes precedence over an [Orderer].
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
