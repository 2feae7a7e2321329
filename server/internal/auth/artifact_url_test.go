package auth

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

const signedArtifact spool.ArtifactID = "art_0123456789abcdef0123456789abcdef"

// signing returns an Auth with a key, and a token of it.
func signing(tb testing.TB) (*Auth, string) {
	tb.Helper()
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m"}}, Models: map[string]spool.Model{"m": demo.New(demo.Config{})},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.Close)
	a, err := New(Config{
		Engine: e, TokenKeys: [][]byte{bytes.Repeat([]byte("k"), 32)}, TokenTTL: time.Minute, Closing: tb.Context(),
	})
	if err != nil {
		tb.Fatal(err)
	}
	thread := wire.Thread{ID: "t1", CreatedAt: time.UnixMicro(1795382790414532)}
	token, _ := a.SignArtifact(access.Principal{Tenant: "a"}, thread, signedArtifact, time.Hour)
	return a, token
}

// Each other byte at each place of a token is refused, and so is each byte more or less.
func TestArtifactTokenIsExact(t *testing.T) {
	t.Parallel()

	a, token := signing(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	if g, err := a.OpenArtifact(r, token, signedArtifact); err != nil || g.Thread != "t1" || g.Tenant != "a" {
		t.Fatalf("%+v, %v", g, err)
	}
	refused := func(changed string) {
		if _, signed := a.sealed(artifactURLUse, changed); signed {
			t.Errorf("accepted %q for %q", changed, token)
		}
	}
	for i := range len(token) {
		for b := range 256 {
			changed := []byte(token)
			if changed[i] = byte(b); string(changed) != token {
				refused(string(changed))
			}
		}
		refused(token[:i])
		refused(token[:i] + token[i+1:])
		for _, more := range []string{"\n", "\r", "=", ".", "A"} {
			refused(token[:i] + more + token[i:])
		}
	}
	refused(token + "=")
	if _, err := a.OpenArtifact(r, token, signedArtifact+"0"); err == nil {
		t.Error("it opens another artifact")
	}
}

// A URL does not outlive the credentials of the caller that asked for it, and its time is part of what is signed.
func TestArtifactTokenExpires(t *testing.T) {
	t.Parallel()

	a, _ := signing(t)
	thread := wire.Thread{ID: "t1"}
	_, until := a.SignArtifact(access.Principal{Tenant: "a", Until: time.Now().Add(time.Minute)}, thread, signedArtifact,
		time.Hour)
	if left := time.Until(until); left > time.Minute {
		t.Errorf("it lasts %s", left)
	}
	token, _ := a.SignArtifact(access.Principal{Tenant: "a", Until: time.Now().Add(-time.Second)}, thread, signedArtifact,
		time.Hour)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	if _, err := a.OpenArtifact(r, token, signedArtifact); spool.CodeOf(err) != spool.Forbidden {
		t.Errorf("an expired one: %v", err)
	}
	streamed, _ := a.StreamToken(access.Principal{Tenant: "a"}, thread)
	if _, signed := a.sealed(artifactURLUse, streamed); signed {
		t.Error("the token of a stream is accepted")
	}
}

// FuzzArtifactToken looks for a token that is accepted and that the key has not signed.
func FuzzArtifactToken(f *testing.F) {
	a, token := signing(f)
	payload, _, _ := strings.Cut(token, ".")
	for _, text := range []string{
		token, payload, "", ".", payload + ".", "." + payload, token + ".", token + "\n", strings.ToUpper(token), "e30.e30",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		g, err := a.OpenArtifact(r, text, signedArtifact)
		if (err == nil) != (text == token) {
			t.Errorf("%q opens %+v: %v", text, g, err)
		}
		if got, err := readArtifactGrant(text); err == nil && got.Key().Tenant != got.Tenant {
			t.Errorf("%+v", got)
		}
	})
}
