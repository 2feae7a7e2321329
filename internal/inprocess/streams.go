package inprocess

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
)

// DefaultMaxBytes is the budget of streams that are given none.
const DefaultMaxBytes = 256 << 20

// Streams are [spool.Streams] within a budget of bytes. When they outgrow it, the
// stream that ended first is removed; when none has ended, the one that was opened
// first, whose writer is then told that it is gone.
//
// An id whose stream was removed is forgotten, so that it can be opened again.
type Streams struct {
	max   int64
	bytes atomic.Int64

	// mu guards what follows. It is taken before a stream's own lock.
	mu      sync.RWMutex
	threads map[spool.ThreadKey]map[spool.StreamID]*stream
	// open and ended hold each stream in one of them, the oldest in front.
	open, ended *list.List
}

var _ spool.Streams = (*Streams)(nil)

// NewStreams returns streams that take up to maxBytes. Zero: [DefaultMaxBytes].
func NewStreams(maxBytes int64) *Streams {
	if maxBytes <= 0 {
		maxBytes = DefaultMaxBytes
	}
	return &Streams{
		max:     maxBytes,
		threads: make(map[spool.ThreadKey]map[spool.StreamID]*stream),
		open:    list.New(),
		ended:   list.New(),
	}
}

// Open makes an empty stream.
func (s *Streams) Open(ctx context.Context, key spool.StreamKey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.threads[key.Thread][key.ID]; st != nil {
		return st.reopen()
	}
	if s.threads[key.Thread] == nil {
		s.threads[key.Thread] = make(map[spool.StreamID]*stream)
	}
	st := &stream{key: key, size: streamOverhead}
	st.at = s.open.PushBack(st)
	s.threads[key.Thread][key.ID] = st
	s.bytes.Add(st.size)
	s.shrink(st)
	return nil
}

// Append adds items, all or none.
func (s *Streams) Append(ctx context.Context, key spool.StreamKey, items []spool.Item) error {
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
func (s *Streams) Read(ctx context.Context, key spool.StreamKey, after spool.Offset, limit int) (spool.StreamPage, error) {
	st, err := s.find(ctx, key)
	if err != nil {
		return spool.StreamPage{}, err
	}
	return st.read(after, limit)
}

// Close appends the last item and removes the stream once grace has passed.
func (s *Streams) Close(ctx context.Context, key spool.StreamKey, end spool.Item, grace time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.threads[key.Thread][key.ID]
	if st == nil {
		return spool.ErrStreamGone
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
	st.timer = time.AfterFunc(first, func() { s.rest(st, grace-first) })
	s.shrink(nil)
	return nil
}

// packAfter is how long a stream that has ended stays as it is, for those who follow it.
const packAfter = 500 * time.Millisecond

// rest packs a stream that has ended, and removes it once what is left of its grace has passed.
func (s *Streams) rest(st *stream, grace time.Duration) {
	s.mu.Lock()
	if grace <= 0 {
		s.remove(st)
		s.mu.Unlock()
		return
	}
	if s.threads[st.key.Thread][st.key.ID] == st {
		st.timer = time.AfterFunc(grace, func() { s.rest(st, 0) })
	}
	s.mu.Unlock()
	s.bytes.Add(-st.pack())
}

// Delete removes all streams of a thread, at once.
func (s *Streams) Delete(ctx context.Context, thread spool.ThreadKey) error {
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

// Bytes returns how much of the budget is taken.
func (s *Streams) Bytes() int64 { return s.bytes.Load() }

func (s *Streams) find(ctx context.Context, key spool.StreamKey) (*stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if st := s.threads[key.Thread][key.ID]; st != nil {
		return st, nil
	}
	return nil, spool.ErrStreamGone
}

// shrink removes streams until the rest fits the budget, but not keep. The caller holds
// mu.
func (s *Streams) shrink(keep *stream) {
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

// remove is idempotent, as a timer may fire while its stream is being removed. The
// caller holds mu.
func (s *Streams) remove(st *stream) {
	freed, ok := st.kill()
	if !ok {
		return
	}
	// The stream's appends add to bytes after they have let go of its lock, so the sum
	// may be short for a moment. It is never wrong for good.
	s.bytes.Add(-freed)
	if st.timer != nil {
		st.timer.Stop()
	}
	s.open.Remove(st.at)
	s.ended.Remove(st.at)
	streams := s.threads[st.key.Thread]
	delete(streams, st.key.ID)
	if len(streams) == 0 {
		delete(s.threads, st.key.Thread)
	}
}
