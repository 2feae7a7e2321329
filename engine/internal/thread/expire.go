package thread

import (
	"time"

	"github.com/spoolhq/spool"
)

// expire is the compare-and-set that sees to the open parks whose time has come: they are
// warned of, get more time, or end. It returns how many the run still waits for, which is
// none as soon as one of them fails the run, and then how the run ends.
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

// expirePark does with an open park what its time asks for, if anything.
func expirePark(tx *Tx, p *spool.Park) error {
	t, payload := due(p, tx.Now)
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
	if err := tx.Enter(t, payload); err != nil || t != spool.EntryInputExtended {
		return err
	}
	// The question is repeated for clients that do not know what an INPUT_EXTENDED is.
	required, err := tx.InputRequired(tx.Store, *p)
	if err != nil {
		return err
	}
	return tx.Enter(spool.EntryInputRequired, required)
}

// due changes an open park as its time asks for, and returns the entry that tells of that. It
// returns "" for a park whose time has not come.
func due(p *spool.Park, now time.Time) (t spool.EntryType, payload any) {
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

// FailsRun reports whether the run ends because nobody has answered the park.
func FailsRun(p spool.Park) bool {
	return p.State == spool.ParkExpired && p.Expiry.Then == spool.ExpireFail
}

// Reclaim moves a parked run on whose time to be answered has passed. It reports whether the run
// waits for nobody any more, and returns [ErrUnchanged] for a run that is not parked.
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

// Redispatch writes the job that a run should have which nothing moves. It returns [ErrUnchanged]
// for a run that needs none.
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

// onExpiry is what the wire says of a park's end. The usual one goes without saying.
func onExpiry(p spool.Park) spool.ExpiryAction {
	if p.Expiry.Then == spool.ExpireDeny {
		return ""
	}
	return p.Expiry.Then
}

// warnAt returns when an open park is to be warned of, which is zero for never.
func warnAt(p spool.Park) time.Time {
	if p.Warned || p.Expiry.Warn <= 0 || p.Expiry.Warn >= p.Expiry.TTL {
		return time.Time{}
	}
	return p.ExpiresAt.Add(-p.Expiry.Warn)
}

// enqueueExpiry adds the job by which something becomes of an open park: its warning, and then its
// end.
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
