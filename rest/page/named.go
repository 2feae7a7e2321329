package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Registry makes paginators by name, for settings that are no Go code. A program that adds
// its own adds them to what [Builtin] returns.
type Registry map[string]func(kwargs map[string]any) (Paginator, error)

// Builtin returns a new Registry of the paginators of this package:
//
//   - page.LimitOffset, also called LimitOffsetPagination
//   - page.Number, also called PageNumberPaginationExtra
//   - page.Cursor, also called CursorPagination
//   - page.None
//
// Their keyword arguments are page_size (for limit/offset also limit), max_page_size
// (max_limit), over_max ("refuse" or "clamp"), link_header (a boolean) and the names of the
// two parameters: limit_query_param and offset_query_param, page_query_param and
// page_size_query_param, cursor_query_param and page_size_query_param. Those that count have
// count ("exact", "estimate" or "none") and past_end ("not_found" or "empty"). Cursors have
// ordering (a text with commas, or a list) and secret (a text or bytes), or secrets (a list).
// None has limit. Numbers may be of any type that holds them exactly, as those of JSON do.
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

// Named makes one of the paginators of [Builtin].
func Named(name string, kwargs map[string]any) (Paginator, error) {
	return Builtin().Named(name, kwargs)
}

// Named makes the paginator with the name. A dotted path, such as the one of a module, may
// stand before the name. It returns an error that names what is unknown or wrong.
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
