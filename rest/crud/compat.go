package crud

import (
	"errors"
	"fmt"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// The names in this file are those of Django Ninja Extra, for programs that migrate from it. They
// are part of this package's contract. The documentation prefers the Go names. A field cannot have
// an alias, so FilterSchema, Klass and PaginatorKwargs are extra fields of [Pagination] with the
// same meaning as Filter and Paginator.

// ModelConfig is [Config].
type ModelConfig[T any] = Config[T]

// ModelPagination is [Pagination].
type ModelPagination = Pagination

func (p Pagination) filter() (query.Option, error) {
	switch {
	case p.Filter == nil:
		return p.FilterSchema, nil
	case p.FilterSchema != nil:
		return nil, errors.New("a Filter and a FilterSchema are given: say one of them")
	}
	return p.Filter, nil
}

// paginator returns Paginator, or the one that Klass and PaginatorKwargs describe, or nil.
func (p Pagination) paginator() (page.Paginator, error) {
	if p.Paginator != nil {
		if p.Klass != nil || p.PaginatorKwargs != nil {
			return nil, errors.New("a Paginator is given, and a Klass or PaginatorKwargs too: say one of them")
		}
		return p.Paginator, nil
	}
	var name string
	switch klass := p.Klass.(type) {
	case nil:
		if p.PaginatorKwargs == nil {
			return nil, nil //nolint:nilnil // nothing is configured
		}
		name = "page.Number"
	case page.Paginator:
		if p.PaginatorKwargs != nil {
			return nil, errors.New("PaginatorKwargs must not be set if Klass is a page.Paginator")
		}
		return klass, nil
	case string:
		name = klass
	case func(...page.NumberOption) page.Paginator:
		name = "page.Number"
	case func(...page.OffsetOption) page.Paginator:
		name = "page.LimitOffset"
	case func(...page.CursorOption) page.Paginator:
		name = "page.Cursor"
	case func(...page.NoneOption) page.Paginator:
		name = "page.None"
	default:
		return nil, fmt.Errorf("a %T is no Klass: it is a page.Paginator, a function such as page.Number, or a name", klass)
	}
	return page.Named(name, p.PaginatorKwargs)
}
