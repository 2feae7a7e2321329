package artifact_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact"
	"github.com/spoolhq/spool/artifact/rows"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// brokenStore is a store in which a transaction after the deletion of a thread fails while it is broken.
type brokenStore struct {
	store.Store

	broken *atomic.Bool
}

func (s brokenStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	if s.broken.Load() {
		return &spool.Error{Code: spool.Unavailable, Message: "it is broken", Err: errors.New("a planned fault")}
	}
	return s.Store.Update(ctx, key, fence, fn)
}

// The store of artifacts fails while an engine deletes a thread. The artifacts are gone at once, a thread with the same
// id keeps its new ones, and the engine's worker removes the old data.
func TestEngineDeletes(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ctx, chat := t.Context(), spool.ThreadKey{Tenant: "acme", ID: "chat"}
		backend, broken := memory.New(nil), &atomic.Bool{}
		blobs, err := rows.New(backend.Store, nil)
		if err != nil {
			t.Fatal(err)
		}
		artifacts, err := artifact.New(brokenStore{backend.Store, broken}, blobs, &artifact.Options{Quota: 100})
		if err != nil {
			t.Fatal(err)
		}
		e, err := engine.New(backend, engine.Config{
			Agents: []spool.Agent{{Name: "main", Model: "m"}}, Models: map[string]spool.Model{"m": spooltest.NewModel()},
			Artifacts: artifacts, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		begin := func() {
			t.Helper()
			if err := backend.Store.Update(ctx, chat, 0, func(tx store.Tx) error {
				return tx.Write(store.Changes{Thread: &wire.Thread{Tenant: chat.Tenant, ID: chat.ID, State: wire.Idle}})
			}); err != nil {
				t.Fatal(err)
			}
		}
		upload := func(text string) {
			t.Helper()
			if _, err := e.SaveArtifact(ctx, chat, spool.NewArtifact{Data: strings.NewReader(text)}); err != nil {
				t.Fatal(err)
			}
		}
		texts := func() string {
			t.Helper()
			var all strings.Builder
			list, err := e.Artifacts(ctx, chat)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range list {
				_, data, err := e.OpenArtifact(ctx, chat, a.ID)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(data)
				if err != nil {
					t.Fatal(err)
				}
				all.Write(text)
			}
			return all.String()
		}
		stored := func(kind string) int {
			t.Helper()
			all, err := backend.Store.Rows(ctx, store.RowQuery{Kind: kind, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		begin()
		upload("old data")
		broken.Store(true)
		if result, err := e.DeleteThread(ctx, chat); err != nil || !result.Accepted {
			t.Fatalf("delete: %+v, %v", result, err)
		}
		broken.Store(false)
		begin()
		if got := texts(); got != "" {
			t.Errorf("the thread is made again with %q", got)
		}
		upload("new data")
		if n := stored("blob"); n != 2 {
			t.Errorf("%d blobs are stored", n)
		}
		working, cancel := context.WithCancel(ctx)
		worked := make(chan error, 1)
		go func() { worked <- e.Work(working, engine.WorkOptions{}) }()
		synctest.Wait()
		if got := texts(); got != "new data" || stored("blob") != 1 {
			t.Errorf("the thread has %q, and %d blobs are stored", got, stored("blob"))
		}
		if n, err := artifacts.Bytes(ctx, chat.Tenant); err != nil || n != int64(len("new data")) {
			t.Errorf("the tenant has %d bytes, %v", n, err)
		}
		cancel()
		if err := <-worked; err != nil {
			t.Error(err)
		}
		if result, err := e.Prune(ctx, wire.PruneOptions{Before: time.Now().Add(time.Hour)}); err != nil ||
			len(result.Threads) != 1 {
			t.Errorf("prune: %+v, %v", result, err)
		}
		if n, err := artifacts.Bytes(ctx, chat.Tenant); err != nil || n != 0 || stored("blob")+stored("blob_part") != 0 {
			t.Errorf("the tenant has %d bytes, %v, and there are %d blobs", n, err, stored("blob"))
		}
	})
}
