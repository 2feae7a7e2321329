package server_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

func TestStreamHeaders(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hello"}`)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		res, err := http.DefaultTransport.RoundTrip(b.request(t,
			call{method: method, path: streamPath + "?threadId=t1", token: tokenA}))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		for name, want := range map[string]string{
			"Content-Type":      "text/event-stream; charset=utf-8",
			"Cache-Control":     "no-cache, no-transform",
			"X-Accel-Buffering": "no",
		} {
			if got := res.Header.Get(name); res.StatusCode != http.StatusOK || got != want {
				t.Errorf("%s: %d %s: %q, want %q", method, res.StatusCode, name, got, want)
			}
		}
	}
}

// A client that comes back with any id that it was given gets exactly the frames that it
// lacks, by header and by parameter, with %20 and with a plus sign.
func TestStreamReconnect(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hello there"}`)
	done := entry(wire.EntryRunEnded)
	first := b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA})
	b.work(t)
	all := withID(first.until(t, done))
	if len(all) < 5 {
		t.Fatalf("only %d frames", len(all))
	}
	for i, m := range all[:len(all)-1] {
		for name, c := range map[string]call{
			"Header":  {path: streamPath + "?threadId=t1", header: map[string]string{"Last-Event-ID": m.id}},
			"Percent": {path: streamPath + "?threadId=t1&cursor=" + url.PathEscape(m.id)},
			"Plus":    {path: streamPath + "?threadId=t1&cursor=" + strings.ReplaceAll(m.id, " ", "+")},
			// The header beats the cursor, which beats the bare seq.
			"Both": {path: streamPath + "?threadId=t1&since=99&cursor=99", header: map[string]string{"Last-Event-ID": m.id}},
		} {
			c.token = tokenA
			got := withID(b.stream(t, c).until(t, done))
			if diff := cmp.Diff(raws(all[i+1:]), raws(got)); diff != "" {
				t.Errorf("after %q by %s: -want +got\n%s", m.id, name, diff)
			}
		}
	}
}

func withID(all []message) []message {
	var out []message
	for _, m := range all {
		if m.id != "" {
			out = append(out, m)
		}
	}
	return out
}

func raws(all []message) []string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = m.id + " | " + m.raw
	}
	return out
}

// A malformed cursor is no cursor, and since is used then.
func TestStreamSince(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hello"}`)
	first := withID(b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA}).until(t,
		entry(wire.EntryRunEnded)))
	for name, c := range map[string]struct {
		call call
		want int64
	}{
		"Since":           {call{path: streamPath + "?threadId=t1&since=1"}, 2},
		"MalformedCursor": {call{path: streamPath + "?threadId=t1&since=1&cursor=x"}, 2},
		"MalformedHeader": {
			call{path: streamPath + "?threadId=t1&cursor=1", header: map[string]string{"Last-Event-ID": "1 2 3 4"}}, 2,
		},
		"MalformedAll": {
			call{path: streamPath + "?threadId=t1&since=x&cursor=x", header: map[string]string{"Last-Event-ID": "x"}}, 1,
		},
	} {
		c.call.token = tokenA
		all := b.stream(t, c.call).until(t, func(m message) bool { return m.frame.Event != nil && m.frame.Event.Seq > 0 })
		if got := all[len(all)-1].frame.Event.Seq; got != c.want {
			t.Errorf("%s: the first entry is %d, want %d", name, got, c.want)
		}
	}
	if len(first) == 0 {
		t.Error("no frame has an id")
	}
}

// When the engine closes, clients are told and their streams end cleanly.
func TestStreamEngineCloses(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hello"}`)
	watch := b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA})
	watch.until(t, state(wire.Queued))
	b.engine.Close()
	for {
		if _, ok := watch.next(t); !ok {
			break
		}
	}
	if err := watch.scanner.Err(); err != nil {
		t.Errorf("the stream was cut: %v", err)
	}
}

// A stream outlives the write timeout of one write, and the read timeout of a body. The time
// is that of the bubble, as a machine with load may take longer than such a timeout.
func TestStreamOutlivesTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const timeout = 50 * time.Millisecond
		e, s := tokenServer(t, server.Config{Insecure: true, WriteTimeout: timeout})
		here, there := net.Pipe()
		defer here.Close()
		listener := oneConn{make(chan net.Conn, 1)}
		listener.conns <- there
		h := &http.Server{Handler: s, ReadHeaderTimeout: timeout}
		defer h.Close()
		go func() { _ = h.Serve(listener) }()
		defer e.Close()

		post(t, s, controlPath, `{"threadId":"t1"}`)
		post(t, s, runPath, `{"threadId":"t1","prompt":"slow 20"}`)
		began := time.Now()
		if _, err := io.WriteString(here, "GET "+streamPath+"?threadId=t1 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		worked := make(chan error, 1)
		go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
		answer := bufio.NewReader(here)
		for {
			line, err := answer.ReadString('\n')
			if err != nil {
				t.Fatalf("the stream ended after %s: %v", time.Since(began), err)
			}
			if strings.Contains(line, string(wire.NoticeStateChange)) && strings.Contains(line, string(wire.Completed)) {
				break
			}
		}
		if took := time.Since(began); took < 2*timeout {
			t.Errorf("the stream took only %s", took)
		}
		go func() { _, _ = io.Copy(io.Discard, answer) }()
		stop()
		if err := <-worked; err != nil {
			t.Error(err)
		}
	})
}
