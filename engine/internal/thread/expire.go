package thread

import "github.com/spoolhq/spool"

// expire is the compare-and-set that sees to the open parks whose time has come: they are
// warned of, get more time, or end. It returns how many the run still waits for, which is
// none as soon as one of them fails the run.
func expire(tx *Tx) (open int, err error) {
	parks, err := Parks(tx)
	if err != nil {
		return 0, err
	}
	failed := false
	for _, p := range parks {
		if p.State == spool.ParkOpen {
			if err := expirePark(tx, &p); err != nil {
				return 0, err
			}
		}
		if p.State == spool.ParkOpen {
			open++
		}
		failed = failed || FailsRun(p)
	}
	if failed {
		return 0, nil
	}
	return open, nil
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

// unanswered returns how a run ends with a park that nobody has answered and that asks for it. Nil:
// there is none.
func unanswered(tx *Tx) (*spool.Ending, error) {
	parks, err := Parks(tx)
	for _, p := range parks {
		if FailsRun(p) {
			return &spool.Ending{
				State: spool.Failed, Reason: spool.StopFailed, Error: "nobody answered the call of " + p.ToolName + " in time",
			}, nil
		}
	}
	return nil, err
}

// Reclaim moves a parked run on whose time to be answered has passed. It reports whether the run
// waits for nobody any more, and returns [ErrUnchanged] for a run that is not parked.
func Reclaim(tx *Tx) (moved bool, err error) {
	if tx.Run.State != spool.WaitingForInput || tx.Run.Ending != nil {
		return false, ErrUnchanged
	}
	open, err := expire(tx)
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
	open, err := expire(tx)
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
