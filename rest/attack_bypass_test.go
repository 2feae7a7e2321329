package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/resttest"
)

// A lookup that finds nobody returns a nil *User, which as a Principal is not nil.
func TestAttackTypedNilPrincipal(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/known", handle("secret"), rest.Permit(permission.IsAuthenticated))
		rest.Get(r, "/admin", handle("secret"), rest.Permit(permission.IsAdmin))
		rest.Get(r, "/guarded", handle("secret"), rest.Auth(bearer()))
		rest.Get(r, "/who", whoami)
	}, rest.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var nobody *rest.User
			next.ServeHTTP(w, r.WithContext(rest.WithPrincipal(r.Context(), nobody)))
		})
	}))
	wantStatus(t, api, http.MethodGet, "/known", http.StatusForbidden)
	wantStatus(t, api, http.MethodGet, "/admin", http.StatusForbidden)
	if _, text := get(t, api, "/who"); text != `"nobody"` {
		t.Errorf("a nil pointer is %s", text)
	}
	if _, text := get(t, api, "/who", resttest.As((*rest.User)(nil))); text != `"nobody"` {
		t.Errorf("as a nil pointer: %s", text)
	}
	wantStatus(t, api, http.MethodGet, "/guarded", http.StatusUnauthorized, resttest.As((*rest.User)(nil)))
	if p, ok := rest.PrincipalAs[*rest.User](rest.WithPrincipal(context.Background(), (*rest.User)(nil))); ok {
		t.Errorf("PrincipalAs found %v", p)
	}
}
