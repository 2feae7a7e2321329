package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
)

func (b *bundle) starts(t *testing.T, token, thread string) answer {
	t.Helper()
	return b.as(t, token, http.MethodPost, runPath, `{"threadId":"`+thread+`","prompt":"hello"}`)
}

// waits returns the seconds of Retry-After, and 0 for none that makes sense.
func (a answer) waits() int {
	seconds, _ := strconv.Atoi(a.header.Get("Retry-After"))
	return seconds
}

// A subject may start so many runs, by either protocol, and takes nothing from another.
func TestStartsPerMinute(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Limits: server.Limits{StartsPerMinute: 3}})
	b.work(t)
	const refused = `{"error":"too many starts: 3 a minute are allowed","code":"limit"}`
	b.starts(t, tokenA, "t1")
	b.starts(t, tokenA, "t1")                                                   // which may be refused, and counts
	if got := b.starts(t, tokenA, "t 1"); got.status != http.StatusBadRequest { // and this does not
		t.Errorf("a start that is wrong: %d %s", got.status, got.body)
	}
	if got := b.as(t, tokenA, http.MethodPost, aguiPath, aguiInput("t2", says)); got.status != http.StatusOK {
		t.Errorf("the third start: %d %s", got.status, got.body)
	}
	for range 2 {
		got := b.starts(t, tokenA, "t3")
		if got.status != http.StatusTooManyRequests || got.body != refused || got.waits() < 1 || got.waits() > 60 {
			t.Errorf("the next start: %d %v %s", got.status, got.header, got.body)
		}
	}
	if got := b.as(
		t, tokenA, http.MethodPost, compactPath, `{"threadId":"t1"}`,
	); got.status != http.StatusTooManyRequests || got.body != refused {
		t.Errorf("a compaction asks a model too: %d %s", got.status, got.body)
	}
	got := b.as(t, tokenA, http.MethodPost, aguiPath, `{"threadId":"t3","runId":"r3",`+says+`}`)
	if got.status != http.StatusTooManyRequests || got.body != refused || got.waits() < 1 {
		t.Errorf("the next start by AG-UI: %d %s", got.status, got.body)
	}
	if got := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t3", ""); got.status != http.StatusNotFound {
		t.Errorf("a refused start has made a thread: %d", got.status)
	}
	if got := b.as(t, tokenA, http.MethodPost, aguiPath, aguiInput("t2", `"messages":[]`)); got.status != http.StatusOK {
		t.Errorf("a run that is shown again is no start: %d %s", got.status, got.body)
	}
	for _, token := range []string{secondA, namelessA, tokenB} {
		if got := b.starts(t, token, "of-"+token); got.status != http.StatusAccepted {
			t.Errorf("%s: %d %s", token, got.status, got.body)
		}
	}
}

// A subject may publish so many durable events, and takes nothing from another. A long one counts as several.
func TestEventsPerMinute(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Limits: server.Limits{EventsPerMinute: 5}})
	b.starts(t, tokenA, "t1")
	publish := func(token, thread string, bytes int, durable bool) answer {
		return b.as(t, token, http.MethodPost, eventsPath,
			fmt.Sprintf(`{"threadId":%q,"type":"note","durable":%t,"payload":%q}`, thread, durable, strings.Repeat("x", bytes)))
	}
	const refused = `{"error":"too many durable events: 5 a minute are allowed, and each 8 KiB of a payload counts as one","code":"limit"}`
	for _, c := range []struct{ bytes, status int }{
		{1, http.StatusOK}, {20_000, http.StatusOK}, // one and three
		{20_000, http.StatusTooManyRequests}, // which takes nothing
		{100, http.StatusOK},
	} {
		if got := publish(tokenA, "t1", c.bytes, true); got.status != c.status {
			t.Errorf("%d bytes: %d %s", c.bytes, got.status, got.body)
		}
	}
	if got := publish(tokenA, "t1", 1, true); got.status != http.StatusTooManyRequests || got.body != refused ||
		got.waits() < 1 || got.waits() > 60 {
		t.Errorf("the next event: %d %v %s", got.status, got.header, got.body)
	}
	if got := publish(tokenA, "t1", 1, false); got.status != http.StatusAccepted {
		t.Errorf("a live event: %d %s", got.status, got.body)
	}
	if got := publish(secondA, "t1", 1, true); got.status != http.StatusOK {
		t.Errorf("another subject: %d %s", got.status, got.body)
	}
	if got := publish(namelessA, "t1", 60_000, true); got.status != http.StatusOK {
		t.Errorf("an event that is longer than all of the limit: %d %s", got.status, got.body)
	}
}

// Retry-After is true: who waits that long is let in, and who waits less is not.
func TestStartsPerMinuteRetry(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		e, err := engine.New(memory.New(nil), engine.Config{
			Agents: []spool.Agent{{Name: "a", Model: "m"}}, Models: map[string]spool.Model{"m": demo.New(demo.Config{})},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		s, err := server.New(e, server.Config{Insecure: true, Limits: server.Limits{StartsPerMinute: 2}})
		if err != nil {
			t.Fatal(err)
		}
		start := func() answer {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, runPath, strings.NewReader(`{"prompt":"x"}`)))
			return answer{w.Code, w.Header(), w.Body.String()}
		}
		start()
		<-time.After(20 * time.Second)
		start()
		if got := start(); got.status != http.StatusTooManyRequests || got.waits() != 40 {
			t.Errorf("%d, wait %d s", got.status, got.waits())
		}
		<-time.After(39 * time.Second)
		if got := start(); got.status != http.StatusTooManyRequests || got.waits() != 1 {
			t.Errorf("%d, wait %d s", got.status, got.waits())
		}
		<-time.After(time.Second)
		if got := start(); got.status != http.StatusAccepted {
			t.Errorf("after the wait: %d %s", got.status, got.body)
		}
	})
}

// A queue that is full is no conflict: the same start may be accepted later. A thread for
// which too many runs wait is one.
func TestQueueFull(t *testing.T) {
	t.Parallel()

	b := setupOver(t, server.Config{}, engine.Config{Limits: option.Limits{QueueDepth: 1}})
	b.starts(t, tokenA, "t1")
	got := b.starts(t, tokenB, "t2")
	const want = `{"accepted":false,"threadId":"t2","reason":"queue_full","error":"Too many runs wait for a worker","code":"queue_full"}`
	if got.status != http.StatusServiceUnavailable || got.body != want || got.waits() != 1 {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	got = b.as(t, tokenB, http.MethodPost, aguiPath, aguiInput("t2", says))
	if got.status != http.StatusServiceUnavailable || got.body != want || got.waits() != 1 {
		t.Errorf("by AG-UI: %d %v %s", got.status, got.header, got.body)
	}
}

// opened opens a stream, and returns its status and what closes it.
func (b *bundle) opened(t *testing.T, token string) (int, func()) {
	t.Helper()

	res, err := http.DefaultTransport.RoundTrip(b.request(t,
		call{method: http.MethodGet, path: streamPath + "?threadId=t1", token: token}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res.StatusCode, func() { _ = res.Body.Close() }
}

// Streams that are over, in whatever way, are not open.
func TestOpenStreams(t *testing.T) {
	t.Parallel()

	const limit = 3
	b := setup(t, server.Config{Limits: server.Limits{OpenStreams: limit}})
	b.work(t)
	b.starts(t, tokenA, "t1")
	// None of these stays open.
	for range limit {
		for _, c := range []call{
			{method: http.MethodHead, path: streamPath + "?threadId=t1"},
			{method: http.MethodGet, path: streamPath + "?threadId=none"},
			{method: http.MethodGet, path: streamPath + "?threadId=t1&wireFormat=pigeon"},
			{method: http.MethodPost, path: aguiPath, body: aguiInput("none", `"messages":[]`)},
			{method: http.MethodPost, path: chatPath, body: chatBody("t1", `{"role":"assistant"}`, "")},
			{method: http.MethodGet, path: chatPath + "/none/stream"},
			{
				method: http.MethodPost, path: aguiPath,
				body: aguiInput("t1", `"messages":[{"id":"m1","role":"tool","content":""}]`),
			},
		} {
			c.token = tokenA
			if got := b.do(t, c); got.status == http.StatusTooManyRequests {
				t.Fatalf("%s %s: %s", c.method, c.path, got.body)
			}
		}
	}
	// fill opens as many as may be open, once those before are noticed to be gone.
	fill := func() (all []func()) {
		for late := time.Now().Add(patience); len(all) < limit; {
			status, done := b.opened(t, tokenA)
			if status == http.StatusOK {
				all = append(all, done)
				continue
			}
			done()
			if status != http.StatusTooManyRequests || time.Now().After(late) {
				t.Fatalf("status %d", status)
			}
		}
		return all
	}
	for range 3 {
		open := fill()
		got := b.as(t, tokenA, http.MethodGet, streamPath+"?threadId=t1", "")
		if got.status != http.StatusTooManyRequests || got.waits() != 1 ||
			got.body != `{"error":"too many open streams: 3 at a time are allowed","code":"limit"}` {
			t.Errorf("one more: %d %v %s", got.status, got.header, got.body)
		}
		got = b.as(t, tokenA, http.MethodPost, aguiPath, aguiInput("t9", says))
		if got.status != http.StatusTooManyRequests {
			t.Errorf("one more by AG-UI: %d %s", got.status, got.body)
		}
		for _, token := range []string{secondA, tokenB} {
			if status, done := b.opened(t, token); status == http.StatusTooManyRequests {
				t.Errorf("%s: %d", token, status)
			} else {
				done()
			}
		}
		for _, done := range open {
			done()
		}
	}
	if got := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t9", ""); got.status != http.StatusNotFound {
		t.Errorf("a run was started that nobody could follow: %d %s", got.status, got.body)
	}

	// Clients that come and go at any moment, also before the headers.
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%6)*time.Millisecond)
			defer cancel()
			r := b.request(t, call{method: http.MethodGet, path: streamPath + "?threadId=t1", token: tokenA})
			if res, err := http.DefaultTransport.RoundTrip(r.WithContext(ctx)); err == nil {
				_ = res.Body.Close()
			}
		})
	}
	wg.Wait()
	// A stream that the server ends.
	open := fill()
	b.as(t, tokenA, http.MethodDelete, threadsPath+"?threadId=t1", "")
	b.starts(t, tokenA, "t1")
	fill()
	for _, done := range open {
		done()
	}
}

// deaf is a connection that cannot be flushed, so that nothing can be streamed over it.
type deaf struct{ h http.Header }

func (d deaf) Header() http.Header         { return d.h }
func (d deaf) Write(b []byte) (int, error) { return len(b), nil }
func (d deaf) WriteHeader(int)             {}

// torn is a connection that panics in the middle, as a handler around the server may.
type torn struct{ *httptest.ResponseRecorder }

func (t torn) Flush() { panic(http.ErrAbortHandler) }

// A stream that never began has no place, even where the request's context goes on.
func TestOpenStreamsUnbegun(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Limits: server.Limits{OpenStreams: 1}})
	b.starts(t, tokenA, "t1")
	for i, w := range []http.ResponseWriter{
		deaf{make(http.Header)}, torn{httptest.NewRecorder()}, deaf{make(http.Header)},
	} {
		ctx, cancel := context.WithCancel(patiently(t))
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, streamPath+"?threadId=t1", nil)
		r.Header.Set("Authorization", "Bearer "+tokenA)
		func() {
			defer func() { _ = recover() }()
			b.server.ServeHTTP(w, r)
		}()
		cancel()
		for late := time.Now().Add(patience); ; {
			status, done := b.opened(t, tokenA)
			done()
			if status == http.StatusOK {
				break
			}
			if status != http.StatusTooManyRequests || time.Now().After(late) {
				t.Fatal(fmt.Sprint(i, ": ", status))
			}
		}
	}
}

func TestLimitsNegative(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	for _, l := range []server.Limits{
		{OpenStreams: -1}, {StartsPerMinute: -1}, {EventsPerMinute: -1}, {FailedLogins: -1},
	} {
		if _, err := server.New(b.engine, server.Config{Insecure: true, Limits: l}); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
