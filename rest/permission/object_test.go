package permission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

func (b Book) OwnerID() string { return b.Owner }

type owned interface{ OwnerID() string }

func TestObjectTypes(t *testing.T) {
	t.Parallel()

	ctx := rest.WithPrincipal(t.Context(), &rest.User{ID: "ada"})
	objects := map[string]any{
		"mine": Book{"ada"}, "pointer to mine": &Book{"ada"}, "another's": Book{"bob"}, "pointer to another's": &Book{"bob"},
		"nobody's": &Book{},
	}
	want := map[string]string{
		"mine": "yes", "pointer to mine": "yes", "another's": "no", "pointer to another's": "no", "nobody's": "no",
	}
	for name, p := range map[string]rest.Permission{
		"of a value":      permission.Owner(func(b Book) string { return b.Owner }),
		"of a pointer":    permission.Owner(func(b *Book) string { return b.Owner }),
		"of an interface": permission.Owner(func(o owned) string { return o.OwnerID() }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge, ok := p.(rest.ObjectPermission)
			if !ok {
				t.Fatal("it judges no objects")
			}
			got := map[string]string{}
			for name, object := range objects {
				if !judge.AppliesTo(reflect.TypeOf(object)) {
					t.Errorf("it does not judge a %T", object)
				}
				got[name] = outcome(judge.CheckObject(ctx, object))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
			if judge.AppliesTo(reflect.TypeFor[Author]()) {
				t.Error("it claims to judge authors")
			}
			if err := judge.CheckObject(ctx, (*Book)(nil)); err == nil || outcome(err) == "no" {
				t.Errorf("of no book: %v, want an error that is no refusal", err)
			}
			if got := outcome(judge.CheckObject(t.Context(), objects["nobody's"])); got != "no" {
				t.Errorf("nobody and nobody's: %s, want no", got)
			}
		})
	}
}

// library has books, and a permission about them.
type library struct {
	books      []*Volume
	permission rest.Permission
}

// Volume is a book with an ID.
type Volume struct {
	ID    int    `json:"id"`
	Owner string `json:"owner"`
}

func (l *library) Routes(r *rest.Routes) {
	r.Configure(rest.Permit(l.permission))
	rest.List(r, "/books", l.list)
	rest.Get(r, "/books/{int:id}", l.get)
}

func (l *library) list(context.Context, struct{}) ([]*Volume, error) { return l.books, nil }

type bookPath struct {
	ID int `path:"id"`
}

func (l *library) get(ctx context.Context, in bookPath) (*Volume, error) {
	return rest.GetOrNotFound(ctx, l.load, in.ID)
}

func (l *library) load(_ context.Context, id int) (*Volume, error) {
	for _, b := range l.books {
		if b.ID == id {
			return b, nil
		}
	}
	return nil, rest.ErrNotFound
}

func nothing(context.Context) query.Expr { return query.Or() }

func mine(ctx context.Context) query.Expr {
	p := rest.PrincipalOf(ctx)
	if p == nil {
		return query.Or()
	}
	return query.Where("owner", p.PrincipalID())
}

func even(context.Context) query.Expr { return driver.On("id", driver.In, []int{2, 4}) }

// closed is a permission of a program, with a scope, that refuses every request.
type closed struct{}

func (closed) Check(context.Context) error { return rest.Denied("") }

func (closed) ListScope(context.Context, reflect.Type) (query.Expr, error) {
	return query.Where("id", 3), nil
}

func seen(t *testing.T, api http.Handler, key string) []int {
	t.Helper()
	w := ask(api, http.MethodGet, "/books", key)
	if w.Code != http.StatusOK {
		t.Fatalf("list: %d %s", w.Code, w.Body)
	}
	var page struct {
		Items []Volume `json:"items"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	ids := []int{}
	for _, b := range page.Items {
		ids = append(ids, b.ID)
	}
	return ids
}

// TestListsAndObjects has four books, 1 and 2 of bob, 3 and 4 of ada, and asks as bob.
func TestListsAndObjects(t *testing.T) {
	t.Parallel()

	owner := permission.Owner(func(b *Volume) string { return b.Owner })
	scope := permission.ListScope[Volume](mine)
	evens := permission.ListScope[*Volume](even)
	none := permission.ListScope[Volume](nothing)
	whole := permission.ListScope[Volume](func(context.Context) query.Expr { return nil })
	others := permission.ListScope[Author](nothing)
	refused := permission.IsAdmin
	for name, test := range map[string]struct {
		permission rest.Permission
		list       []int // of bob
		objects    string
	}{
		"open":                         {permission.AllowAny, []int{1, 2, 3, 4}, "1234"},
		"a scope":                      {scope, []int{1, 2}, "1234"},
		"a scope of all":               {whole, []int{1, 2, 3, 4}, "1234"},
		"an owner":                     {owner, []int{1, 2, 3, 4}, "12"},
		"all":                          {permission.All(owner, scope), []int{1, 2}, "12"},
		"all of scopes":                {permission.All(scope, evens), []int{2}, "1234"},
		"all with none":                {permission.All(scope, none), []int{}, "1234"},
		"all with the whole":           {permission.All(scope, whole, others), []int{1, 2}, "1234"},
		"any of scopes":                {permission.Any(scope, evens), []int{1, 2, 4}, "1234"},
		"any with the whole":           {permission.Any(scope, whole), []int{1, 2, 3, 4}, "1234"},
		"any with others":              {permission.Any(scope, others), []int{1, 2}, "1234"},
		"any, one refused":             {permission.Any(permission.All(refused, evens), scope), []int{1, 2}, "1234"},
		"any, plain one refused":       {permission.Any(refused, scope), []int{1, 2}, "1234"},
		"any, plain one allowed":       {permission.Any(permission.IsAuthenticated, scope), []int{1, 2, 3, 4}, "1234"},
		"any of admin, owner, scope":   {permission.Any(refused, owner, scope), []int{1, 2}, "12"},
		"any of allowed, owner, scope": {permission.Any(permission.IsAuthenticated, owner, scope), []int{1, 2, 3, 4}, "1234"},
		"any, a scope that refuses":    {permission.Any(permission.All(closed{}, whole), scope), []int{1, 2}, "1234"},
		"any in any": {
			permission.Any(permission.Any(permission.IsAuthenticated, others), scope), []int{1, 2, 3, 4}, "1234",
		},
		"not a scope":         {permission.Not(scope), []int{3, 4}, "1234"},
		"not the whole":       {permission.Not(whole), []int{}, "1234"},
		"not a refused scope": {permission.Not(permission.All(refused, scope)), []int{1, 2, 3, 4}, "1234"},
		"not an owner":        {permission.Not(owner), []int{1, 2, 3, 4}, "34"},
		"not any":             {permission.Not(permission.Any(scope, evens)), []int{3}, "1234"},
		"not all":             {permission.Not(permission.All(scope, evens)), []int{1, 3, 4}, "1234"},
		"not all of both":     {permission.Not(permission.All(scope, owner)), []int{3, 4}, "34"},
		"a message":           {permission.WithMessage(permission.All(owner, scope), "no"), []int{1, 2}, "12"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newAPI(&library{
				books:      []*Volume{{1, "bob"}, {2, "bob"}, {3, "ada"}, {4, "ada"}},
				permission: test.permission,
			})
			if diff := cmp.Diff(test.list, seen(t, api, "plain")); diff != "" {
				t.Errorf("the list (-want +got):\n%s", diff)
			}
			objects := ""
			for id := 1; id <= 4; id++ {
				switch w := ask(api, http.MethodGet, fmt.Sprint("/books/", id), "plain"); w.Code {
				case http.StatusOK:
					objects += strconv.Itoa(id)
				case http.StatusForbidden:
				default:
					t.Errorf("book %d: %d %s", id, w.Code, w.Body)
				}
			}
			if objects != test.objects {
				t.Errorf("books %s are open, want %s", objects, test.objects)
			}
			if got := ask(api, http.MethodGet, "/books/9", "plain").Code; got != http.StatusNotFound {
				t.Errorf("a book that is not there: %d, want 404", got)
			}
		})
	}
}
