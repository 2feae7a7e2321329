package artifact

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Sweep implements [store.ArtifactSweeper]. It removes
//   - data whose artifacts were removed, and that could not be deleted,
//   - artifacts of threads that were deleted,
//   - uploads without an artifact, and artifacts of threads that do not exist, that are older than [Options.Age].
//
// It goes on after an error. Any number of processes may sweep at once.
func (s *Store) Sweep(ctx context.Context) error {
	return each(ctx, s, "", kindTenant, func(r row[nothing]) error {
		return s.sweep(ctx, spool.Tenant(strings.TrimPrefix(r.Key, tenantKey(""))))
	})
}

func (s *Store) sweep(ctx context.Context, tenant spool.Tenant) error {
	var old time.Time // what was written before is old
	err := s.store.View(ctx, spool.ThreadKey{Tenant: tenant}, func(v store.View) error {
		old = v.Now().Add(-s.options.Age)
		return nil
	})
	if err != nil {
		return err
	}
	uploads := each(ctx, s, tenant, kindUpload, func(r row[uploadRow]) error {
		if !r.At.Before(old) {
			return nil
		}
		return s.abandon(ctx, tenant, r.Key)
	})
	garbage := each(ctx, s, tenant, kindGarbage, func(r row[garbageRow]) error {
		if r.Value.Late && !r.At.Before(old) {
			return nil
		}
		return s.discard(ctx, tenant, r.Key)
	})
	threads := each(ctx, s, tenant, kindCheck, func(r row[nothing]) error { return s.check(ctx, tenant, r, old) })
	return errors.Join(uploads, garbage, threads)
}

// abandon makes the data of an upload garbage.
func (s *Store) abandon(ctx context.Context, tenant spool.Tenant, generation string) error {
	return s.update(ctx, tenant, func() ([]store.Row, error) {
		up, err := read[uploadRow](ctx, s, tenant, kindUpload, generation)
		if err != nil || !up.exists() {
			return nil, err
		}
		return s.drop(ctx, tenant, up, false)
	})
}

// check removes the artifacts that a thread does not have any more, and the mark of a thread that exists.
func (s *Store) check(ctx context.Context, tenant spool.Tenant, mark row[nothing], old time.Time) error {
	if err := s.reap(ctx, tenant, mark.Key); err != nil {
		return err
	}
	thread, err := read[threadRow](ctx, s, tenant, kindThread, mark.Key)
	if err != nil || thread.Value.Epoch == "" || !mark.At.Before(old) || !thread.At.Before(old) {
		return err // a start saves its attachments before it makes its thread, so a young thread may not exist yet
	}
	key := spool.ThreadKey{Tenant: tenant, ID: thread.Value.Thread}
	err = s.store.Update(ctx, key, 0, func(tx store.Tx) error {
		rows := []store.Row{mark.remove()}
		if _, err := tx.Thread(); spool.CodeOf(err) == spool.NotFound {
			rows = retire(thread)
		} else if err != nil {
			return err
		}
		return tx.Write(store.Changes{Rows: rows})
	})
	switch {
	case errors.Is(err, store.ErrRowChanged): // the next sweep looks at it again
		return nil
	case err != nil:
		return err
	}
	return s.reap(ctx, tenant, mark.Key)
}
