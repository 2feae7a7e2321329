package permission_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
)

type Note struct {
	ID    int64  `json:"id"`
	Owner string `json:"owner"`
}

type Notes struct{ all []*Note }

func (c *Notes) Routes(r *rest.Routes) {
	// Of all routes: who has an account, and of a note its owner. A list has one's own notes.
	r.Configure(rest.Prefix("/notes"), rest.Permit(
		permission.IsAuthenticated,
		permission.Any(permission.IsAdmin, permission.Owner(func(n *Note) string { return n.Owner }),
			permission.ListScope[Note](own)),
	))
	rest.List(r, "/", c.list, page.None())
	rest.Get(r, "/{int:id}", c.get)
	rest.Get(r, "/count", c.count, rest.Permit(permission.IsAdmin)) // in the place of those above
	rest.Get(r, "/help", c.help, rest.Open())
}

func own(ctx context.Context) query.Expr {
	return query.Where("owner", rest.PrincipalOf(ctx).PrincipalID())
}

func (c *Notes) list(context.Context, struct{}) ([]*Note, error) { return c.all, nil }

func (c *Notes) get(ctx context.Context, in struct {
	ID int64 `path:"id"`
},
) (*Note, error) {
	return rest.GetOrNotFound(ctx, c.load, in.ID) // which asks the permissions about the note
}

func (c *Notes) load(_ context.Context, id int64) (*Note, error) {
	if id > int64(len(c.all)) {
		return nil, rest.ErrNotFound
	}
	return c.all[id-1], nil
}

func (c *Notes) count(context.Context, struct{}) (int, error) { return len(c.all), nil }

func (c *Notes) help(context.Context, struct{}) (string, error) { return "Ask ada.", nil }

// A controller whose routes are for their owners.
func Example() {
	keys := auth.Keys(map[string]*rest.User{"of ada": {ID: "ada", Admin: true}, "of bob": {ID: "bob"}})
	api := rest.New(rest.Auth(auth.APIKeyHeader("X-Key", keys), rest.Anonymous))
	api.Register(&Notes{[]*Note{{1, "ada"}, {2, "bob"}}})

	for _, request := range [][2]string{
		{"of bob", "/notes"},
		{"of bob", "/notes/1"},
		{"of bob", "/notes/2"},
		{"of bob", "/notes/count"},
		{"of ada", "/notes/count"},
		{"", "/notes"},
		{"", "/notes/help"},
	} {
		r := httptest.NewRequest(http.MethodGet, request[1], nil)
		r.Header.Set("X-Key", request[0])
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			w.Body.Reset()
		}
		line := fmt.Sprintf("%q %s %d %s", request[0], request[1], w.Code, w.Body)
		fmt.Println(strings.TrimSpace(line))
	}
	// Output:
	// "of bob" /notes 200 [{"id":2,"owner":"bob"}]
	// "of bob" /notes/1 403
	// "of bob" /notes/2 200 {"id":2,"owner":"bob"}
	// "of bob" /notes/count 403
	// "of ada" /notes/count 200 2
	// "" /notes 401
	// "" /notes/help 200 "Ask ada."
}
