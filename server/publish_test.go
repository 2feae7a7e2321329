package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

func (b *bundle) publish(t *testing.T, fields string) answer {
	t.Helper()
	return b.as(t, tokenA, http.MethodPost, eventsPath, `{"threadId":"t1",`+fields+`}`)
}

// A live event reaches who follows and nobody else, a durable one the record, and AG-UI has
// both as CUSTOM.
func TestPublish(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	watch, _ := waiting(t, b)
	agui := b.stream(t, call{path: streamPath + "?wireFormat=ag-ui&threadId=t1", token: tokenA})
	for { // until it follows
		m, ok := agui.next(t)
		if !ok {
			t.Fatal("the AG-UI stream has ended")
		}
		if strings.Contains(m.raw, `"RUN_FINISHED"`) {
			break
		}
	}
	if got := b.publish(t, `"type":"note","payload":{"kept":[1,null]},"durable":true`); got.status != http.StatusOK ||
		got.body != `{"accepted":true,"seq":4}` {
		t.Errorf("a durable event: %d %s", got.status, got.body)
	}
	if got := b.publish(t, `"type":"ping"`); got.status != http.StatusAccepted || got.body != `{"accepted":true}` {
		t.Errorf("a live event: %d %s", got.status, got.body)
	}
	var note, ping string
	for note == "" || ping == "" {
		m, ok := watch.next(t)
		switch {
		case !ok:
			t.Fatal("the stream has ended")
		case entry("note")(m):
			note = m.raw
		case entry("ping")(m):
			ping = m.raw
			if m.id != "" || m.frame.Event.Seq != 0 || string(m.frame.Event.Payload) != "null" {
				t.Errorf("a live event with the id %q: %s", m.id, m.raw)
			}
		}
	}
	if !strings.Contains(note, `"seq":4,"type":"note","payload":{"kept":[1,null]},`) {
		t.Errorf("the entry: %s", note)
	}
	for _, event := range []string{note, ping} {
		if !strings.Contains(event, `"publishedBy":"anna"`) {
			t.Errorf("nobody has published %s", event)
		}
	}
	page := reads[wire.EventPage](t, b, eventsPath+"?threadId=t1")
	if len(page.Events) != 1 || page.Next != 0 || page.Events[0].Seq != 4 || page.Events[0].PublishedBy != "anna" {
		t.Errorf("the list of events: %+v", page)
	}
	if page = reads[wire.EventPage](t, b, eventsPath+"?threadId=t1&after=4"); len(page.Events) != 0 {
		t.Errorf("the list behind the last event: %+v", page)
	}
	history := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body
	if !strings.Contains(history, `"type":"note"`) || strings.Contains(history, `"type":"ping"`) {
		t.Errorf("the history: %s", history)
	}
	if got := b.as(t, tokenA, http.MethodPost, controlPath, `{"threadId":"t1"}`); got.status != http.StatusOK {
		t.Errorf("stop: %d %s", got.status, got.body)
	}

	// Between two runs AG-UI has no place for an event: it comes with the next one.
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hi"}`)
	var seen strings.Builder
	for !strings.Contains(
		seen.String(),
		`"CUSTOM","name":"note","value":{"kept":[1,null]},"metadata":{"spool":{"published":true,"publishedBy":"anna"}}`,
	) || !strings.Contains(seen.String(),
		`"CUSTOM","name":"ping","value":null,"metadata":{"spool":{"published":true,"publishedBy":"anna"}}`) {
		m, ok := agui.next(t)
		if !ok {
			t.Fatalf("the AG-UI stream has ended: %s", seen.String())
		}
		seen.WriteString(m.raw)
	}
}

// onceWritten calls written when the client can have read the words, and before the server goes
// on after them.
type onceWritten struct {
	http.ResponseWriter

	words   string
	written func()
}

func (w *onceWritten) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *onceWritten) Write(text []byte) (int, error) {
	n, err := w.ResponseWriter.Write(text)
	if w.written != nil && strings.Contains(string(text), w.words) {
		written := w.written
		w.written = nil
		written()
	}
	return n, err
}

// A live event that is published as soon as an AG-UI client has read where the thread is comes
// with the next run, however slow the server is with what it does after that.
func TestPublishBehindThePreludeOfAGUI(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	waiting(t, b)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.server.ServeHTTP(&onceWritten{w, `"RUN_FINISHED"`, func() {
			if got := b.publish(t, `"type":"ping"`); got.status != http.StatusAccepted {
				t.Errorf("a live event: %d %s", got.status, got.body)
			}
			native := b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA})
			b.publish(t, `"type":"last"`)
			native.until(t, entry("last")) // so the hub has passed on both
		}}, r)
	}))
	t.Cleanup(slow.Close)
	over := *b
	over.url = slow.URL
	agui := over.stream(t, call{path: streamPath + "?wireFormat=ag-ui&threadId=t1", token: tokenA})
	agui.until(t, func(m message) bool { return strings.Contains(m.raw, `"RUN_FINISHED"`) })
	b.as(t, tokenA, http.MethodPost, controlPath, `{"threadId":"t1"}`)
	var seen strings.Builder
	agui.until(t, func(m message) bool {
		seen.WriteString(m.raw)
		return strings.Contains(seen.String(), `"CUSTOM","name":"ping"`) &&
			strings.Contains(seen.String(), `"CUSTOM","name":"last"`)
	})
}

func TestPublishTooLong(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hi"}`)
	before := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body
	for fields, want := range map[string]string{
		`"payload":"` + strings.Repeat("x", spool.MaxLiveEventBytes) +
			`"`: "payload is longer than 6144 bytes, the most of a live event",
		`"durable":true,"payload":"` + strings.Repeat("x", spool.MaxEventBytes) + `"`: "payload is longer than 65536 bytes",
	} {
		if got := b.publish(t, `"type":"note",`+fields); got.status != http.StatusBadRequest || got.body != invalid(want) {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
	if after := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body; after != before {
		t.Errorf("the history was %s, and is %s", before, after)
	}
}
