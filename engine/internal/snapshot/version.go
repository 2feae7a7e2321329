package snapshot

import (
	"bytes"
	"context"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	records "github.com/spoolhq/spool/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Record returns the record of a thread as a file. It bounds memory as [Snapshots.Encoded] does, and does not share
// the bytes.
func (s *Snapshots) Record(ctx context.Context, key spool.ThreadKey) (*wire.EncodedSnapshot, error) {
	state, err := s.sharing.alone(ctx, func() (*encodedState, error) {
		r, err := s.recordOf(ctx, key)
		if err != nil {
			return nil, err
		}
		var file bytes.Buffer
		if _, err := r.WriteTo(&file); err != nil {
			return nil, spool.Wrap(spool.Internal, "a record cannot be encoded", err)
		}
		return &encodedState{list: &encodedList{}, head: file.Bytes()}, nil
	})
	if err != nil {
		return nil, err
	}
	release := sync.OnceFunc(func() { s.sharing.release(state) })
	return &wire.EncodedSnapshot{Pieces: [][]byte{state.head}, Size: int64(len(state.head)), OnRelease: release}, nil
}

// At returns the snapshot of a thread at the version that choose returns.
func (s *Snapshots) At(
	ctx context.Context, key spool.ThreadKey, choose func(r *records.Record) (version int64, err error),
) (*wire.Snapshot, error) {
	release, err := s.sharing.work(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	r, err := s.recordOf(ctx, key)
	if err != nil {
		return nil, err
	}
	version, err := choose(r)
	if err != nil {
		return nil, err
	}
	return r.At(version)
}

// recordOf reads the record of a thread that the actor may see.
func (s *Snapshots) recordOf(ctx context.Context, key spool.ThreadKey) (r *records.Record, err error) {
	err = s.own.store.View(ctx, key, func(v store.View) (err error) {
		r, err = records.Of(v)
		return err
	})
	return r, record.NotFound(err)
}
