package form

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// AuditColumns are the columns of [wire.AuditEntry].
const AuditColumns = `tenant, seq, at, action, actor, actor_tenant, thread_id, run_id, call_id, job_id, approved, digest, reason,
	count, address, detail`

// ScanAudit reads AuditColumns.
func ScanAudit(r Row) wire.AuditEntry {
	return wire.AuditEntry{
		Tenant: spool.Tenant(r.Text()), Seq: r.Int64(), At: r.Time(), Action: wire.AuditAction(r.Text()),
		By: r.Text(), ByTenant: spool.Tenant(r.Text()),
		ThreadID: spool.ThreadID(r.Text()), RunID: spool.RunID(r.Text()), ToolCallID: spool.ToolCallID(r.Text()),
		JobID: r.Int64(), Approved: r.MaybeBool(), Digest: r.Text(), Reason: r.Text(), Count: r.Int64(), Address: r.Text(),
		Detail: r.JSON(),
	}
}
