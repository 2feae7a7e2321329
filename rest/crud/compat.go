package crud

import (
	"errors"
	"fmt"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// The names in this file are those of the contract that this package keeps, and of Django
// Ninja Extra, for programs that come from there. They stay. The names of Go stand first in
// the documentation. Fields cannot have two names: FilterSchema, Klass and PaginatorKwargs are
// fields of [Pagination] that say what Filter and Paginator say.

// ModelConfig is [Config].
type ModelConfig[T any] = Config[T]

// ModelPagination is [Pagination].
type ModelPagination = Pagination

// filter returns what Filter or FilterSchema say, or nil.
func (p Pagination) filter() (query.Option, error) {
	switch {
	case p.Filter == nil:
		return p.FilterSchema, nil
	case p.FilterSchema != nil:
		return nil, errors.New("a Filter and a FilterSchema are given: say one of them")
	}
	return p.Filter, nil
}

// paginator makes what Paginator, or Klass and PaginatorKwargs say, or nil.
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
			return nil, errors.New("PaginatorKwargs are not for a paginator that is made already")
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
