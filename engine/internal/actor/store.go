package actor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// Store hides from an actor with OwnOnly the threads of others. It stands before the
// backend's store, so that no verb can forget to ask: whose a thread is, is looked at in the
// transaction that reads or changes it.
type Store struct{ spool.Store }

// Update implements [spool.Store]. A thread of somebody else looks like none in the
// transaction, and cannot be made.
func (s Store) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx spool.Tx) error) error {
	actor := Of(ctx)
	if !actor.OwnOnly {
		return s.Store.Update(ctx, key, fence, fn)
	}
	return s.Store.Update(ctx, key, fence, func(tx spool.Tx) error {
		foreign, err := foreign(actor, tx)
		if err != nil {
			return err
		}
		if foreign {
			tx = foreignTx{foreignView{tx.Now()}}
		}
		return fn(tx)
	})
}

// View implements [spool.Store]. A thread of somebody else looks like none.
func (s Store) View(ctx context.Context, key spool.ThreadKey, fn func(v spool.View) error) error {
	actor := Of(ctx)
	if !actor.OwnOnly {
		return s.Store.View(ctx, key, fn)
	}
	return s.Store.View(ctx, key, func(v spool.View) error {
		foreign, err := foreign(actor, v)
		if err != nil {
			return err
		}
		if foreign {
			v = foreignView{v.Now()}
		}
		return fn(v)
	})
}

// CheckRoom implements [spool.RoomChecker], for a store that can say.
func (s Store) CheckRoom(ctx context.Context) error {
	if r, ok := s.Store.(spool.RoomChecker); ok {
		return r.CheckRoom(ctx)
	}
	return nil
}

// Threads implements [spool.Store].
func (s Store) Threads(ctx context.Context, tenant spool.Tenant, q spool.ThreadQuery) ([]spool.Thread, error) {
	if actor := Of(ctx); actor.OwnOnly {
		if actor.Subject == "" || q.Owner != "" && q.Owner != actor.Subject {
			return []spool.Thread{}, nil
		}
		q.Owner = actor.Subject
	}
	return s.Store.Threads(ctx, tenant, q)
}

// foreign reports whether a thread is there that is not the actor's.
func foreign(a spool.Actor, v spool.View) (bool, error) {
	thread, err := v.Thread()
	if record.Missing(err) {
		return false, nil
	}
	return a.Subject == "" || thread.Owner != a.Subject, err
}

// StartKey returns the idempotency key under which an actor's start is kept. The keys of
// subjects who must not see each other's threads are their own.
func StartKey(a spool.Actor, key string) string {
	if key == "" || !a.OwnOnly {
		return key
	}
	hash := sha256.Sum256([]byte(a.Subject + "\x00" + key))
	return "own:" + hex.EncodeToString(hash[:])
}

// CheckOwner returns a [spool.NotFound] error for a thread that the actor of ctx must not see.
func (s Store) CheckOwner(ctx context.Context, key spool.ThreadKey) error {
	if !Of(ctx).OwnOnly {
		return nil
	}
	err := s.View(ctx, key, func(v spool.View) error {
		_, err := v.Thread()
		return err
	})
	return record.NotFound(err)
}

// foreignView is the view of a thread that does not exist for who asks.
type foreignView struct{ now time.Time }

var errForeign = spool.Errorf(spool.NotFound, record.ThreadNotFound)

// Now implements [spool.View].
func (v foreignView) Now() time.Time { return v.now }

// Thread implements [spool.View].
func (foreignView) Thread() (spool.Thread, error) { return spool.Thread{}, errForeign }

// Run implements [spool.View].
func (foreignView) Run(spool.RunID) (spool.RunRow, error) { return spool.RunRow{}, errForeign }

// Runs implements [spool.View].
func (foreignView) Runs(int) ([]spool.Run, error) { return []spool.Run{}, nil }

// Nested implements [spool.View].
func (foreignView) Nested(spool.RunID) ([]spool.RunRow, error) { return []spool.RunRow{}, nil }

// Waiting implements [spool.View].
func (foreignView) Waiting() ([]spool.RunRow, error) { return []spool.RunRow{}, nil }

// Messages implements [spool.View].
func (foreignView) Messages(spool.MessageQuery) ([]spool.Message, error) {
	return []spool.Message{}, nil
}

// Message implements [spool.View].
func (foreignView) Message(spool.MessageID) (spool.Message, error) {
	return spool.Message{}, errForeign
}

// Branches implements [spool.View].
func (foreignView) Branches() ([]spool.Branch, error) { return []spool.Branch{}, nil }

// Entries implements [spool.View].
func (foreignView) Entries(spool.EntryQuery) ([]spool.Entry, error) { return []spool.Entry{}, nil }

// Parks implements [spool.View].
func (foreignView) Parks(spool.RunID) ([]spool.Park, error) { return []spool.Park{}, nil }

// Effects implements [spool.View].
func (foreignView) Effects(spool.RunID, int) ([]spool.Effect, error) { return []spool.Effect{}, nil }

// Usage implements [spool.View].
func (foreignView) Usage() ([]spool.UsageLine, error) { return []spool.UsageLine{}, nil }

// UsageRows implements [spool.View].
func (foreignView) UsageRows(spool.UsageQuery) ([]spool.UsageRow, error) {
	return []spool.UsageRow{}, nil
}

// foreignTx is the transaction of such a thread. It writes nothing: what would make the thread
// is refused as what belongs to one that does not exist.
type foreignTx struct{ foreignView }

// errTaken refuses a start with the id of a thread that somebody else has.
var errTaken = thread.Refuse(spool.ReasonNotFound, record.ThreadNotFound)

// PutThread implements [spool.Tx].
func (foreignTx) PutThread(spool.Thread) error { return errTaken }

// DeleteThread implements [spool.Tx].
func (foreignTx) DeleteThread() error { return errTaken }

// InsertRun implements [spool.Tx].
func (foreignTx) InsertRun(spool.RunRow) error { return errTaken }

// UpdateRun implements [spool.Tx].
func (foreignTx) UpdateRun(spool.RunRow) error { return errTaken }

// AppendMessages implements [spool.Tx].
func (foreignTx) AppendMessages(...*spool.Message) error { return errTaken }

// DropMessages implements [spool.Tx].
func (foreignTx) DropMessages(spool.MessageID, int64) error { return errTaken }

// RestoreBranch implements [spool.Tx].
func (foreignTx) RestoreBranch(spool.BranchID) error { return errTaken }

// AppendEntries implements [spool.Tx].
func (foreignTx) AppendEntries(...*spool.Entry) error { return errTaken }

// PutPark implements [spool.Tx].
func (foreignTx) PutPark(spool.Park) error { return errTaken }

// PutEffect implements [spool.Tx].
func (foreignTx) PutEffect(spool.Effect) error { return errTaken }

// AddUsage implements [spool.Tx].
func (foreignTx) AddUsage(spool.UsageRow) error { return errTaken }

// Enqueue implements [spool.Tx].
func (foreignTx) Enqueue(spool.Job) error { return errTaken }

// CancelJob implements [spool.Tx].
func (foreignTx) CancelJob(string) error { return errTaken }

// TakeDead implements [spool.Tx].
func (foreignTx) TakeDead(int64) (spool.DeadJob, error) { return spool.DeadJob{}, errTaken }

// AddDead implements [spool.Tx].
func (foreignTx) AddDead(spool.Job, int, string) error { return errTaken }

// AppendAudit implements [spool.AuditTx].
func (foreignTx) AppendAudit(...*spool.AuditEntry) error { return errTaken }
