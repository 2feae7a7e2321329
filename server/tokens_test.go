package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
)

func hashOf(token string) string {
	hash := sha256.Sum256([]byte(token))
	return hex.EncodeToString(hash[:])
}

// known asks a list of tokens for the subject of one.
func known(l *server.TokenList, token string) string {
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+token)
	p, err := l.Authenticate(r)
	if err != nil {
		return spool.MessageOf(err)
	}
	return p.Subject
}

const notValid = "the bearer token is not valid"

// A proxy may have looked at one of two headers, and the server at the other.
func TestTwoAuthorizations(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	for _, second := range []string{"Bearer " + tokenB, "Bearer " + tokenA, "Basic YTpi", ""} {
		r := b.request(t, call{method: http.MethodGet, path: threadsPath, token: tokenA})
		r.Header.Add("Authorization", second)
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), "more than one Authorization header") {
			t.Errorf("a second header %q: %d %s, %v", second, res.StatusCode, text, err)
		}
	}
}

func TestTokensHashed(t *testing.T) {
	t.Parallel()

	a := server.Principal{Tenant: "a", Subject: "anna"}
	l, err := server.Tokens([]server.Token{{SHA256: strings.ToUpper(hashOf("of-anna")), Principal: a}})
	if err != nil {
		t.Fatal(err)
	}
	if got := known(l, "of-anna"); got != "anna" {
		t.Error(got)
	}
	if got := known(l, hashOf("of-anna")); got != notValid {
		t.Errorf("the hash opens the door: %s", got)
	}
	for want, list := range map[string][]server.Token{
		"token 0: SHA256 must be 64 hexadecimal digits": {{SHA256: "0123", Principal: a}},
		"token 0 has a Token and a SHA256":              {{SHA256: hashOf("x"), Token: "x", Principal: a}},
		"token 1 is listed twice":                       {{SHA256: hashOf("x"), Principal: a}, {Token: "x", Principal: a}},
	} {
		if err := l.Replace(list); spool.CodeOf(err) != spool.Invalid || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if got := known(l, "of-anna"); got != "anna" {
		t.Errorf("behind lists that are wrong: %s", got)
	}
}

func TestTokensExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, err := server.Tokens([]server.Token{{Token: "of-anna", Principal: server.Principal{
			Tenant: "a", Subject: "anna", Until: time.Now().Add(time.Hour),
		}}})
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour - 1)
		if got := known(l, "of-anna"); got != "anna" {
			t.Error(got)
		}
		<-time.After(1)
		if got := known(l, "of-anna"); got != notValid {
			t.Error(got)
		}
	})
}

// A stream ends with the token that has opened it, and so does one that was opened by what was
// got for it.
func TestTokensEndStreams(t *testing.T) {
	t.Parallel()

	token := func(name string, until time.Time) server.Token {
		return server.Token{Token: name, Principal: server.Principal{Tenant: "a", Subject: name, Scopes: server.AllScopes(), Until: until}}
	}
	soon := time.Now().Add(1500 * time.Millisecond)
	list, err := server.Tokens([]server.Token{token("stays", time.Time{}), token("goes", time.Time{}), token("ends", soon)})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, server.Config{Authenticator: list})
	b.as(t, "stays", http.MethodPost, runPath, `{"threadId":"t","prompt":"Hello"}`)
	opened := make(map[string]*events)
	for _, name := range []string{"stays", "goes", "ends"} {
		opened[name] = b.stream(t, call{path: streamPath + "?threadId=t", token: name})
	}
	short := into[struct{ ExpiresAt time.Time }](t, b.as(t, "ends", http.MethodPost, streamTokenPath, `{"threadId":"t"}`))
	if short.ExpiresAt.After(soon) {
		t.Errorf("a stream token until %s, behind %s", short.ExpiresAt, soon)
	}
	if err := list.Replace([]server.Token{token("stays", time.Time{}), token("ends", soon)}); err != nil {
		t.Fatal(err)
	}
	untilEnd(t, opened["goes"])
	untilEnd(t, opened["ends"])
	if time.Now().Before(soon) {
		t.Error("the stream ended before its token")
	}
	if got := b.as(t, "goes", http.MethodGet, threadsPath, ""); got.status != http.StatusUnauthorized {
		t.Errorf("a token that is gone: %d", got.status)
	}
	b.as(t, "stays", http.MethodPost, controlPath, `{"threadId":"t"}`)
	opened["stays"].until(t, state(spool.Cancelled))
}

// untilEnd reads a stream to its end.
func untilEnd(t *testing.T, e *events) {
	t.Helper()
	for {
		if _, ok := e.next(t); !ok {
			return
		}
	}
}
