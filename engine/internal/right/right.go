// Package right looks up what the maker of something that acts later may do: of a schedule, a delayed start or an
// endpoint. It touches no row, and of the store only its clock.
package right

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Lookup looks rights up. The zero value knows those of the configuration only.
type Lookup struct {
	// Thing is what the makers make, such as "a schedule".
	Thing string
	// Bound returns what a maker of the kind [wire.MakerPrincipal] keeps of its rights, and Age is for how long after the
	// making: zero for until its own end. Nil: Ask decides about these makers.
	Bound func(r wire.Rights) wire.Rights
	Age   time.Duration
	// Ask returns what a maker may do now. A [spool.Forbidden] error says that its right has ended. Nil: nobody can say.
	Ask func(ctx context.Context, m wire.Maker) (wire.Rights, error)
}

// Now returns what a maker may do at a time. A [spool.Forbidden] error says that the right has ended. After any other
// error the right is not known now.
func (l Lookup) Now(ctx context.Context, m wire.Maker, now time.Time) (wire.Rights, error) {
	if m.Kind == wire.MakerFile {
		return m.Rights, nil
	}
	if ended(m, now) {
		return wire.Rights{}, spool.Errorf(spool.Forbidden, "The right of its maker has ended")
	}
	switch {
	case m.Kind == wire.MakerSession:
		return m.Rights, nil
	case l.bounds(m):
		return l.Bound(m.Rights), nil
	case l.Ask == nil:
		return wire.Rights{}, spool.Errorf(spool.Unavailable, "this process cannot look up the right of the maker")
	}
	return l.Ask(ctx, m)
}

// Make returns the maker as it is stored, and what it may do. It returns a [spool.Forbidden] error if its right could
// not be looked up later.
func (l Lookup) Make(ctx context.Context, m wire.Maker, now time.Time) (wire.Maker, wire.Rights, error) {
	if l.bounds(m) && l.Age > 0 {
		m.Until = now.Add(l.Age)
	}
	switch {
	case m.Kind == wire.MakerFile:
	case l.bounds(m) && m.Until.IsZero():
		return m, wire.Rights{}, spool.Errorf(spool.Forbidden,
			"You cannot make %s, because it is not known when your credentials end", l.Thing)
	case !l.bounds(m) && l.Ask == nil:
		return m, wire.Rights{}, &spool.Error{Code: spool.Forbidden, Err: option.ErrNoLookup, Message: "You cannot make " +
			l.Thing + ", because the server could not look up later what you may do"}
	}
	rights, err := l.Now(ctx, m, now)
	return m, rights, err
}

// Delay returns the maker of a start as it is stored until the start comes due at a time. It needs what Make needs,
// with two exceptions. Until its credentials end, a maker with a Bound keeps all its rights, as it could start the run
// itself at that time. And where nobody can look a right up, the start keeps its rights until the credentials end, and
// for ever if their end is not known. Delay returns an [spool.Invalid] error for a time at which the right will have
// ended.
func (l Lookup) Delay(ctx context.Context, m wire.Maker, now, due time.Time) (wire.Maker, error) {
	session := m
	session.Kind = wire.MakerSession
	if l.bounds(m) && !m.Until.IsZero() && !ended(m, due) {
		return session, nil
	}
	kept, _, err := l.Make(ctx, m, now)
	switch {
	case err == nil:
		return kept, CheckDue(kept, due)
	case errors.Is(err, option.ErrNoLookup):
		return session, CheckDue(session, due)
	}
	return m, err
}

// CheckDue returns an [spool.Invalid] error for a time at which the right of a maker will have ended.
func CheckDue(m wire.Maker, due time.Time) error {
	if !ended(m, due) {
		return nil
	}
	return spool.Errorf(spool.Invalid, "startAt must be before %s, when the right of its maker ends",
		m.Until.UTC().Format(time.RFC3339))
}

// Narrow returns a start with what its maker may do when it comes due, but no more than it was asked for with.
func Narrow(r wire.StartRequest, a wire.Actor, rights wire.Rights) (wire.StartRequest, wire.Actor) {
	r.Scopes = both(r.Scopes, rights.Scopes)
	r.MayNotStop = r.MayNotStop || rights.MayNotStop
	a.OwnOnly = a.OwnOnly || rights.OwnOnly
	return r, a
}

// Only returns the bound that keeps these scopes.
func Only(scopes []string) func(r wire.Rights) wire.Rights {
	return func(r wire.Rights) wire.Rights {
		r.Scopes = both(r.Scopes, scopes)
		return r
	}
}

// both returns the scopes that are in both lists, in the order of the first.
func both(scopes, others []string) []string {
	return slices.DeleteFunc(slices.Clone(scopes), func(scope string) bool { return !slices.Contains(others, scope) })
}

// StoreTime returns the time of a store, by which rights end.
func StoreTime(ctx context.Context, s store.Store, tenant spool.Tenant) (now time.Time, err error) {
	err = s.View(ctx, spool.ThreadKey{Tenant: tenant}, func(v store.View) error {
		now = v.Now()
		return nil
	})
	return now, err
}

func (l Lookup) bounds(m wire.Maker) bool { return m.Kind == wire.MakerPrincipal && l.Bound != nil }

func ended(m wire.Maker, at time.Time) bool { return !m.Until.IsZero() && !at.Before(m.Until) }
