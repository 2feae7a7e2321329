package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Registry makes paginators by name, for settings outside of Go code. A program adds its own
// paginators to the result of [Builtin].
type Registry map[string]func(kwargs map[string]any) (Paginator, error)

// Builtin returns a new Registry of the paginators of this package:
//
//   - page.LimitOffset, also called LimitOffsetPagination
//   - page.Number, also called PageNumberPaginationExtra
//   - page.Cursor, also called CursorPagination
//   - page.None
//
// Keyword arguments of all of these but page.None:
//
//   - page_size (for LimitOffset also limit) and max_page_size (max_limit): whole numbers
//   - over_max: "refuse" or "clamp"
//   - link_header: a boolean
//   - the names of the query parameters: limit_query_param and offset_query_param,
//     page_query_param and page_size_query_param, cursor_query_param and page_size_query_param
//
// LimitOffset and Number also have count ("exact", "estimate" or "none") and past_end
// ("not_found" or "empty"). Cursor also has ordering (a text with commas, or a list) and
// secret (a text or bytes) or secrets (a list). page.None has only limit. Numbers may be int,
// int64 or whole float64, as in JSON.
func Builtin() Registry {
	return Registry{
		"page.LimitOffset":          namedOffset,
		"LimitOffsetPagination":     namedOffset,
		"page.Number":               namedNumber,
		"PageNumberPaginationExtra": namedNumber,
		"page.Cursor":               namedCursor,
		"CursorPagination":          namedCursor,
		"page.None":                 namedNone,
	}
}

// Named returns a paginator of [Builtin].
func Named(name string, kwargs map[string]any) (Paginator, error) {
	return Builtin().Named(name, kwargs)
}

// Named returns the paginator with the name. The name may have a dotted prefix, such as a
// module path. Named returns an error that names the unknown or wrong argument.
func (r Registry) Named(name string, kwargs map[string]any) (Paginator, error) {
	build, ok := r[name]
	if !ok {
		build, ok = r[name[strings.LastIndexByte(name, '.')+1:]]
	}
	if !ok {
		return nil, fmt.Errorf("no paginator has the name %q (there are %s)",
			name, strings.Join(slices.Sorted(maps.Keys(r)), ", "))
	}

	p, err := build(kwargs)
	if err != nil {
		return nil, fmt.Errorf("paginator %q: %w", name, err)
	}

	return p, nil
}

func namedOffset(given map[string]any) (Paginator, error) {
	k := kwargs{given: given, config: offsetDefaults}
	k.windows("limit", "offset")
	k.sizes("limit", "max_limit")
	k.common()
	k.counts()

	return k.build(limitOffset)
}

func namedNumber(given map[string]any) (Paginator, error) {
	k := kwargs{given: given, config: numberDefaults}
	k.windows("page", "page_size")
	k.common()
	k.counts()

	return k.build(number)
}

func namedCursor(given map[string]any) (Paginator, error) {
	k := kwargs{given: given, config: cursorDefaults}
	k.windows("cursor", "page_size")
	k.common()
	k.keysets()

	return k.build(cursor)
}

func namedNone(given map[string]any) (Paginator, error) {
	k := kwargs{given: given, config: noneDefaults}
	if n, ok := k.number("limit"); ok {
		Limit(n)(&k.config)
	}

	return k.build(none)
}
