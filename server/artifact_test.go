package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
)

// Browsers save an artifact as a file, whatever it is, and never as a page of this origin.
func TestArtifact(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	b.says(t, "t1", "hello", "")
	key := spool.ThreadKey{Tenant: "a", ID: "t1"}
	saved, err := b.engine.SaveArtifact(t.Context(), key,
		spool.NewArtifact{Name: "a.html", Data: strings.NewReader("<html>hi</html>")})
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/agent/artifacts/" + string(saved.ID) + "?threadId=t1"
	got := b.as(t, tokenA, http.MethodGet, path, "")
	if got.status != http.StatusOK || got.body != "<html>hi</html>" {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "private, max-age=31536000, immutable",
		"Vary": "Authorization, Cookie", "Content-Disposition": "attachment; filename=a.html",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if have := got.header.Get(name); have != want {
			t.Errorf("%s is %q, want %q", name, have, want)
		}
	}
	for token, wrong := range map[string]string{tokenA: "/api/agent/artifacts/art_none?threadId=t1", tokenB: path} {
		if got := b.as(t, token, http.MethodGet, wrong, ""); got.status != http.StatusNotFound ||
			!strings.Contains(got.body, `"code":"not_found"`) {
			t.Errorf("%s: %d %s", wrong, got.status, got.body)
		}
	}
	started := b.as(t, tokenA, http.MethodPost, runPath,
		`{"threadId":"t1","prompt":"look","attachments":[{"artifactId":"`+string(saved.ID)+`"}]}`)
	if started.status != http.StatusAccepted {
		t.Errorf("attach: %d %s", started.status, started.body)
	}
}
