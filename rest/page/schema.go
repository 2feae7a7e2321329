package page

import "reflect"

// OffsetPage is the body of a page of [LimitOffset], for typed clients. In the document it is
// called RestPaginationResponseSchema, followed by the name of the item type.
type OffsetPage[T any] struct {
	// Items are the items of the page.
	Items []T `json:"items"`
	// Count is the number of items in the list. It is 0 if the answer has null, which happens
	// only with [NoCount].
	Count int64 `json:"count"`
}

// NumberPage is the body of a page of [Number], for typed clients. In the document it is
// called PaginatedResponseSchema, followed by the name of the item type.
type NumberPage[T any] struct {
	// Count is the number of items in the list. It is 0 if the answer has null, which happens
	// only with [NoCount].
	Count int64 `json:"count"`
	// Next and Previous are the addresses of the pages after and before this one, or nil.
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	Results  []T     `json:"results"`
}

// CursorPage is the body of a page of [Cursor], for typed clients. In the document it is
// called CursorResponseSchema, followed by the name of the item type.
type CursorPage[T any] struct {
	// Next and Previous are the addresses of the pages after and before this one, or nil.
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	Results  []T     `json:"results"`
}

// The bodies as they are written. The type of the items is known only at run time. The schemas
// have the names of the exported types.
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

// countedName returns the name of a page's body for this way of counting. Bodies whose schemas
// differ need different names in the document.
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
		return Property{Name: "count", Type: int64Type, Doc: "About how many items the list has."}
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
