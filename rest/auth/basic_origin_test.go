package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
)

// Browsers send a password that they remember by themselves, also for pages of others.
func TestBasicOfAnotherSite(t *testing.T) {
	t.Parallel()

	api := newAPI(auth.Basic(func(context.Context, string, string) (*rest.User, error) { return ada, nil }))
	for name, test := range map[string]struct {
		method, site string
		want         int
	}{
		"no browser":   {http.MethodPost, "", http.StatusOK},
		"same origin":  {http.MethodPost, "same-origin", http.StatusOK},
		"another site": {http.MethodPost, "cross-site", http.StatusForbidden},
		"reading":      {http.MethodGet, "cross-site", http.StatusOK},
	} {
		r := httptest.NewRequest(test.method, "/me", nil)
		r.SetBasicAuth("ada", "s3cret")
		if test.site != "" {
			r.Header.Set("Sec-Fetch-Site", test.site)
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, test.want)
		}
	}
}
