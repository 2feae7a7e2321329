package page

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/query/driver"
)

// KindCursor is the [Fault.Kind] of a cursor that does not belong to this list in this order.
const KindCursor = "cursor_invalid"

// By sets the order of the list, as paths of logical names; a minus before a path means
// descending: page.By("-created_at", "author__name"). It replaces the order that the list has.
// The model's key is appended unless the order contains it.
//
// Defaults to the order of the list, which the client may have chosen, or to the key if the
// list has no order.
func By(order ...string) KeysetOption {
	return func(c *config) { c.by = append(c.by, order...) }
}

// Cursor pages through a list by the values of its order: a page begins after, or ends before,
// an item. The query parameter cursor comes from an address in the body of another page;
// without it, the page is the first one. The parameter page_size is the number of items on the
// page (at least 1). The body of a page is a [CursorResponseSchema]:
//
//	{"next": "/books?cursor=AQAC...", "previous": null, "results": [...]}
//
// A client that follows next from the first page sees each item that stays in the list exactly
// once, even if other items are added or removed meanwhile. The same holds for following
// previous from the last page. An item whose place in the order changes may be seen twice, or
// not at all.
//
// Cursors are signed with the secrets of [Sign], which is required. A cursor is valid for one
// path and one order; any other cursor is a fault of kind [KindCursor].
//
// The items need a key that can be ordered. Relations in the order have to be loaded with the
// items. Cursor panics if its options contradict each other.
func Cursor(options ...CursorOption) Paginator {
	c := cursorDefaults
	for _, o := range options {
		o.setCursor(&c)
	}

	return must(cursor(c))
}

var cursorDefaults = config{paginator: "page.Cursor", max: 200, names: [2]string{"cursor", "page_size"}}

type cursorPaginator struct {
	config
	reader *Reader[cursorInput]
	signer signer
	order  []driver.Sort
}

// OrdersByDefault reports that the paginator orders a list that has no order: by its options,
// or by the key.
func (*cursorPaginator) OrdersByDefault() bool { return true }

// CursorOrder returns the order of [By], for adapters that check it against a table.
func (p *cursorPaginator) CursorOrder() []driver.Sort { return slices.Clone(p.order) }

type cursorInput struct {
	Cursor string
	Size   int64
}

func cursor(c config) (Paginator, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := c.checkSecrets(); err != nil {
		return nil, err
	}
	p := &cursorPaginator{config: c, signer: signer{slices.Clone(c.secrets)}}
	for _, by := range p.by {
		if strings.TrimPrefix(by, "-") == "" {
			return nil, fmt.Errorf("%s: its order has a field without a name", p.paginator)
		}
		p.order = append(p.order, driver.ParseSort(by))
	}

	var err error
	p.reader, err = newRuledReader[cursorInput](p.paginator,
		rule{name: p.names[0], text: true, doc: "Where the page begins, from an address of another page."},
		p.sizeRule(p.names[1], "How many items the page has at most."))

	return p, err
}

// RestRoute marks the type as a route option.
func (*cursorPaginator) RestRoute(option.Seal) {}

func (p *cursorPaginator) Params() []Param { return p.reader.Params() }

func (*cursorPaginator) Shape() Shape {
	return Shape{
		Name:       "CursorResponseSchema",
		Properties: append(linkProperties(), Property{Name: "results", Doc: "The items of the page."}),
	}
}

// CheckModel implements [ModelChecker].
func (p *cursorPaginator) CheckModel(m *driver.Model) error {
	l, ok := driver.ListOf(reflect.MakeSlice(reflect.SliceOf(m.Type()), 0, 0).Interface())
	if !ok {
		return fmt.Errorf("%s: %v is not a list", p.paginator, m)
	}
	l, _, err := p.ordered(l)
	if err != nil {
		return err
	}
	// An invalid order is reported only when the list is read.
	if _, _, err := l.Fetch(context.Background(), 0, 0); err != nil {
		return fmt.Errorf("%s: %w", p.paginator, err)
	}

	return nil
}

// ordered returns the list in an order without equal items. The key is appended in the
// direction of the last field, so that one database index can serve the whole order.
func (p *cursorPaginator) ordered(l *driver.List) (*driver.List, []driver.Sort, error) {
	key := l.Model().Key()
	if len(key) == 0 {
		return nil, nil, fmt.Errorf("%s: %v has no key to tell its items apart", p.paginator, l.Model())
	}

	sorts := slices.Clip(p.order)
	if len(sorts) == 0 {
		sorts = slices.Clip(l.Order())
	}
	desc := len(sorts) > 0 && sorts[len(sorts)-1].Desc
	for _, f := range key {
		if !slices.ContainsFunc(sorts, func(s driver.Sort) bool { return s.Path == f.Name }) {
			sorts = append(sorts, driver.Sort{Path: f.Name, Desc: desc})
		}
	}

	return l.OrderBy(sorts...), sorts, nil
}

func (p *cursorPaginator) Page(ctx context.Context, in *Input, l *driver.List, links Links) (Result, []Fault, error) {
	input, faults := p.reader.Read(in)
	if len(faults) > 0 {
		return Result{}, faults, nil
	}
	l, order, err := p.ordered(l)
	if err != nil {
		return Result{}, nil, err
	}

	run := keyset{p: p, list: l, scope: scope(links, order), links: links, size: p.bounded(input.Size)}
	if input.Cursor != "" {
		if run.at, run.given = p.signer.open(run.scope, input.Cursor, len(order)); !run.given {
			return Result{}, p.badCursor(), nil
		}
	}

	return run.page(ctx)
}

func (p *cursorPaginator) badCursor() []Fault {
	return []Fault{fault.New(fault.Query, []any{p.names[0]}, KindCursor,
		"must be a cursor of this list in this order")}
}

// scope returns what a cursor is valid for: the path and the order.
func scope(links Links, order []driver.Sort) string {
	var b strings.Builder
	b.WriteString(links.path)
	for _, s := range order {
		b.WriteByte('\n')
		b.WriteString(s.String())
	}

	return b.String()
}
