package httptool_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/spooltest"
	httptool "github.com/spoolhq/spool/tool/http"
	"github.com/spoolhq/spool/wire"
)

// TestUnknownOutcomeAsks has an endpoint break the connection of a call. A person is asked, and allows the
// call again, which has the same id.
func TestUnknownOutcomeAsks(t *testing.T) {
	t.Parallel()

	var requests atomic.Int32
	ids := make(chan string, 4)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		ids <- r.Header.Get("Webhook-Id")
		if requests.Add(1) == 1 {
			cut(w)
		}
	})
	post := open(t, httptool.Config{
		URL: s.URL, Egress: loopback, SigningSecrets: []string{newSecret},
		Retry: httptool.Retry{Attempts: 3, Backoff: time.Millisecond},
	})
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m", Tools: []spool.Tool{post}}},
		Models: map[string]spool.Model{
			"m": spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "post"}), spooltest.Say("done")),
		},
		Log: slog.New(slog.DiscardHandler), Worker: option.Worker{Poll: 10 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	defer func() {
		cancel()
		if err := testwait.For(t, worked, "the end of the worker"); err != nil {
			t.Error(err)
		}
	}()
	key := spool.ThreadKey{Tenant: "acme", ID: "chat"}
	if r, err := e.Run(ctx, key, wire.StartRequest{Prompt: "go", RunID: "r1"}); err != nil || !r.Accepted {
		t.Fatal(r, err)
	}
	asked := false
	for f, err := range e.Follow(ctx, key, wire.FollowOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Event == nil {
			continue
		}
		if f.Event.Type == wire.EntryInputRequired {
			asked = true
			if r, err := e.Respond(ctx, key, wire.Response{ToolCallID: "c1", Approved: true}); err != nil || !r.Delivered {
				t.Fatal(r, err)
			}
		}
		if f.Event.Type == wire.EntryRunEnded && asked {
			break
		}
	}
	if first, second := testwait.For(t, ids, "the first request"),
		testwait.For(t, ids, "the second request"); requests.Load() != 2 || first != second {
		t.Errorf("%d requests, with the ids %s and %s", requests.Load(), first, second)
	}
}
