package store

import (
	"time"

	"github.com/spoolhq/spool"
)

// PruneKind says what a [PruneQuery] removes.
type PruneKind string

// The kinds of data that can be pruned.
const (
	// PruneAudit removes entries of the audit log of all tenants. Their seqs are not used again.
	PruneAudit PruneKind = "audit"
	// PruneDead removes dead jobs of a tenant.
	PruneDead PruneKind = "dead"
	// PruneRows removes rows that have expired, of all tenants.
	PruneRows PruneKind = "rows"
)

// PruneQuery says what is removed, the oldest first.
type PruneQuery struct {
	Kind PruneKind
	// Tenant is the tenant whose dead jobs are removed. It applies to PruneDead only.
	Tenant spool.Tenant
	// JobID leaves out every other dead job. Zero: all.
	JobID int64
	// Before leaves out data of this time or later: when an entry was written, a job died, or a row expired.
	// Zero: nothing is left out, except that PruneAudit then removes nothing.
	Before time.Time
	// Limit bounds how much is removed. Zero: all.
	Limit int
}
