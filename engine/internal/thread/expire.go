package thread

import (
	"time"

	"github.com/spoolhq/spool"
)

// expire is the compare-and-set that handles the open parks whose time has come: each is warned
// about, extended or expired. It returns the number of parks that are still open. If an expired
// park fails the run, it returns zero and how the run ends.
func expire(tx *Tx) (open int, failing *spool.Ending, err error) {
	parks, err := tx.Parks()
	if err != nil {
		return 0, nil, err
	}
	for _, p := range parks {
		if p.State == spool.ParkOpen {
			if err := expirePark(tx, &p); err != nil {
				return 0, nil, err
			}
		}
		if p.State == spool.ParkOpen {
			open++
		}
		if failing == nil && FailsRun(p) {
			failing = &spool.Ending{
				State: spool.Failed, Reason: spool.StopFailed, Error: "nobody answered the call of " + p.ToolName + " in time",
			}
		}
	}
	if failing != nil {
		open = 0
	}
	return open, failing, nil
}

// expirePark warns about, extends or expires an open park if the time has come.
func expirePark(tx *Tx, p *spool.Park) error {
	t, payload := advancePark(p, tx.Now)
	if t == "" {
		return nil
	}
	if err := tx.Store.PutPark(*p); err != nil {
		return err
	}
	if err := tx.Store.CancelJob(expiryKey(*p)); err != nil {
		return err
	}
	if p.State == spool.ParkOpen {
		if err := enqueueExpiry(tx, *p); err != nil {
			return err
		}
	}
	if err := tx.AppendNew(t, payload); err != nil || t != spool.EntryInputExtended {
		return err
	}
	// Clients that do not know INPUT_EXTENDED get the question again.
	required, err := tx.InputRequired(tx.Store, *p)
	if err != nil {
		return err
	}
	return tx.AppendNew(spool.EntryInputRequired, required)
}

// advancePark changes an open park that is due, and returns the entry about the change. It returns
// "" if the park is not due.
func advancePark(p *spool.Park, now time.Time) (t spool.EntryType, payload any) {
	switch warn := warnAt(*p); {
	case now.Before(p.ExpiresAt) && (warn.IsZero() || now.Before(warn)):
		return "", nil
	case now.Before(p.ExpiresAt):
		p.Warned = true
		return spool.EntryInputExpiring, spool.InputExpiring{ToolCallID: p.ToolCallID, ExpiresAt: p.ExpiresAt, OnExpiry: onExpiry(*p)}
	case p.Expiry.Then == spool.ExpireExtend && p.Expiry.Extensions > 0:
		p.Expiry.Extensions--
		p.ExpiresAt, p.Warned = now.Add(p.Expiry.TTL), false
		if p.Expiry.Extensions == 0 {
			p.Expiry.Then = spool.ExpireDeny
		}
		return spool.EntryInputExtended, spool.InputExtended{ToolCallID: p.ToolCallID, ExpiresAt: p.ExpiresAt, OnExpiry: onExpiry(*p)}
	default:
		p.State = spool.ParkExpired
		return spool.EntryInputExpired, spool.InputExpired{ToolCallID: p.ToolCallID, OnExpiry: onExpiry(*p)}
	}
}

// FailsRun reports whether the run fails because nobody answered the park in time.
func FailsRun(p spool.Park) bool {
	return p.State == spool.ParkExpired && p.Expiry.Then == spool.ExpireFail
}

// Reclaim moves a parked run whose parks are due. It reports whether no park is open any more. It
// returns [ErrUnchanged] if the run is not parked.
func Reclaim(tx *Tx) (moved bool, err error) {
	if tx.Run.State != spool.WaitingForInput || tx.Run.Ending != nil {
		return false, ErrUnchanged
	}
	open, _, err := expire(tx)
	if err != nil || open > 0 {
		return false, err
	}
	return true, tx.enqueue(spool.JobResume, 0)
}

// Redispatch adds the missing job of a run that nothing moves. It returns [ErrUnchanged] if the run
// needs no job.
func Redispatch(tx *Tx) error {
	if !tx.Run.State.Active() || tx.Thread.Leased(tx.Now) {
		return ErrUnchanged
	}
	if tx.Run.State != spool.WaitingForInput || tx.Run.Ending != nil {
		return tx.enqueue(spool.JobReclaim, 0)
	}
	open, _, err := expire(tx)
	if err != nil {
		return err
	}
	if open == 0 {
		return tx.enqueue(spool.JobResume, 0)
	}
	parks, err := tx.Parks()
	if err != nil {
		return err
	}
	for _, p := range parks {
		if p.State != spool.ParkOpen {
			continue
		}
		if err := enqueueExpiry(tx, p); err != nil {
			return err
		}
	}
	return nil
}

// onExpiry returns the expiry action for the wire, which omits the default.
func onExpiry(p spool.Park) spool.ExpiryAction {
	if p.Expiry.Then == spool.ExpireDeny {
		return ""
	}
	return p.Expiry.Then
}

// warnAt returns when to warn about an open park. Zero: never.
func warnAt(p spool.Park) time.Time {
	if p.Warned || p.Expiry.Warn <= 0 || p.Expiry.Warn >= p.Expiry.TTL {
		return time.Time{}
	}
	return p.ExpiresAt.Add(-p.Expiry.Warn)
}

// enqueueExpiry adds the job for the next change of an open park: its warning, or its expiry.
func enqueueExpiry(tx *Tx, p spool.Park) error {
	due := p.ExpiresAt
	if warn := warnAt(p); !warn.IsZero() {
		due = warn
	}
	j := tx.jobOf(tx.Run, spool.JobExpiry, due.Sub(tx.Now))
	j.Key = expiryKey(p)
	return tx.Store.Enqueue(j)
}

func expiryKey(p spool.Park) string {
	return "hitl-expiry:" + string(p.RunID) + ":" + string(p.ToolCallID)
}
