package form

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// ValueColumns are the columns of [store.Row].
const ValueColumns = "tenant, kind, key, value, version, updated_at, expires_at"

// ScanValue reads ValueColumns.
func ScanValue(r Row) store.Row {
	return store.Row{
		Tenant: spool.Tenant(r.Text()), Kind: r.Text(), Key: r.Text(), Value: r.JSON(), Version: r.Int64(),
		UpdatedAt: r.Time(), ExpiresAt: r.Time(),
	}
}
