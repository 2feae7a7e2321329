package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/server"
)

// A script in a browser sees that an idle stream is alive, in both formats and whoever opens it,
// if it asks for that.
func TestStreamKeepalive(t *testing.T) {
	t.Parallel()

	tokens := func(t *testing.T) server.Config { t.Helper(); return server.Config{Authenticator: twoTenants(t)} }
	const event = "event: keepalive\ndata: {}\n\n"
	for name, c := range map[string]struct {
		config func(t *testing.T) server.Config
		open   func(t *testing.T, s *server.Server) (query url.Values, header http.Header)
	}{
		"Credentials": {tokens, func(*testing.T, *server.Server) (url.Values, http.Header) {
			return url.Values{}, http.Header{"Authorization": {"Bearer " + tokenA}}
		}},
		"StreamToken": {tokens, func(t *testing.T, s *server.Server) (url.Values, http.Header) {
			t.Helper()
			return url.Values{"token": {tokenOf(t, s)}}, http.Header{}
		}},
		"Cookie": {
			func(*testing.T) server.Config { return server.Config{Authenticator: cookies, CookieAuth: true} },
			func(*testing.T, *server.Server) (url.Values, http.Header) {
				return url.Values{}, http.Header{"Cookie": {"session=of-anna"}}
			},
		},
		"Nobody": {
			func(*testing.T) server.Config { return server.Config{Insecure: true} },
			func(*testing.T, *server.Server) (url.Values, http.Header) { return url.Values{}, http.Header{} },
		},
	} {
		for _, format := range []string{"", "ag-ui"} {
			t.Run(name+format, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					e, s := tokenServer(t, c.config(t))
					defer e.Close()
					for keepalive, want := range map[string]string{
						"": ": keepalive\n\n", "comment": ": keepalive\n\n", "event": event,
					} {
						query, header := c.open(t, s)
						if name == "Cookie" { // whom the helper does not know
							startWithCookie(t, s)
						}
						query.Set("threadId", "t1")
						for k, v := range map[string]string{"wireFormat": format, "keepalive": keepalive} {
							if v != "" {
								query.Set(k, v)
							}
						}
						ctx, cancel := context.WithTimeout(t.Context(), 46*time.Second)
						r := httptest.NewRequestWithContext(ctx, http.MethodGet, streamPath+"?"+query.Encode(), http.NoBody)
						r.Header = header
						w := httptest.NewRecorder()
						s.ServeHTTP(w, r)
						cancel()
						text := w.Body.String()
						if w.Code != http.StatusOK || strings.Count(text, want) != 3 ||
							!strings.HasSuffix(text, "\n\n"+strings.Repeat(want, 3)) {
							t.Errorf("keepalive %q: %d %s", keepalive, w.Code, text)
						}
					}
				})
			})
		}
	}
}

func startWithCookie(t *testing.T, s *server.Server) {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, runPath,
		strings.NewReader(`{"threadId":"t1","prompt":"x"}`))
	r.Header.Set("Cookie", "session=of-anna")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusAccepted && w.Code != http.StatusConflict { // it is there already
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

func TestStreamKeepaliveUnknown(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.starts(t, tokenA, "t1")
	got := b.as(t, tokenA, http.MethodGet, streamPath+"?threadId=t1&keepalive=loud", "")
	if got.status != http.StatusBadRequest ||
		got.body != `{"error":"keepalive must be comment or event","code":"invalid"}` {
		t.Errorf("%d %s", got.status, got.body)
	}
}
