package command

import (
	"net/http"
	"strings"
	"testing"
)

// with sends a GET with a token and returns the status.
func (p *process) with(t *testing.T, token, path string) int {
	t.Helper()

	r, err := http.NewRequestWithContext(patiently(t), http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

// One variable is enough for a server that asks for a token, on loopback and beyond it.
func TestOwnToken(t *testing.T) {
	t.Parallel()

	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		p := startWith(t, []string{"SPOOL_TOKEN=one-that-nobody-guesses"}, t.TempDir(), "--listen", listen)
		if strings.Contains(p.banner, "one-that-nobody-guesses") || !strings.Contains(p.banner, "auth    bearer tokens\n") {
			t.Errorf("the banner of %s:\n%s", listen, p.banner)
		}
		if got := p.get(t, "/api/threads"); got != `{"error":"a bearer token is required","code":"unauthorized"}` {
			t.Errorf("%s without a token: %s", listen, got)
		}
		for token, want := range map[string]int{"one-that-nobody-guesses": 200, "another-one-of-the-length": 401} {
			for _, path := range []string{"/api/threads", "/api/admin/overview"} {
				if got := p.with(t, token, path); got != want {
					t.Errorf("%s%s with %s: %d, want %d", listen, path, token, got, want)
				}
			}
		}
	}
}

// A server that other machines can reach makes up a token where nobody has given it one, and
// another one at each start.
func TestPrintedToken(t *testing.T) {
	t.Parallel()

	seen := make(map[string]bool)
	for range 2 {
		p := start(t, t.TempDir(), "--listen", "0.0.0.0:0")
		_, rest, _ := strings.Cut(p.banner, "export SPOOL_TOKEN=")
		token, _, _ := strings.Cut(rest, "\n")
		if len(token) < 24 || seen[token] {
			t.Fatalf("the token %q:\n%s", token, p.banner)
		}
		seen[token] = true
		if got := p.with(t, token, "/api/threads"); got != http.StatusOK {
			t.Errorf("with the token: %d", got)
		}
		if got := p.with(t, "", "/api/threads"); got != http.StatusUnauthorized {
			t.Errorf("without the token: %d", got)
		}
		if strings.Contains(p.stderr.String(), token) {
			t.Errorf("the log has the token:\n%s", p.stderr)
		}
	}
}
