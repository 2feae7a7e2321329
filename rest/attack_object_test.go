package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/permission"
)

// sealedBook has its method on the pointer, as most models do.
type sealedBook struct {
	ID     int64 `json:"id"`
	Sealed bool  `json:"sealed"`
}

func (b *sealedBook) IsSealed() bool { return b.Sealed }

// A rule about an interface has to judge a row that is handed over as a value, too: beside
// another rule that does, nobody would notice that it was not asked.
func TestAttackObjectRuleOfAnInterface(t *testing.T) {
	t.Parallel()

	type sealable interface{ IsSealed() bool }
	open := permission.Object(func(_ context.Context, s sealable) error {
		if s.IsSealed() {
			return rest.Denied("It is sealed.")
		}
		return nil
	})
	known := permission.Object(func(context.Context, sealedBook) error { return nil })
	find := func(_ context.Context, id int64) (sealedBook, error) {
		if id == 0 {
			return sealedBook{}, rest.ErrNotFound
		}
		return sealedBook{ID: id, Sealed: id == 1}, nil
	}
	for name, permit := range map[string]rest.RouteOption{
		"alone": rest.Permit(open), "beside another": rest.Permit(known, open),
		"in All": rest.Permit(permission.All(known, open)), "in Any": rest.Permit(permission.Any(permission.IsAdmin, open)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := serve(func(r *rest.Routes) {
				rest.Get(r, "/value/{int:id}", func(ctx context.Context, in byID) (sealedBook, error) {
					return rest.GetOrNotFound(ctx, find, in.ID)
				}, permit)
				rest.Get(r, "/pointer/{int:id}", func(ctx context.Context, in byID) (*sealedBook, error) {
					b, err := find(ctx, in.ID)
					if err == nil {
						err = rest.CheckObjectPermission(ctx, &b)
					}
					return &b, err
				}, permit)
			})
			for _, kind := range []string{"/value", "/pointer"} {
				wantStatus(t, api, http.MethodGet, kind+"/1", http.StatusForbidden)
				wantStatus(t, api, http.MethodGet, kind+"/2", http.StatusOK)
			}
		})
	}
}
