package command

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

const (
	oldToken = "the-old-token-of-ann"
	newToken = "the-new-token-of-ann"
)

// writeTokens writes a configuration with one token, as of a time.
func writeTokens(t *testing.T, path, token string, at time.Time) {
	t.Helper()
	text := fmt.Sprintf("auth: {tokens: [{token: %s, subject: ann, scopes: [read]}]}\n", token)
	if token == "" {
		text = "# no tokens any more\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// The tokens are read again within a second of a change to the file. A file that is wrong
// changes nothing, and the log says why without a token.
func TestTokenFile(t *testing.T) {
	t.Parallel()

	path, at := filepath.Join(t.TempDir(), "spool.yaml"), time.Now()
	writeTokens(t, path, oldToken, at)
	c, err := config.Load(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	_, f, err := newTokens(c, path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	f.log, f.now = slog.New(slog.NewTextHandler(&logged, nil)), func() time.Time { return at }
	knows := func(token string) bool {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Authorization", "Bearer "+token)
		_, err := f.Authenticate(r)
		return err == nil
	}
	check := func(what, valid, not string) {
		t.Helper()
		if !knows(valid) || knows(not) {
			t.Errorf("%s: %s %t, %s %t", what, valid, knows(valid), not, knows(not))
		}
	}
	check("at first", oldToken, newToken)
	writeTokens(t, path, newToken, at.Add(time.Minute))
	check("within the second", oldToken, newToken)
	at = at.Add(time.Second)
	check("a second later", newToken, oldToken)
	for i, wrong := range []string{"secret-but-two words", "short-secret", ""} {
		at = at.Add(time.Second)
		writeTokens(t, path, wrong, at.Add(time.Duration(i+2)*time.Minute))
		check("after a wrong file", newToken, oldToken)
	}
	if n := strings.Count(logged.String(), "level=ERROR"); n != 3 || strings.Contains(logged.String(), "secret") {
		t.Errorf("%d errors:\n%s", n, &logged)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	at = at.Add(time.Second)
	check("without the file", newToken, oldToken)
	writeTokens(t, path, oldToken, at)
	f.reread(t.Context())
	check("at a signal", oldToken, newToken)
}

// A signal has the file read at once, and does not end the process.
func TestTokenSignal(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.yaml")
	writeTokens(t, path, oldToken, time.Now())
	p := start(t, t.TempDir(), "--config", path)
	if got := p.with(t, oldToken, "/api/threads"); got != http.StatusOK {
		t.Fatal(got)
	}
	writeTokens(t, path, newToken, time.Now().Add(time.Minute))
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); p.with(t, newToken, "/api/threads") != http.StatusOK; {
		if time.Now().After(end) {
			t.Fatal("the new token is not known")
		}
	}
	if got := p.with(t, oldToken, "/api/threads"); got != http.StatusUnauthorized {
		t.Errorf("the old token: %d", got)
	}
	if code := p.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
