package artifact

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
)

// brokenStore is a store that artifacts cannot be removed from while it is broken.
type brokenStore struct {
	spool.Store

	broken *atomic.Bool
}

func (s brokenStore) Rows(ctx context.Context, q spool.RowQuery) ([]spool.Row, error) {
	if s.broken.Load() {
		return nil, &spool.Error{Code: spool.Unavailable, Message: "it is broken", Err: errors.New("a planned fault")}
	}
	return s.Store.Rows(ctx, q)
}

// The store of artifacts fails while an engine deletes a thread. The artifacts are gone at once, a thread with the same
// id keeps its new ones, and the engine's worker removes the old data.
func TestEngineDeletes(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		backend, broken := memory.New(nil), &atomic.Bool{}
		blobs := newBlobs(t)
		artifacts, err := New(brokenStore{backend.Store, broken}, blobs, &Options{Quota: 100})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, Store: artifacts, rows: backend.Store, data: blobs}
		e, err := engine.New(backend, engine.Config{
			Agents: []engine.Agent{{Name: "main", Model: "m"}}, Models: map[string]spool.Model{"m": spooltest.NewModel()},
			Artifacts: artifacts, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		w.make(chat)
		upload := func(text string) {
			t.Helper()
			if _, err := e.SaveArtifact(t.Context(), chat, spool.NewArtifact{Data: strings.NewReader(text)}); err != nil {
				t.Fatal(err)
			}
		}
		upload("old data")
		broken.Store(true)
		if result, err := e.DeleteThread(t.Context(), chat); err != nil || !result.Accepted {
			t.Fatalf("delete: %+v, %v", result, err)
		}
		broken.Store(false)
		w.make(chat)
		if got := w.texts(chat); got != "" {
			t.Errorf("the thread is made again with %q", got)
		}
		upload("new data")
		if n := len(blobs.keys()); n != 2 {
			t.Errorf("%d blobs are stored", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		worked := make(chan error, 1)
		go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
		synctest.Wait()
		if got := w.texts(chat); got != "new data" {
			t.Errorf("the thread has %q", got)
		}
		w.agrees(chat.Tenant)
		cancel()
		if err := <-worked; err != nil {
			t.Error(err)
		}
		if result, err := e.Prune(t.Context(), engine.PruneOptions{Before: time.Now().Add(time.Hour)}); err != nil || len(result.Threads) != 1 {
			t.Errorf("prune: %+v, %v", result, err)
		}
		w.empty(chat.Tenant)
	})
}
