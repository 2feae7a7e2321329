package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// rawStream is a stream over a connection whose bytes a test sees.
type rawStream struct {
	net.Conn

	head []string // the lines of the head, without the dates
	in   *bufio.Reader
}

// openRaw opens a stream with the lines as further headers, and reads the head of the answer.
func openRaw(t *testing.T, address, request string, lines ...string) *rawStream {
	t.Helper()

	conn, err := (&net.Dialer{}).DialContext(patiently(t), "tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	lines = append([]string{request, "Host: localhost", "Authorization: Bearer " + tokenA, "X-Request-Id: fixed"},
		lines...)
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	s := &rawStream{Conn: conn, in: bufio.NewReader(conn)}
	for {
		line, err := s.in.ReadString('\n')
		text, ok := strings.CutSuffix(line, "\r\n")
		if err != nil || !ok {
			t.Fatalf("behind %q: %q (%v)", s.head, line, err)
		}
		if text == "" {
			return s
		}
		if at, ok := strings.CutPrefix(text, "Date: "); ok {
			if _, err := time.Parse(http.TimeFormat, at); err != nil {
				t.Error(err)
			}
			text = "Date"
		}
		s.head = append(s.head, text)
	}
}

const rawRequest = "GET " + streamPath + "?threadId=t1 HTTP/1.1"

// untilText reads the body until it has the text, and returns it.
func (s *rawStream) untilText(t *testing.T, body io.Reader, text string) string {
	t.Helper()

	var got strings.Builder
	part := make([]byte, 4<<10)
	for !strings.Contains(got.String(), text) {
		n, err := body.Read(part)
		got.Write(part[:n])
		if err != nil {
			t.Fatalf("behind %q: %v", got.String(), err)
		}
	}
	return got.String()
}

// untilNoneTakenOver waits until no connection is taken over.
func (b *bundle) untilNoneTakenOver(t *testing.T) {
	t.Helper()

	until(t, "the end of all connections that are taken over", func() bool { return b.server.TakenOver() == 0 })
}

// withThread serves a thread that has an accepted run.
func withThread(t *testing.T, c server.Config) *bundle {
	t.Helper()

	b := setup(t, c)
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hello"}`)
	return b
}

// takeoverFormats are the formats of a stream: the request, the first and the last text of a run that waits, and
// what comes for an event of the application.
var takeoverFormats = map[string]struct{ request, first, last, event string }{
	"Native": {rawRequest, "STATE_CHANGE", "MESSAGE_APPENDED", `"payload":"%d"`},
	"AGUI": {
		strings.Replace(rawRequest, "t1", "t1&wireFormat=ag-ui", 1), "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", `"value":"%d"`,
	},
}

// A stream outside its handler has the bytes of one inside. It only tells the client that the connection
// ends with the answer.
func TestTakeoverBytes(t *testing.T) {
	t.Parallel()

	vary := regexp.MustCompile(`(run|msg)_[0-9a-z]+|\d{4}-[-0-9T:.]+Z|retry: \d+`)
	for name, format := range takeoverFormats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var heads [2][]string
			var bodies [2]string
			for i, inside := range []bool{false, true} {
				b := withThread(t, server.Config{NoStreamTakeover: inside})
				s := openRaw(t, b.url, format.request)
				if got := b.server.TakenOver(); got != 1-i {
					t.Errorf("%d connections are taken over when the head is there", got)
				}
				chunks := httputil.NewChunkedReader(s.in)
				text := s.untilText(t, chunks, format.last)
				if got := b.server.TakenOver(); got != 1-i {
					t.Errorf("%d connections are taken over when the text is there", got)
				}
				b.engine.Close()
				rest, err := io.ReadAll(chunks)
				if err != nil {
					t.Error(err)
				}
				if !inside {
					if end, err := io.ReadAll(s.in); err != nil || string(end) != "\r\n" {
						t.Errorf("behind the last chunk: %q (%v)", end, err)
					}
					b.untilNoneTakenOver(t)
				}
				heads[i], bodies[i] = s.head, vary.ReplaceAllString(text+string(rest), "$1")
			}
			sameAnswers(t, heads, bodies)
		})
	}
}

// sameAnswers compares an answer outside its handler with one inside.
func sameAnswers(t *testing.T, heads [2][]string, bodies [2]string) {
	t.Helper()

	slices.Sort(heads[0])
	want := slices.Sorted(
		slices.Values(
			append(slices.DeleteFunc(heads[1], func(line string) bool { return strings.HasPrefix(line, "Connection: ") }),
				"Connection: close"),
		),
	)
	if diff := cmp.Diff(want, heads[0]); diff != "" {
		t.Errorf("the head differs: %s", diff)
	}
	if diff := cmp.Diff(bodies[1], bodies[0]); diff != "" {
		t.Errorf("the body differs: %s", diff)
	}
}

// A client that disconnects is noticed at once, although nothing happens on the thread.
func TestTakeoverClientLeaves(t *testing.T) {
	t.Parallel()

	b := withThread(t, server.Config{Limits: server.Limits{OpenStreams: 1}, AccessLevel: slog.LevelInfo})
	s := openRaw(t, b.url, rawRequest)
	s.untilText(t, s.in, "STATE_CHANGE")
	if got := openRaw(t, b.url, rawRequest).head[0]; got != "HTTP/1.1 429 Too Many Requests" {
		t.Errorf("a second stream: %s", got)
	}
	_ = s.Close()
	b.untilNoneTakenOver(t)
	if got := openRaw(t, b.url, rawRequest).head[0]; got != "HTTP/1.1 200 OK" {
		t.Errorf("a stream after the first has ended: %s", got)
	}
	if logged := b.logged.String(); strings.Count(logged, "status=499") != 1 ||
		!strings.Contains(logged, "route=/api/agent/stream status=499") {
		t.Errorf("logged: %s", logged)
	}
}

// Bytes that a client sends after its request neither disturb the stream nor its end. A client that sends too
// many is cut off.
func TestTakeoverPipelined(t *testing.T) {
	t.Parallel()

	b := withThread(t, server.Config{})
	s := openRaw(t, b.url, rawRequest+"\r\nX-A: b", "X-C: d\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost")
	s.untilText(t, s.in, "STATE_CHANGE")
	if _, err := io.WriteString(s, strings.Repeat("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 100)); err != nil {
		t.Fatal(err)
	}
	b.work(t)
	s.untilText(t, s.in, `"state":"COMPLETED"`)
	b.engine.Close()
	if rest, err := io.ReadAll(s.in); err != nil || !strings.HasSuffix(string(rest), "\r\n0\r\n\r\n") {
		t.Errorf("the body ends with %q (%v)", rest, err)
	}
	b.untilNoneTakenOver(t)
}

func TestTakeoverFlood(t *testing.T) {
	t.Parallel()

	b := withThread(t, server.Config{})
	s := openRaw(t, b.url, rawRequest)
	s.untilText(t, s.in, "STATE_CHANGE")
	for range 1000 {
		if _, err := s.Write(make([]byte, 1024)); err != nil {
			break
		}
	}
	b.untilNoneTakenOver(t)
}

// A server that shuts down ends its streams, each with a hint and the end of its body, and waits for that.
func TestTakeoverShutdown(t *testing.T) {
	t.Parallel()

	b := withThread(t, server.Config{})
	var streams []*rawStream
	for range 10 {
		for _, format := range takeoverFormats {
			s := openRaw(t, b.url, format.request)
			s.untilText(t, s.in, format.first)
			streams = append(streams, s)
		}
	}
	if err := b.server.Shutdown(patiently(t)); err != nil {
		t.Fatal(err)
	}
	if got := b.server.TakenOver(); got != 0 {
		t.Errorf("%d streams are left", got)
	}
	for _, s := range streams {
		rest, err := io.ReadAll(s.in)
		if err != nil || !strings.Contains(string(rest), "retry: ") || !strings.HasSuffix(string(rest), "\r\n0\r\n\r\n") {
			t.Errorf("the body ends with %q (%v)", rest, err)
		}
	}
	late := openRaw(t, b.url, rawRequest)
	if rest, err := io.ReadAll(late.in); err != nil || !strings.HasSuffix(string(rest), "\r\n0\r\n\r\n") {
		t.Errorf("a stream that is opened later ends with %q (%v)", rest, err)
	}
}

// A shutdown while a stream is being taken over waits for the stream too, and does not wait for one whose handler
// panics.
func TestTakeoverShutdownMeanwhile(t *testing.T) {
	t.Parallel()

	b := withThread(t, server.Config{})
	down := make(chan error, 1)
	panics := false
	listening := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.server.ServeHTTP(meanwhile{wrapped{w}, func() { // between the head of the answer and the start of the stream
			if got := b.server.TakenOver(); got != 1 {
				t.Errorf("%d connections are taken over when the head is sent", got)
			}
			if panics {
				panic(http.ErrAbortHandler)
			}
			go func() { down <- b.server.Shutdown(context.WithoutCancel(r.Context())) }()
		}}, r)
	}))
	listening.Start()
	t.Cleanup(listening.Close)
	for _, panics = range []bool{true, false} {
		s := openRaw(t, listening.URL, rawRequest)
		rest, err := io.ReadAll(s.in)
		if ended := strings.HasSuffix(string(rest), "\r\n0\r\n\r\n"); err != nil || ended == panics {
			t.Errorf("with a panic %t: the body ends with %q (%v)", panics, rest, err)
		}
		b.untilNoneTakenOver(t)
	}
	if err := receive(t, "the end of the shutdown", down); err != nil {
		t.Error(err)
	}
}

// meanwhile is a writer of middleware that does something while a stream leaves its handler.
type meanwhile struct {
	wrapped

	do func()
}

func (w meanwhile) Outlive() func() {
	w.do()
	return nil
}

// A deadline of middleware before the server ends the stream, and the cancellation after its handler does not.
func TestTakeoverMiddleware(t *testing.T) {
	t.Parallel()

	b := withThread(t, server.Config{})
	for name, around := range map[string]func(ctx context.Context) (context.Context, context.CancelFunc){
		"Deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 100*time.Millisecond)
		},
		"Cancel": context.WithCancel,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx, cancel := around(r.Context())
				defer cancel()
				b.server.ServeHTTP(w, r.WithContext(ctx))
			}))
			t.Cleanup(listening.Close)
			s := openRaw(t, listening.URL, rawRequest)
			if name == "Deadline" {
				if rest, err := io.ReadAll(s.in); err != nil || !strings.HasSuffix(string(rest), "\r\n0\r\n\r\n") {
					t.Errorf("the body ends with %q (%v)", rest, err)
				}
				return
			}
			s.untilText(t, s.in, "STATE_CHANGE")
			_ = s.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
			if rest, err := io.ReadAll(s.in); !errors.Is(err, context.DeadlineExceeded) && !isTimeout(err) {
				t.Errorf("the stream has ended with %q (%v)", rest, err)
			}
		})
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// wrapped is a writer of middleware.
type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// outlived is a writer of middleware that lets streams outlive their handlers.
type outlived struct {
	wrapped

	ended chan struct{}
}

func (w outlived) Outlive() func() { return func() { close(w.ended) } }

// What cannot be taken over stays inside its handler, and works.
func TestTakeoverFallback(t *testing.T) {
	t.Parallel()

	through := func(wrap func(w http.ResponseWriter) http.ResponseWriter) func(next http.Handler) *httptest.Server {
		return func(next http.Handler) *httptest.Server {
			return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(wrap(w), r)
			}))
		}
	}
	own := func(with func(s *httptest.Server)) func(next http.Handler) *httptest.Server {
		return func(next http.Handler) *httptest.Server {
			s := httptest.NewUnstartedServer(next)
			with(s)
			return s
		}
	}
	ended := make(chan struct{})
	for name, c := range map[string]struct {
		serve  func(next http.Handler) *httptest.Server
		change func(r *http.Request)
		proto  string
		taken  int
	}{
		"Plain": {serve: httptest.NewServer, taken: 1},
		"Outlive": {
			serve: through(func(w http.ResponseWriter) http.ResponseWriter { return outlived{wrapped{w}, ended} }), taken: 1,
		},
		"Wrapped": {serve: through(func(w http.ResponseWriter) http.ResponseWriter { return wrapped{w} })},
		"Hidden": {serve: through(func(w http.ResponseWriter) http.ResponseWriter {
			return struct {
				http.ResponseWriter
				http.Flusher
				http.Hijacker
			}{w, w.(http.Flusher), w.(http.Hijacker)} //nolint:errcheck,forcetypeassert // net/http's own has them
		})},
		"TLS":   {serve: httptest.NewTLSServer},
		"HTTP2": {serve: own(func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() }), proto: "HTTP/2.0"},
		"BaseContext": {serve: own(func(s *httptest.Server) {
			s.Config.BaseContext = func(net.Listener) context.Context { return context.Background() }
			s.Start()
		})},
		"ConnContext": {serve: own(func(s *httptest.Server) {
			s.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context { return ctx }
			s.Start()
		})},
		"Body": {
			serve:  httptest.NewServer,
			change: func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), 2 },
		},
		"Chunked": {
			serve:  httptest.NewServer,
			change: func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), -1 },
		},
		"AGUI": {
			serve: httptest.NewServer, taken: 1, change: func(r *http.Request) { r.URL.RawQuery += "&wireFormat=ag-ui" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withThread(t, server.Config{})
			listening := c.serve(b.server)
			t.Cleanup(listening.Close)
			ctx, cancel := context.WithCancel(patiently(t))
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, listening.URL+streamPath+"?threadId=t1", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+tokenA)
			if c.change != nil {
				c.change(r)
			}
			res, err := listening.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if c.proto != "" && res.Proto != c.proto {
				t.Errorf("over %s", res.Proto)
			}
			b.work(t)
			want := `"state":"COMPLETED"`
			if name == "AGUI" {
				want = "RUN_FINISHED"
			}
			(&rawStream{}).untilText(t, res.Body, want)
			if got := b.server.TakenOver(); got != c.taken {
				t.Errorf("%d connections are taken over, want %d", got, c.taken)
			}
			cancel()
			if name == "Outlive" {
				receive(t, "the end of the stream", ended)
			}
			b.untilNoneTakenOver(t)
		})
	}
}

// HTTP/1.0 has no chunks, and HEAD has no body.
func TestTakeoverOldProtocol(t *testing.T) {
	t.Parallel()

	b := withThread(t, server.Config{})
	old := openRaw(t, b.url, "GET "+streamPath+"?threadId=t1 HTTP/1.0")
	old.untilText(t, old.in, "STATE_CHANGE")
	if got := b.server.TakenOver(); got != 0 || strings.Contains(fmt.Sprint(old.head), "chunked") {
		t.Errorf("%d connections are taken over: %q", got, old.head)
	}
	head := openRaw(t, b.url, "HEAD "+streamPath+"?threadId=t1 HTTP/1.1", "Connection: close")
	if rest, err := io.ReadAll(head.in); err != nil || len(rest) > 0 || b.server.TakenOver() != 0 {
		t.Errorf("HEAD: %q (%v)", rest, err)
	}
}

// pipedServer serves a thread over one connection in memory, in a bubble.
func pipedServer(t *testing.T, c server.Config) (s *server.Server, e *engine.Engine, here net.Conn) {
	t.Helper()

	e, s = tokenServer(t, c)
	here, there := net.Pipe()
	listener := oneConn{make(chan net.Conn, 1)}
	listener.conns <- there
	h := &http.Server{Handler: s, ReadHeaderTimeout: time.Second}
	go func() { _ = h.Serve(listener) }()
	t.Cleanup(func() {
		_ = here.Close()
		_ = h.Close()
		e.Close()
		_ = s.Close()
	})
	post(t, s, controlPath, `{"threadId":"t1"}`)
	post(t, s, runPath, `{"threadId":"t1","prompt":"hello"}`)
	return s, e, here
}

// A stream that sleeps is kept alive every 15 s, wakes for a frame at once, and notices its client's end.
func TestTakeoverSleeps(t *testing.T) {
	t.Parallel()
	for name, format := range takeoverFormats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { takeoverSleeps(t, format.request, format.first, format.event) })
		})
	}
}

func takeoverSleeps(t *testing.T, request, first, event string) {
	t.Helper()

	s, e, here := pipedServer(t, server.Config{Insecure: true})
	if _, err := io.WriteString(here, request+"\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	var got lockedText
	go func() { _, _ = io.Copy(&got, here) }()
	synctest.Wait()
	if s.TakenOver() != 1 || !strings.Contains(got.String(), first) {
		t.Fatalf("%d connections are taken over: %s", s.TakenOver(), got.String())
	}
	const alive = "d\r\n: keepalive\n\n\r\n"
	for i := range 3 {
		<-time.After(15*time.Second + time.Millisecond)
		synctest.Wait()
		if n := strings.Count(got.String(), alive); n != i+1 {
			t.Errorf("%d signs of life after %d times 15 s", n, i+1)
		}
	}
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t1"}
	for i := range 3 {
		if _, err := e.PublishEvent(
			t.Context(), key, "note", json.RawMessage(`"`+strconv.Itoa(i)+`"`), wire.PublishOptions{},
		); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Millisecond)
		synctest.Wait()
		if !strings.Contains(got.String(), fmt.Sprintf(event, i)) {
			t.Errorf("event %d did not come at once: %s", i, got.String())
		}
		<-time.After(time.Duration(i) * time.Second)
	}
	_ = here.Close()
	synctest.Wait()
	if n := s.TakenOver(); n != 0 {
		t.Errorf("%d connections are taken over after the client has gone", n)
	}
}

// A client that does not read is cut off after the write timeout.
func TestTakeoverSlowClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, here := pipedServer(t, server.Config{Insecure: true, WriteTimeout: time.Second})
		if _, err := io.WriteString(here, rawRequest+"\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := here.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		<-time.After(999 * time.Millisecond)
		synctest.Wait()
		if n := s.TakenOver(); n > 1 {
			t.Errorf("%d connections are taken over", n)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if n := s.TakenOver(); n != 0 {
			t.Errorf("%d connections are taken over after the timeout", n)
		}
		if rest, _ := io.ReadAll(here); strings.HasSuffix(string(rest), "0\r\n\r\n") {
			t.Error("the answer to a client that was cut off has an end")
		}
	})
}

// A stream ends with the token that has opened it, also while it sleeps.
func TestTakeoverTokenEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, here := pipedServer(t, server.Config{Insecure: true, StreamTokenTTL: time.Minute})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, streamTokenPath,
			strings.NewReader(`{"threadId":"t1"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var short struct{ Token string }
		if err := json.Unmarshal(w.Body.Bytes(), &short); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(
			here, "GET "+tokenURL("t1", short.Token)+" HTTP/1.1\r\nHost: localhost\r\n\r\n",
		); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		rest, err := io.ReadAll(here)
		if took := time.Since(began); err != nil || took < 59*time.Second || took > 61*time.Second ||
			!strings.Contains(string(rest), "Connection: close") ||
			!strings.HasSuffix(string(rest), ": the stream token is over\n\n\r\n0\r\n\r\n") {
			t.Errorf("after %s: %q (%v)", took, rest, err)
		}
	})
}

// lockedText is text that one goroutine writes and another reads.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// The suites of streams hold inside the handler too.
func TestStreamsInHandlers(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]func(t *testing.T){ //nolint:paralleltest // each test is parallel itself
		"Headers": TestStreamHeaders, "Reconnect": TestStreamReconnect, "Since": TestStreamSince,
		"EngineCloses": TestStreamEngineCloses, "OutlivesTimeouts": TestStreamOutlivesTimeouts,
	} {
		t.Run(name, test)
	}
}
