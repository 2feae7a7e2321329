package thread

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// expiry is the result of [expire].
type expiry struct {
	open []store.Park // the parks without an answer; empty if the run fails
	// failing is the ending of a run that fails because nobody answered in time. Nil: the run
	// continues.
	failing *store.Ending
	// waits is true if the run waits for pending calls, and a segment would have nothing to do.
	waits bool
}

// expire handles the open parks that are due: it warns about each one, extends it or expires it.
func expire(tx *Tx, parks []store.Park, c *store.Changes) (x expiry, err error) {
	ready := false
	for _, p := range parks {
		if p.State == wire.ParkOpen {
			if err := expirePark(tx, &p, c); err != nil {
				return x, err
			}
		}
		if p.State == wire.ParkOpen {
			x.open = append(x.open, p)
		}
		x.waits, ready = x.waits || waits(p), ready || !waits(p) && p.State != wire.ParkOpen
		if x.failing == nil && FailsRun(p) {
			x.failing = &store.Ending{
				State: wire.Failed, Reason: wire.StopFailed, Error: "nobody answered the call of " + p.ToolName + " in time",
			}
		}
	}
	if x.failing != nil {
		x.open = nil
	}
	x.waits = x.waits && !ready
	return x, nil
}

// expirePark warns about, extends or expires an open park if the park is due. The caller stores the thread and the run.
func expirePark(tx *Tx, p *store.Park, c *store.Changes) error {
	t, payload := advancePark(p, tx.Now)
	if t == "" {
		return nil
	}
	tx.replacePark(c, *p)
	c.Entries = append(c.Entries, wire.NewEntry(t, tx.Run.ID, payload))
	switch t {
	case wire.EntryInputExpired:
		tx.Run.Expired = tx.Run.Expired.And(p.ExpiresAt)
		tx.Thread.Expired = tx.Run.Expired
		return nil
	case wire.EntryInputExtended:
	default:
		return nil
	}
	// Clients that do not know INPUT_EXTENDED get the question again.
	required, err := tx.InputRequired(tx.Store, *p)
	c.Entries = append(c.Entries, wire.NewEntry(wire.EntryInputRequired, tx.Run.ID, required.InRecord()))
	return err
}

// advancePark changes an open park that is due, and returns the type and payload of the entry about the
// change. The type is "" if the park is not due.
func advancePark(p *store.Park, now time.Time) (t wire.EntryType, payload any) {
	switch warn := warnAt(*p); {
	case now.Before(p.ExpiresAt) && (warn.IsZero() || now.Before(warn)):
		return "", nil
	case now.Before(p.ExpiresAt):
		p.Warned = true
		return wire.EntryInputExpiring, wire.InputExpiring{
			ToolCallID: p.ToolCallID, ExpiresAt: p.ExpiresAt, OnExpiry: onExpiry(*p),
		}
	case p.Expiry.Then == spool.ExpireExtend && p.Expiry.Extensions > 0:
		p.Expiry.Extensions--
		p.ExpiresAt, p.Warned = now.Add(p.Expiry.TTL), false
		if p.Expiry.Extensions == 0 {
			p.Expiry.Then = spool.ExpireDeny
		}
		return wire.EntryInputExtended, wire.InputExtended{
			ToolCallID: p.ToolCallID, ExpiresAt: p.ExpiresAt, OnExpiry: onExpiry(*p),
		}
	default:
		p.State = wire.ParkExpired
		return wire.EntryInputExpired, wire.InputExpired{ToolCallID: p.ToolCallID, OnExpiry: onExpiry(*p)}
	}
}

// FailsRun reports whether the run fails because nobody answered the park in time.
func FailsRun(p store.Park) bool {
	return p.State == wire.ParkExpired && p.Expiry.Then == spool.ExpireFail
}

// Reclaim expires the due parks of a parked run, and reports whether no park is open any more. It
// returns [ErrUnchanged] if the run is not parked.
func Reclaim(tx *Tx) (moved bool, err error) {
	if tx.Run.State != wire.WaitingForInput || tx.Run.Ending != nil {
		return false, ErrUnchanged
	}
	x, _, c, err := expireNow(tx)
	if err != nil {
		return false, err
	}
	return x.moves(), tx.Write(c)
}

// moves reports whether the run can have its next segment.
func (x expiry) moves() bool { return len(x.open) == 0 && !x.waits }

// expireNow expires the parks of a parked run, and adds a ticket if no park is open any more.
func expireNow(tx *Tx) (x expiry, parks []store.Park, c store.Changes, err error) {
	if parks, err = tx.Parks(); err != nil {
		return x, nil, c, err
	}
	before := tx.Run.Expired
	x, err = expire(tx, parks, &c)
	if tx.Run.Expired != before {
		c.Thread, c.Runs = &tx.Thread, []store.RunRow{tx.Run}
	}
	if x.moves() {
		c.Jobs = append(c.Jobs, tx.ticket(wire.JobResume, 0))
	}
	return x, parks, c, err
}

// Redispatch adds a job to a run that has neither a worker nor a job. It returns [ErrUnchanged] if the
// run needs no job.
func Redispatch(tx *Tx) error {
	if !tx.Run.State.Active() || tx.Thread.Leased(tx.Now) {
		return ErrUnchanged
	}
	if tx.Run.State != wire.WaitingForInput || tx.Run.Ending != nil {
		return tx.Write(store.Changes{Jobs: []wire.Job{tx.ticket(wire.JobReclaim, 0)}})
	}
	x, parks, c, err := expireNow(tx)
	if err != nil {
		return err
	}
	for _, p := range x.open {
		c.Jobs = append(c.Jobs, expiryJob(tx, p))
	}
	for _, p := range parks {
		if waits(p) {
			c.Jobs = append(c.Jobs, pollJob(tx, p))
		}
	}
	return tx.Write(c)
}
