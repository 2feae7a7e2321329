package page

import (
	"context"

	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/query/driver"
)

// None answers with all items of a list as a plain array, and has no parameters. If the list
// may grow, use [Limit] to bound the cost of a request. None panics if the limit is invalid.
func None(options ...NoneOption) Paginator {
	c := noneDefaults
	for _, o := range options {
		o.setNone(&c)
	}

	return must(none(c))
}

var noneDefaults = config{paginator: "page.None"}

type nonePaginator struct{ config }

func none(c config) (Paginator, error) { return &nonePaginator{c}, c.checkLimit() }

// RestRoute marks the type as a route option.
func (*nonePaginator) RestRoute(option.Seal) {}

func (*nonePaginator) Params() []Param { return nil }

func (*nonePaginator) Shape() Shape { return Shape{} }

func (p *nonePaginator) Page(ctx context.Context, _ *Input, l *driver.List, _ Links) (Result, []Fault, error) {
	limit := int64(-1)
	if p.limited {
		// A stable order, so that the limit leaves out the same items in every request.
		l, limit = l.Stable(), p.limit
	}
	items, n, err := l.Fetch(ctx, 0, limit)

	return Result{Items: items, N: n}, nil, err
}
