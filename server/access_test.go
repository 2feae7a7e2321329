package server_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
)

// accessed returns the lines of requests, without what differs each time.
func (b *bundle) accessed() (lines []string) {
	volatile := regexp.MustCompile(`(time|duration|bytes)=\S+ `)
	for line := range strings.Lines(b.logged.String()) {
		if strings.Contains(line, " msg=request ") {
			lines = append(lines, strings.TrimSpace(volatile.ReplaceAllString(line, "")))
		}
	}
	return lines
}

// A line has what a request was about, and neither its query nor its body.
func TestAccessLog(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{AccessLevel: slog.LevelInfo})
	id := map[string]string{"X-Request-ID": "q-1"}
	for _, c := range []call{
		{method: "POST", path: runPath, body: `{"threadId":"t1","runId":"r1","prompt":"MARK"}`, token: tokenA, header: id},
		{method: "GET", path: historyPath + "?threadId=t1&access_token=MARK", token: tokenA, header: id},
		{method: "POST", path: controlPath, body: `{"threadId":"t1"}`, token: tokenA, header: id},
		{method: "GET", path: historyPath + "?threadId=MARK%20", token: tokenA, header: id},
		{method: "GET", path: threadsPath, token: "MARK", header: id},
		{method: "GET", path: "/MARK", token: tokenA, header: id},
		{method: "GET", path: "/healthz", header: id}, // a probe is not worth a line at this level
		{method: "GET", path: "/readyz", header: id},
	} {
		b.do(t, c)
	}

	want := []string{
		`level=INFO msg=request method=POST route=/api/agent/run status=202 request=q-1 tenant=a thread=t1 run=r1`,
		`level=INFO msg=request method=GET route=/api/agent/history status=200 request=q-1 tenant=a thread=t1`,
		`level=INFO msg=request method=POST route=/api/agent/control status=200 request=q-1 tenant=a thread=t1`,
		`level=INFO msg=request method=GET route=/api/agent/history status=400 request=q-1`,
		`level=INFO msg=request method=GET route=/api/threads status=401 request=q-1`,
		`level=INFO msg=request method=GET route=none status=404 request=q-1`,
	}
	if diff := cmp.Diff(want, b.accessed()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if strings.Contains(b.logged.String(), "MARK") {
		t.Errorf("the log has what it must not:\n%s", b.logged)
	}
}

func TestAccessLogIsQuietByDefault(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, "GET", threadsPath, "")
	if got := b.accessed(); got != nil {
		t.Errorf("lines: %q", got)
	}
}

// The id of a request comes from the client, from its trace, or is new.
func TestRequestID(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	fresh := regexp.MustCompile(`^req_[0-9a-z]{26}$`)
	for name, test := range map[string]struct {
		header map[string]string
		want   string // "": a fresh one
	}{
		"Clients": {
			map[string]string{"X-Request-ID": "order-7", "Traceparent": "00-" + trace + "-00f067aa0ba902b7-01"}, "order-7",
		},
		"Traces":      {map[string]string{"Traceparent": "00-" + trace + "-00f067aa0ba902b7-01"}, trace},
		"None":        {nil, ""},
		"NoID":        {map[string]string{"X-Request-ID": "a b"}, ""},
		"TooLong":     {map[string]string{"X-Request-ID": strings.Repeat("x", 200)}, ""},
		"NoTrace":     {map[string]string{"Traceparent": "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01"}, ""},
		"BrokenTrace": {map[string]string{"Traceparent": "nonsense"}, ""},
	} {
		got := b.do(t, call{method: http.MethodGet, path: "/healthz", header: test.header}).header.Get("X-Request-ID")
		if test.want != "" && got != test.want || test.want == "" && !fresh.MatchString(got) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// An error in the log says which request it was.
func TestErrorsHaveTheRequest(t *testing.T) {
	t.Parallel()

	backend := memory.New(nil)
	backend.Store = brokenStore{backend.Store, errors.New("no disk")}
	var log syncWriter
	s := newServer(t, backend, server.Config{
		Insecure: true, AccessLevel: slog.LevelInfo, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	r := httptest.NewRequestWithContext(patiently(t), http.MethodGet, historyPath+"?threadId=t1", http.NoBody)
	r.Header.Set("X-Request-ID", "q-9")
	s.ServeHTTP(httptest.NewRecorder(), r)
	if n := strings.Count(log.String(), "request=q-9"); n != 2 {
		t.Errorf("%d lines have the request:\n%s", n, log.String())
	}
	if r.Pattern != historyPath {
		t.Errorf("the request's pattern is %q", r.Pattern)
	}
}

// No principal is a webhook or a schedule.
func TestReservedSubjects(t *testing.T) {
	t.Parallel()

	for _, subject := range []string{"webhook:desk", "schedule:nightly"} {
		p := access.Principal{Tenant: "a", Subject: subject}
		if err := p.Check(); spool.CodeOf(err) != spool.Forbidden {
			t.Errorf("Check = %v", err)
		}
		if _, err := access.Tokens([]access.Token{{Token: "x", Principal: p}}); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("Tokens = %v", err)
		}
	}
	if err := (access.Principal{Tenant: "a", Subject: "webhooks"}).Check(); err != nil {
		t.Error(err)
	}
}
