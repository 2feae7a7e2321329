// Package snapshot makes the snapshots of threads. A snapshot is all that a client needs to show a
// thread and to follow it from there. It is a Go value, JSON, or the form of another protocol.
//
// Clients that ask for the JSON or a form at the same time share one read of the thread and its bytes.
// The package bounds how many threads are read at once and how much memory the bytes use.
//
// It reads the store and the run streams, and writes neither. It imports the root package and
// engine/internal/record.
package snapshot

import (
	"context"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Sources is where the data of snapshots comes from.
type Sources struct {
	// Own is the store, restricted to what the actor of a context may see.
	Own record.Viewer
	// Shared is the unrestricted store. Several callers share what is read from it, and CheckOwner is
	// called for each of them.
	Shared record.Viewer
	// CheckOwner returns a [spool.NotFound] error for a thread that the actor of the context must not
	// see.
	CheckOwner func(ctx context.Context, key spool.ThreadKey) error
	Streams    Streams
	// Memory bounds the bytes of shared snapshots that are kept or being sent.
	Memory int64
}

// Snapshots makes the snapshots of threads. It is safe for concurrent use.
type Snapshots struct {
	own, shared reader
	checkOwner  func(ctx context.Context, key spool.ThreadKey) error
	sharing     *sharing
}

// New returns Snapshots that read from the sources. The caller must call Close.
func New(s Sources) *Snapshots {
	shared := reader{s.Shared, s.Streams}
	return &Snapshots{
		own: reader{s.Own, s.Streams}, shared: shared, checkOwner: s.CheckOwner, sharing: newSharing(shared.extend, s.Memory),
	}
}

// Close stops the timer that removes kept messages.
func (s *Snapshots) Close() { s.sharing.close() }

// Snapshot returns a snapshot that is not shared with other callers.
func (s *Snapshots) Snapshot(ctx context.Context, key spool.ThreadKey, o wire.SnapshotOptions) (*wire.Snapshot, error) {
	release, err := s.sharing.work(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	snap := &wire.Snapshot{}
	err = s.own.read(ctx, key, snap, func(v store.View) (err error) {
		snap.Messages, err = v.Messages(store.MessageQuery{After: o.LastMessageID, Before: o.Before, Limit: o.Limit})
		return err
	})
	if err != nil {
		return nil, err
	}
	snap.Messages = record.NonNil(snap.Messages)
	return snap, nil
}

// Encoded returns a snapshot as JSON, which callers share, and the facts that a follower needs: the
// thread, the cursor, the stream's end, and the messages after the last entry.
func (s *Snapshots) Encoded(
	ctx context.Context, key spool.ThreadKey, o wire.SnapshotOptions,
) (*wire.EncodedSnapshot, *wire.Snapshot, error) {
	state, err := s.get(ctx, key, func() (*sharedState, error) { return s.selected(ctx, key, o) })
	if err != nil {
		return nil, nil, err
	}
	messages := state.list.cut(o)
	pieces := make([][]byte, 0, len(messages)+2)
	pieces = append(append(append(pieces, state.head), messages...), state.tail)
	size := int64(0)
	for _, p := range pieces {
		size += int64(len(p))
	}
	release := sync.OnceFunc(func() { s.sharing.release(state) })
	return &wire.EncodedSnapshot{Pieces: pieces, Size: size, OnRelease: release}, state.envelope, nil
}

// Formed returns a snapshot in another form, which callers share.
func (s *Snapshots) Formed(
	ctx context.Context, key spool.ThreadKey, form wire.SnapshotForm,
) (*wire.FormedSnapshot, error) {
	state, err := s.get(ctx, key, func() (*sharedState, error) { return s.sharing.get(ctx, threadForm{key, form}) })
	if err != nil {
		return nil, err
	}
	return &wire.FormedSnapshot{
		Snapshot: state.envelope, FormedMessages: state.list, Shared: state.shared,
		OnRelease: sync.OnceFunc(func() { s.sharing.release(state) }),
	}, nil
}

// get returns a shared state to a caller that may see the thread. It checks the owner before and after
// the read, because the thread may be deleted meanwhile, and created again by another subject.
func (s *Snapshots) get(
	ctx context.Context, key spool.ThreadKey, get func() (*sharedState, error),
) (*sharedState, error) {
	if err := s.checkOwner(ctx, key); err != nil {
		return nil, err
	}
	state, err := get()
	if err != nil {
		return nil, err
	}
	if err := s.checkOwner(ctx, key); err != nil {
		s.sharing.release(state)
		return nil, err
	}
	return state, nil
}

// selected returns a state that has at least the messages that o selects. For a page of a thread whose
// messages are not kept, it reads only that page.
func (s *Snapshots) selected(ctx context.Context, key spool.ThreadKey, o wire.SnapshotOptions) (*sharedState, error) {
	if all := (threadForm{ThreadKey: key}); o.Limit == 0 || s.sharing.has(all) {
		return s.sharing.get(ctx, all)
	}
	return s.sharing.alone(ctx, func() (*encodedState, error) {
		return s.shared.encode(ctx, key, func(v store.View, thread wire.Thread) (*encodedList, error) {
			return listPage(v, thread, o)
		})
	})
}
