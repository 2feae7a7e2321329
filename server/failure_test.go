package server_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// brokenStore fails every call.
type brokenStore struct {
	store.Store

	err error
}

func (s brokenStore) Update(context.Context, spool.ThreadKey, int64, func(store.Tx) error) error {
	return s.err
}

func (s brokenStore) View(context.Context, spool.ThreadKey, func(store.View) error) error {
	return s.err
}

func (s brokenStore) Threads(context.Context, wire.ThreadQuery) ([]wire.Thread, error) {
	return nil, s.err
}

// storeCalls are requests that need the store.
var storeCalls = []call{
	{method: http.MethodPost, path: runPath, body: `{"threadId":"t1","runId":"r1","prompt":"hello"}`},
	{method: http.MethodPost, path: controlPath, body: `{"threadId":"t1"}`},
	{method: http.MethodPost, path: respondPath, body: `{"threadId":"t1","toolCallId":"c","approved":true}`},
	{method: http.MethodGet, path: historyPath + "?threadId=t1"},
	{method: http.MethodGet, path: streamPath + "?threadId=t1"},
	{method: http.MethodGet, path: usagePath + "?threadId=t1"},
	{method: http.MethodGet, path: threadsPath},
	{method: http.MethodDelete, path: threadsPath + "?threadId=t1"},
}

// What goes wrong inside is logged once, with the thread, and its text is not sent.
func TestInternalErrors(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		err    error
		status int
		want   string
	}{
		"Plain": {errors.New("hidden text"), 500, `{"error":"Internal error","code":"internal"}`},
		"Internal": {
			&spool.Error{Code: spool.Internal, Message: "hidden text"}, 500, `{"error":"Internal error","code":"internal"}`,
		},
		"Unavailable": {
			&spool.Error{Code: spool.Unavailable, Message: "the store is busy", Err: errors.New("hidden text")}, 503,
			`{"error":"the store is busy","code":"unavailable"}`,
		},
		"Canceled": {
			&spool.Error{Code: spool.Canceled, Message: "canceled"}, 503, `{"error":"canceled","code":"unavailable"}`,
		},
		"Fenced": {store.ErrFenced, 409, `{"error":"another worker owns the thread","code":"fenced"}`},
	} {
		for _, e := range storeCalls {
			backend := memory.New(nil)
			backend.Store = brokenStore{backend.Store, c.err}
			var log syncWriter
			s := newServer(t, backend, server.Config{Insecure: true, Log: slog.New(slog.NewTextHandler(&log, nil))})
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequestWithContext(patiently(t), e.method, e.path, strings.NewReader(e.body)))
			if got := strings.TrimSpace(w.Body.String()); w.Code != c.status || got != c.want {
				t.Errorf("%s: %s %s: %d %s", name, e.method, e.path, w.Code, got)
			}
			if n := strings.Count(log.String(), `msg="request failed"`); (n == 1) != (c.status >= 500) {
				t.Errorf("%s: %s %s: logged %d times:\n%s", name, e.method, e.path, n, log.String())
			}
			if c.status >= 500 && e.path != threadsPath && !strings.Contains(log.String(), "thread=t1") {
				t.Errorf("%s: %s %s: the log does not name the thread:\n%s", name, e.method, e.path, log.String())
			}
		}
	}
}

// A client whose request was canceled may be there: net/http cancels the request of a client that has closed only its
// side of the connection. Such a client gets no answer that it could take for one of Spool's.
func TestCanceledRequests(t *testing.T) {
	t.Parallel()

	for _, e := range storeCalls {
		ctx, leave := context.WithCancel(patiently(t))
		leave()
		backend := memory.New(nil)
		backend.Store = brokenStore{backend.Store, &spool.Error{Code: spool.Canceled, Message: "canceled", Err: ctx.Err()}}
		var log syncWriter
		s := newServer(t, backend, server.Config{
			Insecure: true, AccessLevel: slog.LevelInfo, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		w := &statusWriter{ResponseRecorder: httptest.NewRecorder()}
		cut := func() (cut bool) {
			defer func() { cut = recover() == http.ErrAbortHandler }() //nolint:errorlint,err113 // as net/http compares it
			s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, e.method, e.path, strings.NewReader(e.body)))
			return false
		}()
		if (w.status == 499) != cut || cut && (w.Body.Len() > 0 || !strings.Contains(log.String(), "status=499")) {
			t.Errorf("%s %s: status %d, cut %t, log\n%s", e.method, e.path, w.status, cut, log.String())
		}
	}
}

// statusWriter remembers which status was sent.
type statusWriter struct {
	*httptest.ResponseRecorder

	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseRecorder.WriteHeader(status)
}

func newServer(t *testing.T, backend store.Backend, c server.Config) *server.Server {
	t.Helper()

	e, err := engine.New(backend, engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
		Log:    c.Log,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(e, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// slowClient takes some writes and then no more, as a client does that does not read:
// the deadline of the write ends it.
type slowClient struct {
	*httptest.ResponseRecorder

	takes     atomic.Int32
	deadlines atomic.Int32
}

func (c *slowClient) Write(b []byte) (int, error) {
	if c.takes.Add(-1) < 0 {
		return 0, errors.New("i/o timeout")
	}
	return len(b), nil
}

func (c *slowClient) SetWriteDeadline(at time.Time) error {
	if until := time.Until(at); until > 0 && until <= time.Second {
		c.deadlines.Add(1)
	}
	return nil
}

// A client that does not take a write within the timeout is cut off, and one that goes
// away is let go.
func TestStreamClientGone(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Insecure: true, WriteTimeout: time.Second})
	b.do(t, call{method: http.MethodPost, path: runPath, body: `{"threadId":"t1","prompt":"slow 10000"}`})
	b.work(t)

	slow := &slowClient{ResponseRecorder: httptest.NewRecorder()}
	slow.takes.Store(3)
	b.server.ServeHTTP(slow, httptest.NewRequestWithContext(patiently(t), http.MethodGet, streamPath+"?threadId=t1",
		http.NoBody))
	if n := slow.deadlines.Load(); n < 4 {
		t.Errorf("%d deadlines for four writes", n)
	}

	ctx, leave := context.WithCancel(patiently(t))
	gone := &slowClient{ResponseRecorder: httptest.NewRecorder()}
	gone.takes.Store(1 << 30)
	time.AfterFunc(50*time.Millisecond, leave)
	b.server.ServeHTTP(gone, httptest.NewRequestWithContext(ctx, http.MethodGet, streamPath+"?threadId=t1", http.NoBody))
	if log := b.logged.String(); strings.Contains(log, "stream failed") {
		t.Errorf("clients that leave are logged as failures:\n%s", log)
	}
}
