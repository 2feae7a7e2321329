package page

import (
	"context"
	"strconv"

	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Number cuts a list into numbered pages. The query parameter page is the number of the page;
// the first is 1, the default. The parameter page_size is the number of items on a page (at
// least 1). The body of a page is a [NumberPage]:
//
//	{"count": 42, "next": "/books?page=3", "previous": "/books", "results": [...]}
//
// A page past the end is a [*PastEndError]. Number panics if its options contradict each
// other.
func Number(options ...NumberOption) Paginator {
	c := numberDefaults
	for _, o := range options {
		o.setNumber(&c)
	}

	return must(number(c))
}

var numberDefaults = config{
	paginator: "page.Number", max: 200, pastEnd: NotFound, names: [2]string{"page", "page_size"},
}

type numberPaginator struct {
	config
	reader *Reader[numberInput]
}

type numberInput struct{ Page, Size int64 }

func number(c config) (Paginator, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	reader, err := newRuledReader[numberInput](c.paginator,
		rule{name: c.names[0], initial: 1, min: 1, doc: "The number of the page, counted from 1."},
		c.sizeRule(c.names[1], "How many items the page has at most."))

	return &numberPaginator{c, reader}, err
}

// RestRoute marks the type as a route option.
func (*numberPaginator) RestRoute(option.Seal) {}

func (p *numberPaginator) Params() []Param { return p.reader.Params() }

func (p *numberPaginator) Shape() Shape {
	properties := append([]Property{countProperty(p.count)}, linkProperties()...)

	return Shape{
		Name:       countedName(p.count, "PaginatedResponseSchema"),
		Properties: append(properties, Property{Name: "results", Doc: "The items of the page."}),
	}
}

// MayBeNotFound implements [Ender].
func (p *numberPaginator) MayBeNotFound() bool { return p.pastEnd == NotFound }

func (p *numberPaginator) Page(ctx context.Context, in *Input, l *driver.List, links Links) (Result, []Fault, error) {
	input, faults := p.reader.Read(in)
	if len(faults) > 0 {
		for i := range faults {
			faults[i] = fault.Exclusive(faults[i])
		}
		return Result{}, faults, nil
	}
	size := p.bounded(input.Size)
	// Divide, because the product could overflow.
	if input.Page-1 > maxOffset/size {
		return Result{}, tooFar(p.names[0], 1, maxOffset/size+1), nil
	}

	w, err := p.fetch(ctx, l, (input.Page-1)*size, size)
	if err != nil {
		return Result{}, nil, err
	}
	if w.pastEnd() && p.pastEnd == NotFound {
		return Result{}, nil, &PastEndError{Page: input.Page}
	}

	to := p.pages(w, input.Page, links)
	r := Result{Items: w.items, N: w.n, Body: func(items any) any {
		return numberBody{Count: w.shown(), Next: orNull(to.next), Previous: orNull(to.prev), Results: items}
	}}
	if p.linkHeader {
		to.first = p.at(links, 1)
		if w.exact {
			to.last = p.at(links, w.lastPage())
		}
		r.Header = linkHeader(to)
	}

	return r, nil, nil
}

// lastPage returns the number of the last page. It is 1 for an empty list.
func (w *window) lastPage() int64 { return max(w.count-1, 0)/w.size + 1 }

// pages returns the addresses of the next and the previous page.
func (p *numberPaginator) pages(w *window, number int64, links Links) pages {
	var to pages
	if w.more {
		to.next = p.at(links, number+1)
	}
	if number > 1 {
		before := number - 1
		if w.pastEnd() && w.exact {
			before = min(before, w.lastPage())
		}
		to.prev = p.at(links, before)
	}

	return to
}

func (p *numberPaginator) at(links Links, number int64) string {
	if number == 1 {
		return links.Without(p.names[0]).String()
	}

	return links.With(p.names[0], strconv.FormatInt(number, 10)).String()
}
