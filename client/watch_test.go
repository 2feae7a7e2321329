package client_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/wire"
)

// A watcher sees a run grow from the middle of its text to its end, over a server that is replaced in between, and
// what it shows then is what a new watcher shows.
func TestWatch(t *testing.T) {
	t.Parallel()

	backend := memory.New(nil)
	n := startNode(t, backend, "127.0.0.1:0")
	c := connect(t, n.url())
	ctx := testwait.Context(t, "the views")
	must(c.Run(ctx, client.RunRequest{ThreadID: "t1", Prompt: "slow 300"}))(t)

	var shown *view.Thread
	var texts []string
	frames, retries, restarted := 0, 0, false
	o := client.WatchOptions{OnFrame: func(wire.Frame) { frames++ }, OnRetry: func(error, time.Duration) { retries++ }}
	for v, err := range c.Watch(ctx, "t1", o) {
		if err != nil {
			t.Fatal(err)
		}
		shown = v
		var said strings.Builder
		for _, m := range append(append([]spool.Message(nil), v.Messages()...), v.Drafts()...) {
			if m.Role == spool.RoleAssistant {
				said.WriteString(m.Text())
			}
		}
		text := said.String()
		texts = append(texts, text)
		if len(text) > 200 && !restarted {
			restarted = true
			n.stop(t)
			n = startNode(t, backend, n.address)
		}
		if v.Settled() {
			break
		}
	}
	if !restarted || retries == 0 || frames == 0 {
		t.Errorf("restarted %v, %d retries, %d frames", restarted, retries, frames)
	}
	o2 := await(t, c, shown.Runs()[0].ID)
	if last := texts[len(texts)-1]; last != o2.Text || strings.Count(last, "word 7 ") > 1 {
		t.Errorf("the last view has %q, want %q", last, o2.Text)
	}
	for fresh, err := range c.Watch(ctx, "t1", client.WatchOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(content(said(fresh)), content(said(shown))); diff != "" || fresh.State() != shown.State() {
			t.Errorf("a new watcher shows something else (-new +old):\n%s", diff)
		}
		break
	}
}

// A settled view has the whole answer, whenever the watcher comes.
func TestWatchSettled(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the views")
	for i, prompt := range []string{
		"Hello", "slow 3", `use look with {"at":"x"}`, `use send with {"to":"ann"}`,
		`use look with {"at":"x"} and use send with {"to":"ann"}`,
	} {
		thread := spool.ThreadID(fmt.Sprintf("t%d", i))
		for range 4 {
			started := must(c.Run(ctx, client.RunRequest{ThreadID: thread, Prompt: prompt}))(t)
			answered := 0
			for v, err := range c.Watch(ctx, thread, client.WatchOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				if !v.Settled() {
					continue
				}
				if v.State().Terminal() {
					o := must(c.Outcome(ctx, started.RunID))(t)
					last := v.Messages()[len(v.Messages())-1]
					if o.State != v.State() || last.Role != spool.RoleAssistant || last.Text() != o.Text || len(v.Drafts()) > 0 {
						t.Errorf("%s: settled with %s %q, want %s %q", prompt, v.State(), last.Text(), o.State, o.Text)
					}
					break
				}
				if len(v.Parks()) != 1 {
					t.Errorf("%s: settled in %s with %d questions", prompt, v.State(), len(v.Parks()))
				}
				if p := v.Parks()[0]; answered == 0 {
					answered++
					must(c.Respond(ctx, thread, client.RespondRequest{ToolCallID: p.ToolCallID, Digest: p.Digest, Approved: true}))(t)
				}
			}
		}
	}
}

// A watch ends with the thread, and begins while the server is away.
func TestWatchEnds(t *testing.T) {
	t.Parallel()

	n, c := setup(t)
	ctx := testwait.Context(t, "the views")
	for v, err := range c.Watch(ctx, "nobody", client.WatchOptions{}) {
		wantError(t, err, spool.NotFound, http.StatusNotFound)
		if v != nil {
			t.Error("there is a view of no thread")
		}
	}
	run(t, c, client.RunRequest{ThreadID: "t1", Prompt: "Hello"})
	deleted, connected := false, false
	for v, err := range c.Watch(ctx, "t1", client.WatchOptions{OnFrame: func(wire.Frame) { connected = true }}) {
		switch {
		case err != nil:
			if spool.CodeOf(err) != spool.NotFound || !v.Deleted() {
				t.Errorf("the end: %v, deleted %v", err, v.Deleted())
			}
		case connected && !deleted:
			deleted = true
			must(c.DeleteThread(ctx, "t1"))(t)
		}
	}
	n.stop(t)
	for _, err := range c.Watch(ctx, "t1", client.WatchOptions{GiveUpAfter: 1}) {
		wantError(t, err, spool.Unavailable, 0)
	}
}

// A frame that cannot be applied is read once more from a snapshot, and then is an error.
func TestWatchUnreadable(t *testing.T) {
	t.Parallel()

	n, _ := setup(t)
	broken := 0
	c := connect(t, n.url(), func(o *client.Options) {
		o.HTTPClient.Transport = transport(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/stream") {
				broken++
				e := wire.Entry{ThreadID: "t1", Seq: 99, Type: wire.EntryMessagesDropped, Payload: json.RawMessage(`[]`)}
				text, _ := json.Marshal(wire.Frame{Kind: wire.FrameThread, Event: &e})
				return &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
					Body: io.NopCloser(strings.NewReader("id: 99 - -\ndata: " + string(text) + "\n\n")),
				}, nil
			}
			return http.DefaultTransport.RoundTrip(r)
		})
	})
	run(t, c, client.RunRequest{ThreadID: "t1", Prompt: "Hello"})
	views := 0
	var last error
	for _, err := range c.Watch(testwait.Context(t, "the views"), "t1", client.WatchOptions{}) {
		last = err
		views++
	}
	if spool.CodeOf(last) != spool.Internal || broken != 2 || views != 3 {
		t.Errorf("%v after %d connections and %d views", last, broken, views)
	}
}

// transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
