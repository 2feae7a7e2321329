package rest_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

// seen is a scope that is made of a function.
type seen func(ctx context.Context) (query.Expr, error)

func (seen) Check(context.Context) error                                         { return nil }
func (s seen) ListScope(ctx context.Context, _ reflect.Type) (query.Expr, error) { return s(ctx) }

func TestListsShowWhatMayBeSeen(t *testing.T) {
	t.Parallel()

	// Everybody sees the novels of one author, and administrators all of them.
	austen := seen(func(ctx context.Context) (query.Expr, error) {
		switch p := rest.PrincipalOf(ctx); {
		case p == nil:
			return nil, rest.Denied("")
		case p.PrincipalID() == "ann":
			return nil, nil //nolint:nilnil // all of them
		case p.PrincipalID() == "carl":
			return nil, errors.New("secret")
		default:
			return query.Where("author__name", "Jane Austen"), nil
		}
	})
	api := serve(func(r *rest.Routes) {
		rest.List(r, "/slice", listNovels)
		rest.List(r, "/set", func(context.Context, struct{}) (query.Set[novel], error) { return query.Slice(novels()), nil })
		rest.List(r, "/number", listNovels, page.Number(), query.Filter[novelFilter](), query.Order("price"))
	}, rest.Auth(bearer(), rest.Anonymous), rest.Permit(austen))
	for _, path := range []string{"/slice", "/set"} {
		for key, want := range map[string]string{"bob-key": "1 3 5", "ann-key": "1 2 3 4 5"} {
			a := resttest.Do[offsetPage](t, api, http.MethodGet, path, resttest.Bearer(key))
			wantDiff(t, path+" "+key, []any{want, int64((len(want) + 1) / 2)}, []any{ids(a.Body.Items), a.Body.Count})
		}
		wantStatus(t, api, http.MethodGet, path, http.StatusUnauthorized)
		wantStatus(t, api, http.MethodGet, path, http.StatusInternalServerError, resttest.Bearer("carl-key"))
	}
	for target, want := range map[string]string{
		"/number?author=james%20joyce":     "", // a filter shows no more than may be seen
		"/number?ordering=price&title=ma":  "1 5",
		"/number?ordering=-price":          "5 1 3",
		"/number?page_size=1&page=3":       "5",
		"/number?min_price=1&price__lte=8": "3 1", // by price, as nobody asked for another order
	} {
		a := resttest.Do[numberPage](t, api, http.MethodGet, target, resttest.Bearer("bob-key"))
		wantDiff(t, target, want, ids(a.Body.Results))
	}
	wantStatus(t, api, http.MethodGet, "/number?page_size=1&page=4", http.StatusNotFound, resttest.Bearer("bob-key"))
}
