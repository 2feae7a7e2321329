package store

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// Row is a value outside any thread, such as a schedule, a provider's limit or an agent's revision. A kind, a
// key and a tenant name it. The empty tenant has the rows of the whole installation.
type Row struct {
	Tenant spool.Tenant
	Kind   string
	Key    string
	// Value is any JSON. Nil in a [Changes] removes the row.
	Value json.RawMessage
	// Version is positive and changes with each write. A row that was removed or has expired, and is created
	// again, gets a version that it never had. In a [Changes] it is the version that the stored row must
	// have: zero means that there must be no such row, and [AnyVersion] that it does not matter.
	Version int64
	// UpdatedAt is when the row was written. The store sets it.
	UpdatedAt time.Time
	// ExpiresAt is the time from which the row is as if it did not exist. Zero: never.
	ExpiresAt time.Time
}

// AnyVersion is the version in a [Changes] for a row that is replaced whatever its version is.
const AnyVersion int64 = -1

// RowQuery selects rows of a tenant, in the order of their keys.
type RowQuery struct {
	Tenant spool.Tenant
	// Kind is required.
	Kind string
	// Key leaves out every other row. Empty: all.
	Key string
	// After continues a list: only rows with a greater key. Empty: from the first.
	After string
	// Limit bounds how many are returned. Zero: all.
	Limit int
}
