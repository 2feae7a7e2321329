package form

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// ThreadColumns are the columns of [wire.Thread].
const ThreadColumns = `tenant, id, state, model, title, created_at, updated_at, run_id, last_seq, fence, lease_until,
	owner, labels, expired_questions, expired_since`

// ScanThread reads ThreadColumns.
func ScanThread(r Row) wire.Thread {
	t := wire.Thread{
		Tenant: spool.Tenant(r.Text()), ID: spool.ThreadID(r.Text()), State: wire.State(r.Text()),
		Model: r.Text(), Title: r.Text(), CreatedAt: r.Time(), UpdatedAt: r.Time(),
		RunID: spool.RunID(r.Text()), LastSeq: r.Int64(), Fence: r.Int64(), LeaseUntil: r.Time(), Owner: r.Text(),
	}
	if labels := decode[map[string]string](r, "the thread's labels"); len(labels) > 0 {
		t.Labels = labels
	}
	t.Expired = scanExpired(r)
	return t
}

// scanExpired reads the columns of a mark.
func scanExpired(r Row) wire.Expired {
	return wire.Expired{Questions: r.Int(), Since: r.Time()}
}

// NextThread returns a thread's row after a write of next at now. The row keeps what a writer does not choose: its
// key, the last number of its record and the time of its creation. Its update time changes only if something else
// than the lease does. Old is the zero value, except for its LastSeq, if the thread does not exist.
func NextThread(key spool.ThreadKey, old wire.Thread, exists bool, next wire.Thread, now time.Time) wire.Thread {
	next.Tenant, next.ID = key.Tenant, key.ID
	next.LastSeq = old.LastSeq
	next.LeaseUntil, next.Expired.Since = cut(next.LeaseUntil), cut(next.Expired.Since)
	switch {
	case exists:
		next.CreatedAt = old.CreatedAt
	case next.CreatedAt.IsZero():
		next.CreatedAt = now
	default:
		next.CreatedAt = cut(next.CreatedAt)
	}
	updated := old.UpdatedAt
	old.LeaseUntil, old.UpdatedAt = next.LeaseUntil, next.UpdatedAt
	if !exists || !old.Equal(next) {
		updated = now
	}
	next.UpdatedAt = updated
	return next
}

// cut returns a time as it is read again after it was stored.
func cut(t time.Time) time.Time { return FromMicros(Micros(t)) }
