package page

import "reflect"

// OffsetPage is the body of a page of [LimitOffset], for typed clients. The document calls it
// RestPaginationResponseSchema, with the name of the item.
type OffsetPage[T any] struct {
	// Items are those of the page.
	Items []T `json:"items"`
	// Count is how many items the list has. It is 0 when the answer has null, which it has
	// with [NoCount] only.
	Count int64 `json:"count"`
}

// NumberPage is the body of a page of [Number], for typed clients. The document calls it
// PaginatedResponseSchema, with the name of the item.
type NumberPage[T any] struct {
	// Count is how many items the list has. It is 0 when the answer has null, which it has
	// with [NoCount] only.
	Count int64 `json:"count"`
	// Next and Previous are the addresses of the pages after and before this one, and nil
	// where there is none.
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	Results  []T     `json:"results"`
}

// CursorPage is the body of a page of [Cursor], for typed clients. The document calls it
// CursorResponseSchema, with the name of the item.
type CursorPage[T any] struct {
	// Next and Previous are the addresses of the pages after and before this one, and nil
	// where there is none.
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	Results  []T     `json:"results"`
}

// The bodies as they are written. Items are any, because their type is known at run time
// only and mapping may change it; the names are those of the types for clients.
type (
	offsetBody struct {
		Items any    `json:"items"`
		Count *int64 `json:"count"`
	}

	numberBody struct {
		Count    *int64  `json:"count"`
		Next     *string `json:"next"`
		Previous *string `json:"previous"`
		Results  any     `json:"results"`
	}

	cursorBody struct {
		Next     *string `json:"next"`
		Previous *string `json:"previous"`
		Results  any     `json:"results"`
	}
)

var (
	int64Type  = reflect.TypeFor[int64]()
	stringType = reflect.TypeFor[string]()
)

// countedName is the name of a body with a count of that kind. Bodies that differ in the
// document have different names there.
func countedName(c Counting, name string) string {
	switch c {
	case NoCount:
		return "Uncounted" + name
	case Estimate:
		return "Estimated" + name
	default:
		return name
	}
}

func countProperty(c Counting) Property {
	switch c {
	case NoCount:
		return Property{Name: "count", Type: int64Type, Nullable: true, Doc: "Not counted: always null."}
	case Estimate:
		return Property{Name: "count", Type: int64Type, Doc: "How many items the list has, about."}
	default:
		return Property{Name: "count", Type: int64Type, Doc: "How many items the list has."}
	}
}

func linkProperties() []Property {
	return []Property{
		{Name: "next", Type: stringType, Nullable: true, Doc: "The address of the page after this one."},
		{Name: "previous", Type: stringType, Nullable: true, Doc: "The address of the page before this one."},
	}
}
