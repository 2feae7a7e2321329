package page

import (
	"context"
	"strconv"

	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/query/driver"
)

// LimitOffset cuts a list by position. The query parameter limit is the number of items on a
// page (at least 1). The parameter offset is the number of items before the page (at least 0,
// the default). The body of a page is an [OffsetPage]:
//
//	{"items": [...], "count": 42}
//
// A page past the end is empty. LimitOffset panics if its options contradict each other.
func LimitOffset(options ...OffsetOption) Paginator {
	c := offsetDefaults
	for _, o := range options {
		o.setOffset(&c)
	}

	return must(limitOffset(c))
}

var offsetDefaults = config{
	paginator: "page.LimitOffset", max: 1000, pastEnd: Empty, names: [2]string{"limit", "offset"},
}

type offsetPaginator struct {
	config
	reader *Reader[offsetInput]
}

type offsetInput struct{ Limit, Offset int64 }

func limitOffset(c config) (Paginator, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	reader, err := newRuledReader[offsetInput](c.paginator,
		c.sizeRule(c.names[0], "How many items the page has at most."),
		rule{name: c.names[1], doc: "How many items are left out before the page."})

	return &offsetPaginator{c, reader}, err
}

// RestRoute marks the type as a route option.
func (*offsetPaginator) RestRoute(option.Seal) {}

func (p *offsetPaginator) Params() []Param { return p.reader.Params() }

func (p *offsetPaginator) Shape() Shape {
	return Shape{Name: countedName(p.count, "RestPaginationResponseSchema"), Properties: []Property{
		{Name: "items", Doc: "The items of the page."},
		countProperty(p.count),
	}}
}

// MayBeNotFound implements [Ender].
func (p *offsetPaginator) MayBeNotFound() bool { return p.pastEnd == NotFound }

func (p *offsetPaginator) Page(ctx context.Context, in *Input, l *driver.List, links Links) (Result, []Fault, error) {
	input, faults := p.reader.Read(in)
	if len(faults) > 0 {
		return Result{}, faults, nil
	}
	size := p.bounded(input.Limit)
	if input.Offset > maxOffset {
		return Result{}, tooFar(p.names[1], 0, maxOffset), nil
	}

	w, err := p.fetch(ctx, l, input.Offset, size)
	if err != nil {
		return Result{}, nil, err
	}
	if w.pastEnd() && p.pastEnd == NotFound {
		return Result{}, nil, &PastEndError{Page: w.offset/size + 1}
	}

	r := Result{Items: w.items, N: w.n, Body: func(items any) any {
		return offsetBody{Items: items, Count: w.shown()}
	}}
	if p.linkHeader {
		r.Header = linkHeader(p.pages(w, links))
	}

	return r, nil, nil
}

// pages returns the addresses of the pages around a window.
func (p *offsetPaginator) pages(w *window, links Links) pages {
	to := pages{first: links.Without(p.names[1]).String()}
	if w.more {
		to.next = p.at(links, w.end())
	}
	last := int64(-1)
	if w.exact {
		// The last page when paging from the first item; w.offset may be off its grid.
		last = max(w.count-1, 0) / w.size * w.size
		to.last = p.at(links, last)
	}
	if w.offset > 0 {
		before := max(w.offset-w.size, 0)
		if w.pastEnd() && last >= 0 {
			before = min(before, last)
		}
		to.prev = p.at(links, before)
	}

	return to
}

func (p *offsetPaginator) at(links Links, offset int64) string {
	if offset == 0 {
		return links.Without(p.names[1]).String()
	}

	return links.With(p.names[1], strconv.FormatInt(offset, 10)).String()
}

// must panics on an error. It is for the constructors that programs call in their code.
func must(p Paginator, err error) Paginator {
	if err != nil {
		panic(err.Error())
	}

	return p
}
