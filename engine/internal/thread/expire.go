package thread

import (
	"time"

	"github.com/spoolhq/spool"
)

// expire is the compare-and-set that sees to the open parks whose time has come: they are
// warned of, get more time, or end. It returns how many the run still waits for, which is
// none as soon as one of them fails the run, and then how the run ends.
func expire(tx *Tx) (open int, failing *spool.Ending, err error) {
	parks, err := Parks(tx)
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
	extended := false
	entry := spool.NewEntry(spool.EntryInputExpired, tx.Run.ID, spool.InputExpired{ToolCallID: p.ToolCallID, OnExpiry: onExpiry(*p)})
	switch warn := warnAt(*p); {
	case tx.Now.Before(p.ExpiresAt) && (warn.IsZero() || tx.Now.Before(warn)):
		return nil
	case tx.Now.Before(p.ExpiresAt):
		p.Warned = true
		entry = spool.NewEntry(spool.EntryInputExpiring, tx.Run.ID, spool.InputExpiring{
			ToolCallID: p.ToolCallID, ExpiresAt: p.ExpiresAt, OnExpiry: onExpiry(*p),
		})
	case p.Expiry.Then == spool.ExpireExtend && p.Expiry.Extensions > 0:
		p.Expiry.Extensions--
		p.ExpiresAt, p.Warned, extended = tx.Now.Add(p.Expiry.TTL), false, true
		if p.Expiry.Extensions == 0 {
			p.Expiry.Then = spool.ExpireDeny
		}
		entry = spool.NewEntry(spool.EntryInputExtended, tx.Run.ID, spool.InputExtended{
			ToolCallID: p.ToolCallID, ExpiresAt: p.ExpiresAt, OnExpiry: onExpiry(*p),
		})
	default:
		p.State = spool.ParkExpired
	}
	if err := tx.Store.PutPark(*p); err != nil {
		return err
	}
	if err := tx.Store.CancelJob(expiryKey(*p)); err != nil {
		return err
	}
	if p.State == spool.ParkOpen {
		if err := tx.Store.Enqueue(expiryJob(tx, *p)); err != nil {
			return err
		}
	}
	if err := tx.Append(entry); err != nil || !extended {
		return err
	}
	return askAgain(tx, *p)
}

// askAgain repeats the question of a park that has got more time, for clients that do not
// know what an INPUT_EXTENDED is.
func askAgain(tx *Tx, p spool.Park) error {
	required, err := tx.InputRequired(tx.Store, p)
	if err != nil {
		return err
	}
	return tx.Append(spool.NewEntry(spool.EntryInputRequired, tx.Run.ID, required))
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
	return true, tx.Store.Enqueue(tx.ticket(spool.JobResume, 0))
}

// Redispatch writes the job that a run should have which nothing moves. It returns [ErrUnchanged]
// for a run that needs none.
func Redispatch(tx *Tx) error {
	if !tx.Run.State.Active() || tx.Thread.Leased(tx.Now) {
		return ErrUnchanged
	}
	if tx.Run.State != spool.WaitingForInput || tx.Run.Ending != nil {
		return tx.Store.Enqueue(tx.ticket(spool.JobReclaim, 0))
	}
	open, _, err := expire(tx)
	if err != nil {
		return err
	}
	if open == 0 {
		return tx.Store.Enqueue(tx.ticket(spool.JobResume, 0))
	}
	parks, err := Parks(tx)
	if err != nil {
		return err
	}
	for _, p := range parks {
		if p.State != spool.ParkOpen {
			continue
		}
		if err := tx.Store.Enqueue(expiryJob(tx, p)); err != nil {
			return err
		}
	}
	return nil
}

// Parks returns the parks of the tree whose calls have no result yet.
func Parks(tx *Tx) ([]spool.Park, error) {
	all, err := tx.Store.Parks(tx.Root().Run.ID)
	if err != nil {
		return nil, err
	}
	waiting := all[:0]
	for _, p := range all {
		if !p.Landed && p.State != spool.ParkClosed {
			waiting = append(waiting, p)
		}
	}
	return waiting, nil
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

// expiryJob returns the job by which something becomes of an open park: its warning, and
// then its end.
func expiryJob(tx *Tx, p spool.Park) spool.Job {
	due := p.ExpiresAt
	if warn := warnAt(p); !warn.IsZero() {
		due = warn
	}
	j := tx.job(spool.JobExpiry, due.Sub(tx.Now))
	j.Key = expiryKey(p)
	return j
}

func expiryKey(p spool.Park) string {
	return "hitl-expiry:" + string(p.RunID) + ":" + string(p.ToolCallID)
}
