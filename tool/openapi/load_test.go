package openapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/tool/openapi"
)

func TestLoad(t *testing.T) {
	t.Parallel()

	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the other host got a request")
	}))
	t.Cleanup(other.Close)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/here":
			http.Redirect(w, r, "/doc?"+r.URL.RawQuery, http.StatusFound)
		case "/doc":
			_, _ = io.WriteString(w, "openapi: "+r.URL.Query().Get("key"))
		case "/large":
			_, _ = io.CopyN(w, zeros{}, openapi.MaxDocument+1)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "doc.yaml")
	if err := os.WriteFile(file, []byte("openapi: file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]string{
		s.URL + "/doc?key=secret":        "openapi: secret",
		s.URL + "/here?key=secret":       "openapi: secret",
		file:                             "openapi: file",
		s.URL + "/away?key=secret":       "redirects to another host",
		s.URL + "/missing?key=secret":    "answered with status 404 instead of the document",
		s.URL + "/large":                 "the document is larger than 16777216 bytes",
		file + ".not":                    "no such file",
		"http://127.0.0.1:1/?key=secret": "cannot get the document from 127.0.0.1:1",
	} {
		text, err := openapi.Load(t.Context(), location, loopback)
		if string(text) != want && (err == nil || !strings.Contains(spool.MessageOf(err), want) ||
			strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %s, %v", location, text, err)
		}
	}
	_, err := openapi.Load(t.Context(), s.URL+"/doc?key=secret", egress.Policy{})
	if spool.CodeOf(err) != spool.Forbidden || strings.Contains(err.Error(), "secret") {
		t.Errorf("without an exception: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestEgress has a document name a private address, which is refused when the tool dials it.
func TestEgress(t *testing.T) {
	t.Parallel()

	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("got a request") }))
	t.Cleanup(s.Close)
	document := "openapi: 3.0.3\nservers: [{url: '" + s.URL + "'}]\npaths: {/x: {get: {operationId: op}}}"
	tools := open(t, openapi.Config{Document: []byte(document), Operations: []string{"op"}})
	if _, err := tools["op"].Call(t.Context(), spool.ToolCall{}); spool.CodeOf(err) != spool.Forbidden {
		t.Errorf("got %v", err)
	}
}
