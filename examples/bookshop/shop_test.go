package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
)

// morning is when the shops of tests are open.
var morning = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// tick returns a clock on which a second passes with each look.
func tick() Clock {
	looks := make(chan time.Time, 1)
	looks <- morning
	return func() time.Time {
		now := <-looks
		looks <- now.Add(time.Second)
		return now
	}
}

// testConfig is a shop in memory with what tests say otherwise.
func testConfig(t *testing.T, changes ...func(c *config)) config {
	t.Helper()
	c := config{
		Secret: bytes.Repeat([]byte("k"), 32), PartnerKeys: demoKeys(), OpsPassword: "demo", Clock: tick(),
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

// open starts a shop and returns somebody before its door.
func open(t *testing.T, changes ...func(c *config)) visitor {
	t.Helper()
	s, err := openShop(t.Context(), testConfig(t, changes...))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.api)
	t.Cleanup(func() {
		s.end()
		server.Close()
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return visitor{t: t, base: server.URL, header: http.Header{}}
}

// visitor makes requests as somebody.
type visitor struct {
	t      *testing.T
	base   string
	header http.Header
	key    string
}

// with returns the visitor with another header.
func (v visitor) with(name, value string) visitor {
	v.header = v.header.Clone()
	v.header.Set(name, value)
	return v
}

// partner returns the visitor with an API key.
func (v visitor) partner(key string) visitor {
	v.key = key
	return v
}

// login returns the visitor with a token.
func (v visitor) login(user string) visitor {
	v.t.Helper()
	got := v.post("/login", Credentials{user, demoPassword}).expect(http.StatusOK)
	return v.with("Authorization", "Bearer "+decode[Token](got).Token)
}

func (v visitor) get(path string) answer { v.t.Helper(); return v.send(http.MethodGet, path, nil) }

func (v visitor) post(path string, body any) answer {
	v.t.Helper()
	return v.send(http.MethodPost, path, body)
}

// send makes a request with a body as JSON, unless it is a reader.
func (v visitor) send(method, path string, body any) answer {
	v.t.Helper()
	response := v.open(method, path, body)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer{v.t, response.StatusCode, response.Header, text}
}

func (v visitor) open(method, path string, body any) *http.Response {
	v.t.Helper()
	var content io.Reader
	header := v.header.Clone()
	switch body := body.(type) {
	case nil:
	case io.Reader:
		content = body
	default:
		text, err := json.Marshal(body)
		if err != nil {
			v.t.Fatal(err)
		}
		content = bytes.NewReader(text)
		header.Set("Content-Type", "application/json")
	}
	if v.key != "" {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += separator + "key=" + v.key
	}
	request, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, content)
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	return response
}

// answer is what came back.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// expect ends the test when the answer has another status.
func (a answer) expect(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// code expects an error with a code.
func (a answer) code(status int, code string) {
	a.t.Helper()
	a.expect(status)
	if got := decode[rest.Problem](a).Code; got != code {
		a.t.Errorf("code %q, want %q: %s", got, code, a.body)
	}
}

func decode[T any](a answer) T {
	a.t.Helper()
	var v T
	if err := json.Unmarshal(a.body, &v); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	return v
}
