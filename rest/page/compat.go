package page

// The names in this file are those of Django Ninja Extra, for programs that migrate from it. They
// are part of this package's contract. The documentation prefers the Go names.

// LimitOffsetPagination is [LimitOffset].
func LimitOffsetPagination(options ...OffsetOption) Paginator { return LimitOffset(options...) }

// PageNumberPaginationExtra is [Number].
//
//nolint:revive // the name is not ours to choose
func PageNumberPaginationExtra(options ...NumberOption) Paginator { return Number(options...) }

// RestPaginationResponseSchema is [OffsetPage].
type RestPaginationResponseSchema[T any] = OffsetPage[T]

// PaginatedResponseSchema is [NumberPage].
type PaginatedResponseSchema[T any] = NumberPage[T]

// CursorResponseSchema is [CursorPage].
type CursorResponseSchema[T any] = CursorPage[T]
