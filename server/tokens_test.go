package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

func hashOf(token string) string {
	hash := sha256.Sum256([]byte(token))
	return hex.EncodeToString(hash[:])
}

// known asks a list of tokens for the subject of one.
func known(l *access.TokenList, token string) string {
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
		if err != nil || res.StatusCode != http.StatusUnauthorized ||
			!strings.Contains(string(text), "more than one Authorization header") {
			t.Errorf("a second header %q: %d %s, %v", second, res.StatusCode, text, err)
		}
	}
}

func TestTokensHashed(t *testing.T) {
	t.Parallel()

	a := access.Principal{Tenant: "a", Subject: "anna"}
	l, err := access.Tokens([]access.Token{{SHA256: strings.ToUpper(hashOf("of-anna")), Principal: a}})
	if err != nil {
		t.Fatal(err)
	}
	if got := known(l, "of-anna"); got != "anna" {
		t.Error(got)
	}
	if got := known(l, hashOf("of-anna")); got != notValid {
		t.Errorf("the hash opens the door: %s", got)
	}
	for want, list := range map[string][]access.Token{
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
		l, err := access.Tokens([]access.Token{{Token: "of-anna", Principal: access.Principal{
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
	synctest.Test(t, func(t *testing.T) {
		token := func(name string, until time.Time) access.Token {
			return access.Token{
				Token: name, Principal: access.Principal{Tenant: "a", Subject: name, Scopes: access.AllScopes(), Until: until},
			}
		}
		began, soon := time.Now(), time.Now().Add(1500*time.Millisecond)
		list, err := access.Tokens([]access.Token{
			token(tokenA, time.Time{}), token("goes", time.Time{}), token("ends", soon),
		})
		if err != nil {
			t.Fatal(err)
		}
		e, s := tokenServer(t, server.Config{Authenticator: list})
		defer e.Close()
		request := func(name, method, path, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+name)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return w
		}
		type ended struct {
			at time.Time
			w  *httptest.ResponseRecorder
		}
		opened := make(map[string]chan ended)
		open := func(name string, request func() *httptest.ResponseRecorder) {
			done := make(chan ended, 1)
			opened[name] = done
			go func() {
				w := request()
				done <- ended{time.Now(), w}
			}()
		}
		for _, name := range []string{tokenA, "goes", "ends"} {
			open(name, func() *httptest.ResponseRecorder { return request(name, http.MethodGet, streamPath+"?threadId=t1", "") })
		}
		var short struct {
			Token     string
			ExpiresAt time.Time
		}
		if err := json.Unmarshal(
			request("ends", http.MethodPost, streamTokenPath, `{"threadId":"t1"}`).Body.Bytes(), &short,
		); err != nil {
			t.Fatal(err)
		}
		if short.ExpiresAt.After(soon) {
			t.Errorf("a stream token until %s, behind %s", short.ExpiresAt, soon)
		}
		open("short", func() *httptest.ResponseRecorder { return follow(t.Context(), s, tokenURL("t1", short.Token)) })
		synctest.Wait()
		for name, done := range opened {
			if len(done) > 0 {
				t.Errorf("the stream of %s ended at once", name)
			}
		}
		if err := list.Replace([]access.Token{token(tokenA, time.Time{}), token("ends", soon)}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := <-opened["goes"]; !got.at.Equal(began) || got.w.Code != http.StatusOK {
			t.Errorf("the stream of a token that is gone: %d, ended after %s", got.w.Code, got.at.Sub(began))
		}
		if got := request("goes", http.MethodGet, threadsPath, ""); got.Code != http.StatusUnauthorized {
			t.Errorf("a token that is gone: %d", got.Code)
		}
		if got := <-opened["ends"]; !got.at.Equal(soon) || got.w.Code != http.StatusOK {
			t.Errorf("the stream of a token that ends: %d, ended after %s", got.w.Code, got.at.Sub(began))
		}
		if got := <-opened["short"]; got.at.After(soon) || got.w.Code != http.StatusOK {
			t.Errorf("the stream of what was got for a token that ends: %d, ended after %s", got.w.Code, got.at.Sub(began))
		}
		post(t, s, controlPath, `{"threadId":"t1"}`)
		synctest.Wait()
		if len(opened[tokenA]) > 0 {
			t.Error("the stream of a token that stays has ended")
		}
		e.Close()
		if got := <-opened[tokenA]; !strings.Contains(got.w.Body.String(), string(wire.Cancelled)) {
			t.Errorf("the stream of a token that stays: %s", got.w.Body)
		}
	})
}
