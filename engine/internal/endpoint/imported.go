package endpoint

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Kind is the kind of the rows about endpoints.
const Kind = rowKind

// imported is why an endpoint is disabled that has come from another store.
const imported = "it was imported: enable it when the server that it comes from no longer sends its events"

// Imported returns the value of a row of Kind as an import adds it: an endpoint is disabled since a time.
func Imported(key string, value json.RawMessage, at time.Time) (json.RawMessage, error) {
	if key == turnKey || strings.HasPrefix(key, stateKey) {
		return value, nil
	}
	e, err := decode[stored](store.Row{Value: value})
	if err != nil || !e.DisabledAt.IsZero() {
		return value, err
	}
	e.DisabledAt, e.DisabledReason = at.UTC(), imported
	return encode(e), nil
}

// Enlist writes that a tenant has endpoints. Call it when rows of Kind were added that were made elsewhere.
func Enlist(ctx context.Context, s store.Store, tenant spool.Tenant) error {
	b := &Book{store: s, listed: newCell[map[spool.Tenant]bool]()}
	return b.enlist(ctx, tenant)
}
