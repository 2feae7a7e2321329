package page

import (
	"context"

	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/query/driver"
)

// None answers with all items of a list as a plain array, and has no parameters. Where a
// list may grow, [Limit] bounds what one request can cost. It panics when its options make
// no sense.
func None(options ...NoneOption) Paginator { return must(none(options...)) }

type nonePaginator struct{ config }

func none(options ...NoneOption) (Paginator, error) {
	p := &nonePaginator{config{paginator: "page.None"}}
	for _, o := range options {
		o.setNone(&p.config)
	}

	return p, p.checkLimit()
}

// RestRoute makes a route option of it.
func (*nonePaginator) RestRoute(option.Seal) {}

func (*nonePaginator) Params() []Param { return nil }

func (*nonePaginator) Shape() Shape { return Shape{} }

func (p *nonePaginator) Page(ctx context.Context, _ *Input, l *driver.List, _ Links) (Result, []Fault, error) {
	limit := int64(-1)
	if p.limited {
		// Which items are left out must not change from request to request.
		l, limit = l.Stable(), p.limit
	}
	items, n, err := l.Fetch(ctx, 0, limit)

	return Result{Items: items, N: n}, nil, err
}
