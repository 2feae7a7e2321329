package inprocess

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// DefaultMaxBytes is the default budget of streams.
const DefaultMaxBytes = 256 << 20

// streams are the run streams of a [Live].
type streams struct {
	max   int64
	bytes atomic.Int64

	// mu guards the fields below. It is locked before a stream's own lock.
	mu      sync.RWMutex
	threads map[spool.ThreadKey]map[wire.StreamID]*stream
	// open and ended contain each stream once, the oldest first.
	open, ended *list.List
}

func newStreams(maxBytes int64) *streams {
	if maxBytes <= 0 {
		maxBytes = DefaultMaxBytes
	}
	return &streams{
		max:     maxBytes,
		threads: make(map[spool.ThreadKey]map[wire.StreamID]*stream),
		open:    list.New(),
		ended:   list.New(),
	}
}

// Open creates an empty stream.
func (s *streams) Open(ctx context.Context, key store.StreamKey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.threads[key.Thread][key.ID]; st != nil {
		return st.reopen()
	}
	if s.threads[key.Thread] == nil {
		s.threads[key.Thread] = make(map[wire.StreamID]*stream)
	}
	st := &stream{key: key, size: streamOverhead}
	st.at = s.open.PushBack(st)
	s.threads[key.Thread][key.ID] = st
	s.bytes.Add(st.size)
	s.shrink(st)
	return nil
}

// Append adds all items or none.
func (s *streams) Append(ctx context.Context, key store.StreamKey, items []wire.Item) error {
	st, err := s.find(ctx, key)
	if err != nil {
		return err
	}
	grown, err := st.append(items)
	if err != nil {
		return err
	}
	if s.bytes.Add(grown) > s.max {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.shrink(nil)
	}
	return nil
}

// Read returns items that share the stream's memory.
func (s *streams) Read(
	ctx context.Context, key store.StreamKey, after wire.Offset, limit int,
) (store.StreamPage, error) {
	st, err := s.find(ctx, key)
	if err != nil {
		return store.StreamPage{}, err
	}
	return st.read(after, limit)
}

// Close appends the last item and removes the stream once grace has passed.
func (s *streams) Close(ctx context.Context, key store.StreamKey, end wire.Item, grace time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.threads[key.Thread][key.ID]
	if st == nil {
		return store.ErrStreamGone
	}
	grown, closed := st.close(end)
	if !closed {
		return nil
	}
	s.open.Remove(st.at)
	st.at = s.ended.PushBack(st)
	s.bytes.Add(grown)
	if grace <= 0 {
		s.remove(st)
		return nil
	}
	first := min(grace, packAfter)
	st.timer = time.AfterFunc(first, func() { s.retire(st, grace-first) })
	s.shrink(nil)
	return nil
}

// packAfter is how long an ended stream stays unpacked, for clients that still follow it.
const packAfter = 500 * time.Millisecond

// retire packs an ended stream, and removes the stream after its grace.
func (s *streams) retire(st *stream, grace time.Duration) {
	s.mu.Lock()
	if grace <= 0 {
		s.remove(st)
		s.mu.Unlock()
		return
	}
	if s.threads[st.key.Thread][st.key.ID] == st {
		st.timer = time.AfterFunc(grace, func() { s.retire(st, 0) })
	}
	s.mu.Unlock()
	s.bytes.Add(-st.pack())
}

// Delete removes all streams of a thread, at once.
func (s *streams) Delete(ctx context.Context, thread spool.ThreadKey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.threads[thread] {
		s.remove(st)
	}
	return nil
}

// Bytes returns how many bytes of the budget are used.
func (s *streams) Bytes() int64 { return s.bytes.Load() }

func (s *streams) find(ctx context.Context, key store.StreamKey) (*stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if st := s.threads[key.Thread][key.ID]; st != nil {
		return st, nil
	}
	return nil, store.ErrStreamGone
}

// shrink removes streams other than keep until the rest fits the budget. The caller must hold mu.
func (s *streams) shrink(keep *stream) {
	for s.bytes.Load() > s.max {
		oldest := s.ended.Front()
		if oldest == nil {
			oldest = s.open.Front()
		}
		if oldest == nil || oldest.Value == keep {
			return
		}
		s.remove(oldest.Value.(*stream)) //nolint:errcheck // the lists hold nothing else
	}
}

// remove removes a stream. It may be called again, because a timer may fire while its stream is being
// removed. The caller must hold mu.
func (s *streams) remove(st *stream) {
	freed, ok := st.kill()
	if !ok {
		return
	}
	// Appends of the stream change bytes after they have released its lock, so the sum may be too low
	// for a moment, but never for good.
	s.bytes.Add(-freed)
	if st.timer != nil {
		st.timer.Stop()
	}
	s.open.Remove(st.at)
	s.ended.Remove(st.at)
	left := s.threads[st.key.Thread]
	delete(left, st.key.ID)
	if len(left) == 0 {
		delete(s.threads, st.key.Thread)
	}
}
