package artifact

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// memoryBlobs is a [store.Blobs] in memory, which refuses what the contract forbids.
type memoryBlobs struct {
	t *testing.T
	// before is called before each call, if it is set, with the name of the method.
	before func(method string)

	mu      sync.Mutex
	all     map[string][]byte
	deleted map[string]bool
}

func newBlobs(t *testing.T) *memoryBlobs {
	t.Helper()
	return &memoryBlobs{t: t, before: func(string) {}, all: make(map[string][]byte), deleted: make(map[string]bool)}
}

func (b *memoryBlobs) PutBlob(_ context.Context, key string, data io.Reader, size int64) error {
	b.mu.Lock()
	again := b.deleted[key]
	b.mu.Unlock()
	b.before("put")
	text, err := io.ReadAll(data)
	if err != nil || int64(len(text)) != size {
		return spool.Errorf(spool.Invalid, "%d bytes, want %d: %v", len(text), size, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.all[key]; again || ok && !bytes.Equal(old, text) || len(key) > 200 {
		b.t.Errorf("the key %s is used again", key)
	}
	b.all[key] = text
	return nil
}

func (b *memoryBlobs) OpenBlob(_ context.Context, key string) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, ok := b.all[key]
	if !ok {
		return nil, spool.Errorf(spool.NotFound, "no such blob")
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

func (b *memoryBlobs) DeleteBlob(_ context.Context, key string) error {
	b.before("delete")
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, key)
	b.deleted[key] = true
	return nil
}

func (b *memoryBlobs) keys() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	keys := make([]string, 0, len(b.all))
	for key := range b.all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// fault is what goes wrong with one call.
type fault int

const (
	failBefore fault = iota + 1
	failAfter
	crashBefore
	crashAfter
)

var errPlanned = spool.Wrap(spool.Unavailable, "it is not available", errors.New("a planned fault"))

// process is the part of the world that one process sees. Its n-th call of the store or the blobs has the fault, and
// after a crash it reaches neither.
type process struct {
	mu    sync.Mutex
	n     int
	fault fault
	calls int
	dead  bool
	log   []string
}

func (p *process) call(name string, do func() error) error {
	p.mu.Lock()
	p.calls++
	p.log = append(p.log, name)
	hit := fault(0)
	if p.calls == p.n {
		hit = p.fault
	}
	dead := p.dead
	p.dead = p.dead || hit == crashBefore || hit == crashAfter
	p.mu.Unlock()
	if dead || hit == failBefore || hit == crashBefore {
		return errPlanned
	}
	if err := do(); err != nil {
		return err
	}
	if hit != 0 {
		return errPlanned
	}
	return nil
}

// processStore is the store as the process reaches it.
type processStore struct {
	store.Store

	process *process
}

func (s processStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	return s.process.call("update", func() error { return s.Store.Update(ctx, key, fence, fn) })
}

func (s processStore) View(ctx context.Context, key spool.ThreadKey, fn func(store.View) error) error {
	return s.process.call("view", func() error { return s.Store.View(ctx, key, fn) })
}

func (s processStore) Rows(ctx context.Context, q store.RowQuery) (rows []store.Row, err error) {
	err = s.process.call("rows of "+q.Kind, func() error {
		rows, err = s.Store.Rows(ctx, q)
		return err
	})
	return rows, err
}

// processBlobs are the blobs as the process reaches them.
type processBlobs struct {
	*memoryBlobs

	process *process
}

func (b processBlobs) PutBlob(ctx context.Context, key string, data io.Reader, size int64) error {
	return b.process.call("put", func() error { return b.memoryBlobs.PutBlob(ctx, key, data, size) })
}

func (b processBlobs) DeleteBlob(ctx context.Context, key string) error {
	return b.process.call("delete", func() error { return b.memoryBlobs.DeleteBlob(ctx, key) })
}
