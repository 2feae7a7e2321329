package actor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Store hides other subjects' threads from an actor with OwnOnly. It wraps the backend's store, so that
// no operation can forget the check. It checks the owner in the transaction that reads or changes the
// thread.
type Store struct{ store.Store }

// Update implements [store.Store]. In the transaction, another subject's thread looks as if it did not
// exist, and its id cannot be used for a new thread.
func (s Store) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	actor := Of(ctx)
	if !actor.OwnOnly {
		return s.Store.Update(ctx, key, fence, fn)
	}
	err := s.Store.Update(ctx, key, fence, func(tx store.Tx) error {
		if err := checkOwn(actor, tx); err != nil {
			return err
		}
		return fn(tx)
	})
	return s.orNone(ctx, key, err, func(v store.View) error { return fn(foreignTx{v}) })
}

// View implements [store.Store]. Another subject's thread looks as if it did not exist.
func (s Store) View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error {
	actor := Of(ctx)
	if !actor.OwnOnly {
		return s.Store.View(ctx, key, func(v store.View) error { return fn(record.Remembering(v)) })
	}
	err := s.Store.View(ctx, key, func(v store.View) error {
		v = record.Remembering(v)
		if err := checkOwn(actor, v); err != nil {
			return err
		}
		return fn(v)
	})
	return s.orNone(ctx, key, err, fn)
}

// checkOwn returns errForeign if the thread exists and has another owner than the actor.
func checkOwn(a wire.Actor, v store.View) error {
	thread, err := v.Thread()
	if record.Missing(err) {
		return nil
	}
	if err == nil && (a.Subject == "" || thread.Owner != a.Subject) {
		return errForeign
	}
	return err
}

// orNone calls fn with the view of a thread that does not exist if err is errForeign. It returns any
// other err.
func (s Store) orNone(ctx context.Context, key spool.ThreadKey, err error, fn func(none store.View) error) error {
	if !errors.Is(err, errForeign) {
		return err
	}
	key.ID = "" // no thread has this id
	return s.Store.View(ctx, key, fn)
}

// Threads implements [store.Store]. It does not restrict a query by work, which operators and workers make.
func (s Store) Threads(ctx context.Context, q wire.ThreadQuery) ([]wire.Thread, error) {
	if actor := Of(ctx); actor.OwnOnly && q.Work == "" {
		if actor.Subject == "" || q.Owner != "" && q.Owner != actor.Subject {
			return []wire.Thread{}, nil
		}
		q.Owner = actor.Subject
	}
	return s.Store.Threads(ctx, q)
}

// Parks implements [store.Store]. It leaves out the parks of other subjects' threads.
func (s Store) Parks(ctx context.Context, q wire.ParkQuery) ([]store.ParkRow, error) {
	if actor := Of(ctx); actor.OwnOnly {
		if actor.Subject == "" || q.Owner != "" && q.Owner != actor.Subject {
			return []store.ParkRow{}, nil
		}
		q.Owner = actor.Subject
	}
	return s.Store.Parks(ctx, q)
}

// StartKey returns the idempotency key under which the store keeps an actor's start. Subjects who must
// not see each other's threads do not share keys.
func StartKey(a wire.Actor, key string) string {
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
	return record.View(ctx, s, key, func(store.View, wire.Thread) error { return nil })
}

// errForeign ends the transaction on a thread of another subject.
var errForeign = errors.New("the thread is somebody else's")

// foreignTx is the transaction on a thread of another subject. It refuses every write with the error
// for a thread that does not exist.
type foreignTx struct{ store.View }

// errForeignThread refuses a start with the id of another subject's thread.
var errForeignThread = thread.Refuse(wire.ReasonNotFound, record.ThreadNotFound)

// Write implements [store.Tx].
func (foreignTx) Write(store.Changes) error { return errForeignThread }
