package deliver

import (
	"cmp"
	"context"
	"time"

	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/wire"
)

const (
	// holdFor is for how long an event that fails holds later ones of its thread.
	holdFor = time.Minute
	// maxHolders bounds how many events of a thread are looked at.
	maxHolders = 100
)

// held reports whether an earlier event of the same thread has to be delivered first. One that was not tried yet holds
// later ones until it is. One that has failed holds them for a minute.
func (d *Deliverer) held(ctx context.Context, a *attempt) (bool, error) {
	if a.ThreadID == "" {
		return false, nil
	}
	since := a.event.Timestamp.Add(-holdFor)
	jobs, err := d.Store.Jobs(ctx, wire.JobQuery{
		Tenant: a.Tenant, ThreadID: a.ThreadID, Queue: new(endpoint.Queue), Subject: a.Subject, DueSince: since,
		Limit: maxHolders,
	})
	if err != nil {
		return false, err
	}
	now := time.Now()
	passes := a.event.Timestamp.Add(holdFor)
	for _, j := range jobs {
		if j.JobID == a.JobID {
			passes = j.FirstDue.Add(holdFor)
		}
	}
	for _, j := range jobs {
		if j.JobID == a.JobID || !untried(j, now) && !now.Before(passes) {
			continue
		}
		if _, other, err := endpoint.Decode(j.Payload); err == nil && before(other.Data, a.event.Data) {
			return true, nil
		}
	}
	return false, nil
}

// untried reports whether an event has not failed yet, and will be tried within the next minute.
func untried(j wire.QueuedJob, now time.Time) bool {
	switch j.State {
	case wire.JobInFlight:
		return j.Attempts <= 1
	case wire.JobDelayed:
		return j.Attempts == 0 && j.DueAt.Sub(now) <= holdFor
	default:
		return j.Attempts == 0
	}
}

// before reports whether an event of a thread comes before another one.
func before(a, b wire.WebhookData) bool {
	return cmp.Or(
		a.ThreadCreatedAt.Compare(b.ThreadCreatedAt), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Index, b.Index),
	) < 0
}
