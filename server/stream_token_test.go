package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	streamTokenPath = "/api/agent/stream-token"
	badStreamToken  = `{"error":"the stream token is not valid here, or not any more","code":"unauthorized"}`
)

// streamToken gets a token for a thread.
func (b *bundle) streamToken(t *testing.T, token, thread string) string {
	t.Helper()

	got := b.as(t, token, http.MethodPost, streamTokenPath, `{"threadId":"`+thread+`"}`)
	var out struct {
		Token     string
		ExpiresAt time.Time
	}
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.status != http.StatusOK || out.Token == "" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if left := time.Until(out.ExpiresAt); left < 9*time.Minute || left > 10*time.Minute {
		t.Errorf("the token lasts %s", left)
	}
	if got.header.Get("Referrer-Policy") != "no-referrer" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the headers of a token: %v", got.header)
	}
	return out.Token
}

func tokenURL(thread, token string) string {
	return streamPath + "?threadId=" + thread + "&token=" + url.QueryEscape(token)
}

// A token opens the stream of its thread in both formats, and nothing else.
func TestStreamToken(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	b.starts(t, tokenA, "t1")
	b.starts(t, tokenA, "t2")
	b.starts(t, tokenB, "t1")
	token := b.streamToken(t, readOnlyA, "t1")
	watch := b.stream(t, call{path: tokenURL("t1", token)})
	if watch.response.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("the headers of the stream: %v", watch.response.Header)
	}
	watch.until(t, state(wire.Completed))
	agui := b.stream(t, call{path: tokenURL("t1", token) + "&wireFormat=ag-ui"})
	if line, err := bufio.NewReader(agui.response.Body).ReadString('\n'); err != nil || line == "" {
		t.Errorf("AG-UI: %q, %v", line, err)
	}

	for name, c := range map[string]struct{ thread, token string }{
		"OtherThread": {"t2", token},
		"NoThread":    {"none", token},
		"NoID":        {"", token},
		"Cut":         {"t1", token[:len(token)-1]},
		"Changed":     {"t1", "x" + token[1:]},
		"Longer":      {"t1", token + "A"},
		"Space":       {"t1", token + " "},
		"Unsigned":    {"t1", strings.Split(token, ".")[0] + "."},
		"NoPayload":   {"t1", "." + strings.Split(token, ".")[1]},
		"Swapped":     {"t1", strings.Split(b.streamToken(t, tokenA, "t2"), ".")[0] + "." + strings.Split(token, ".")[1]},
		"Bearer":      {"t1", tokenA},
		"Huge":        {"t1", strings.Repeat("A", 20_000)},
		"Word":        {"t1", "word"},
	} {
		got := b.do(t, call{method: http.MethodGet, path: tokenURL(c.thread, c.token)})
		if got.status != http.StatusUnauthorized || got.body != badStreamToken || got.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	for _, e := range guarded {
		if e.path == streamPath {
			continue
		}
		got := b.do(t, call{method: e.method, path: e.path + "?threadId=t1&token=" + token, body: `{"threadId":"t1"}`})
		if got.status != http.StatusUnauthorized {
			t.Errorf("%s %s with a token for a stream: %d %s", e.method, e.path, got.status, got.body)
		}
		got = b.as(t, token, e.method, e.path+"?threadId=t1", `{"threadId":"t1"}`)
		if got.status != http.StatusUnauthorized {
			t.Errorf("%s %s with it as a bearer: %d %s", e.method, e.path, got.status, got.body)
		}
	}
	foreign := b.as(t, tokenB, http.MethodPost, streamTokenPath, `{"threadId":"t2"}`)
	none := b.as(t, tokenB, http.MethodPost, streamTokenPath, `{"threadId":"none"}`)
	if foreign.status != http.StatusNotFound || foreign.body != none.body {
		t.Errorf("a token for a foreign thread: %d %s, for none: %s", foreign.status, foreign.body, none.body)
	}
	for _, secret := range []string{token, strings.Split(token, ".")[0], strings.Split(token, ".")[1]} {
		if strings.Contains(b.logged.String(), secret) {
			t.Error("the log has the token")
		}
	}
}

// tokenServer is a server in a bubble, whose thread t1 exists.
func tokenServer(t *testing.T, c server.Config) (*engine.Engine, *server.Server) {
	t.Helper()

	c.Log = slog.New(slog.DiscardHandler)
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m"}}, Models: map[string]spool.Model{"m": demo.New(demo.Config{})},
		Log: c.Log,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(e, c)
	if err != nil {
		t.Fatal(err)
	}
	post(t, s, runPath, `{"threadId":"t1","prompt":"x"}`)
	return e, s
}

func post(t *testing.T, s *server.Server, path, body string) string {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+tokenA)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Body.String()
}

func tokenOf(t *testing.T, s *server.Server) string {
	t.Helper()

	var out struct{ Token string }
	if err := json.Unmarshal([]byte(post(t, s, streamTokenPath, `{"threadId":"t1"}`)), &out); err != nil ||
		out.Token == "" {
		t.Fatal(err)
	}
	return out.Token
}

func follow(ctx context.Context, s *server.Server, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	return w
}

// A stream ends when its token does, and says so; the token opens no other then.
func TestStreamTokenEnds(t *testing.T) {
	t.Parallel()

	for name, config := range map[string]server.Config{
		"Tokens":   {Authenticator: twoTenants(t)},
		"Insecure": {Insecure: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				config.StreamTokenTTL = time.Minute
				e, s := tokenServer(t, config)
				defer e.Close()
				token := tokenOf(t, s)
				<-time.After(20 * time.Second)
				for _, format := range []string{"", "&wireFormat=ag-ui"} {
					began := time.Now()
					w := follow(t.Context(), s, tokenURL("t1", token)+format)
					if took := time.Since(began); format == "" && (took < 38*time.Second || took > 40*time.Second) {
						t.Errorf("the stream took %s", took)
					}
					if format == "" && (w.Code != http.StatusOK ||
						!strings.HasSuffix(w.Body.String(), ": the stream token is over\n\n")) {
						t.Errorf("%d %s", w.Code, w.Body)
					}
					if format != "" && (w.Code != http.StatusUnauthorized || strings.TrimSpace(w.Body.String()) != badStreamToken) {
						t.Errorf("afterwards: %d %s", w.Code, w.Body)
					}
				}
				w := follow(t.Context(), s, tokenURL("t1", tokenOf(t, s))+"&wireFormat=ag-ui")
				if w.Code != http.StatusOK || !strings.HasSuffix(w.Body.String(), ": the stream token is over\n\n") {
					t.Errorf("AG-UI: %d %s", w.Code, w.Body)
				}
			})
		})
	}
}

// leaving is a client that goes away when a stream has begun.
type leaving struct {
	*httptest.ResponseRecorder

	leave context.CancelFunc
}

func (l leaving) Flush() {
	l.ResponseRecorder.Flush()
	l.leave()
}

// Keys are changed without a moment in which a token that was given away does not count, and
// a token of another server does not count at all.
func TestStreamTokenKeys(t *testing.T) {
	t.Parallel()

	key := func(name string) []byte { sum := sha256.Sum256([]byte(name)); return sum[:] }
	auth := twoTenants(t)
	e, alone := tokenServer(t, server.Config{Authenticator: auth})
	with := func(keys ...[]byte) *server.Server {
		s, err := server.New(e, server.Config{Authenticator: auth, StreamTokenKeys: keys, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before, between, after := with(key("old")), with(key("new"), key("old")), with(key("new"))
	for name, c := range map[string]struct {
		from, to *server.Server
		good     bool
	}{
		"Same": {before, before, true}, "OldBetween": {before, between, true}, "NewBetween": {between, between, true},
		"NewAfter": {between, after, true}, "OldAfter": {before, after, false}, "NewBefore": {between, before, false},
		"Alone": {alone, alone, true}, "OfOther": {before, alone, false}, "AtOther": {alone, before, false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		w := leaving{httptest.NewRecorder(), cancel}
		c.to.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, tokenURL("t1", tokenOf(t, c.from)), nil))
		if good := w.Code != http.StatusUnauthorized; good != c.good {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	for _, c := range []server.Config{
		{StreamTokenKeys: [][]byte{key("long"), []byte("short")}},
		{StreamTokenTTL: -1},
		{StreamTokenTTL: time.Millisecond},
	} {
		c.Insecure = true
		if _, err := server.New(e, c); spool.CodeOf(err) != spool.Invalid || strings.Contains(err.Error(), "short\x00") {
			t.Errorf("%v", err)
		}
	}
}

// What a token says is no secret of anybody else's.
func TestStreamTokenSays(t *testing.T) {
	t.Parallel()

	_, s := tokenServer(t, server.Config{Authenticator: twoTenants(t)})
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(tokenOf(t, s), ".")[0])
	if err != nil || !bytes.HasPrefix(text, []byte(`{"t":"a","s":"anna","i":"t1","e":`)) {
		t.Errorf("%s, %v", text, err)
	}
}

// A token that is there but wrong is no reason to ask for other credentials, and none of
// another kind helps it.
func TestStreamTokenAndBearer(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.starts(t, tokenA, "t1")
	if got := b.as(t, tokenA, http.MethodGet, tokenURL("t1", "wrong"), ""); got.status != http.StatusUnauthorized {
		t.Errorf("%d %s", got.status, got.body)
	}
	res, err := http.DefaultTransport.RoundTrip(b.request(t,
		call{method: http.MethodGet, path: tokenURL("t1", ""), token: tokenA}))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK { // an empty parameter is an absent one
		text, _ := io.ReadAll(res.Body)
		t.Errorf("%d %s", res.StatusCode, text)
	}
}

// leanStore fails who reads more than the thread itself.
type leanStore struct{ store.Store }

func (s leanStore) View(ctx context.Context, key spool.ThreadKey, f func(store.View) error) error {
	return s.Store.View(ctx, key, func(v store.View) error { return f(leanView{v}) })
}

type leanView struct{ store.View }

func (leanView) Messages(store.MessageQuery) ([]spool.Message, error) {
	return nil, errors.New("messages were read")
}

func (leanView) Entries(store.EntryQuery) ([]wire.Entry, error) {
	return nil, errors.New("entries were read")
}

// A token costs the same however much is in the thread.
func TestStreamTokenReadsNothing(t *testing.T) {
	t.Parallel()

	backend := memory.New(nil)
	s := newServer(t, backend, server.Config{Insecure: true})
	backend.Store = leanStore{backend.Store}
	lean := newServer(t, backend, server.Config{Insecure: true})
	for _, c := range []struct {
		server *server.Server
		path   string
		status int
	}{{s, runPath, 202}, {lean, streamTokenPath, 200}} {
		w := httptest.NewRecorder()
		c.server.ServeHTTP(w, httptest.NewRequestWithContext(patiently(t), http.MethodPost, c.path,
			strings.NewReader(`{"threadId":"t1","prompt":"hello"}`)))
		if w.Code != c.status {
			t.Errorf("%s: %d %s", c.path, w.Code, w.Body)
		}
	}
}

// A stream token and its stream end with the credentials that made the token: when they go, and when they allow
// something else.
func TestStreamTokenEndsWithMaker(t *testing.T) {
	t.Parallel()

	who := func(subject string, scopes ...access.Scope) access.Principal {
		return access.Principal{Tenant: "a", Subject: subject, Scopes: scopes}
	}
	stays := access.Token{Token: tokenA, Principal: who("anna", access.AllScopes()...)}
	auth, err := access.Tokens([]access.Token{
		stays,
		{Token: secondA, Principal: who("alan", access.ScopeRead)},
		{Token: readOnlyA, Principal: who("rita", access.ScopeRead)},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, server.Config{Authenticator: auth})
	b.starts(t, tokenA, "t1")
	gone, changed, kept := b.streamToken(t, secondA, "t1"), b.streamToken(t, readOnlyA, "t1"),
		b.streamToken(t, tokenA, "t1")
	watch := b.stream(t, call{path: tokenURL("t1", gone)})
	watch.until(t, state(wire.Queued))
	if err := auth.Replace([]access.Token{
		stays, {Token: readOnlyA, Principal: who("rita", access.ScopeRead, access.ScopeWrite)},
	}); err != nil {
		t.Fatal(err)
	}
	for {
		if _, more := watch.next(t); !more {
			break
		}
	}
	for _, token := range []string{gone, changed} {
		if got := b.do(t, call{method: http.MethodGet, path: tokenURL("t1", token)}); got.status != http.StatusUnauthorized ||
			got.body != badStreamToken {
			t.Errorf("a token whose maker is gone or changed: %d %s", got.status, got.body)
		}
	}
	b.stream(t, call{path: tokenURL("t1", kept)}).until(t, state(wire.Queued))
}
