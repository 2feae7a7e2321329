package engine_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// onePixel is the data of a GIF.
const onePixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01D\x00;"

// The engine fetches an image once for all steps, and the thread keeps the URL. When the image is gone,
// the thread goes on without it, and a run whose prompt has it fails.
func TestFetchedImages(t *testing.T) {
	t.Parallel()

	var fetched atomic.Int32
	var gone atomic.Bool
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched.Add(1)
		if gone.Load() {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(onePixel))
	}))
	defer host.Close()

	m := spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "nothing"}), spooltest.Say("a pixel"))
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents:      []spool.Agent{{Name: "a", Model: "m"}},
		Models:      map[string]spool.Model{"m": m},
		Attachments: option.Attachments{Fetch: true, Egress: egress.Policy{Allow: []string{"127.0.0.1"}}},
		Log:         slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}
	run := func(id spool.RunID, prompt string, images ...wire.Attachment) wire.Run {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if r, err := e.Run(ctx, key, wire.StartRequest{Prompt: prompt, RunID: id, Attachments: images}); err != nil ||
			!r.Accepted {
			t.Fatalf("start: %+v, %v", r, err)
		}
		if _, err := e.HandleJob(ctx, wire.Job{Tenant: key.Tenant, ThreadID: key.ID, RunID: id, Agent: "a"}); err != nil {
			t.Fatal(err)
		}
		snap, err := e.Snapshot(ctx, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		return snap.Runs[0]
	}
	url := host.URL + "/a?sig=s3cret"
	asked := func() spool.Part { return m.Requests()[m.Asked()-1].Messages[0].Content[1] }

	if r := run("r1", "what is this?", wire.Attachment{URL: url}); r.State != wire.Completed {
		t.Fatalf("the run: %+v", r)
	}
	if p := asked(); !strings.HasPrefix(p.Image, "data:image/gif;base64,R0lGODlh") || p.MIMEType != "image/gif" ||
		m.Asked() != 2 || fetched.Load() != 1 {
		t.Errorf("the model got %+v in %d steps of %d fetches", p, m.Asked(), fetched.Load())
	}
	snap, err := e.Snapshot(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := snap.Messages[0].Content[1]; p.Image != url || p.MIMEType != "" {
		t.Errorf("the thread keeps %+v", p)
	}

	gone.Store(true)
	if r := run("r2", "and now?"); r.State != wire.Completed {
		t.Errorf("a later run: %+v", r)
	}
	if p := asked(); p.Type != spool.PartText || !strings.Contains(p.Text, "not available") {
		t.Errorf("the model got %+v", p)
	}
	r := run("r3", "what is this?", wire.Attachment{URL: url})
	if r.State != wire.Failed || r.Error != "the image of 127.0.0.1 answers with 404 Not Found" {
		t.Errorf("a run whose image is gone: %+v", r)
	}
}
