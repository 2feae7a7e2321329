package permission_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
)

// show asks a route with the permission as nobody, as a plain user and as an
// administrator, to read and to write.
func show(p rest.Permission) string {
	var b strings.Builder
	api := newAPI(&guarded{p})
	for _, key := range []string{"", "plain", "admin"} {
		fmt.Fprintf(&b, "%-6s GET %d POST %d\n", key,
			ask(api, http.MethodGet, "/thing", key).Code, ask(api, http.MethodPost, "/thing", key).Code)
	}
	return b.String()
}

// open returns the list and the objects that a user may see.
func open(p rest.Permission) string {
	var b strings.Builder
	api := newAPI(&library{books: []*Volume{{1, "bob"}, {2, "ada"}}, permission: p})
	for _, path := range []string{"/books", "/books/1", "/books/2"} {
		w := ask(api, http.MethodGet, path, "plain")
		if w.Code == http.StatusOK {
			fmt.Fprint(&b, path, " ", w.Body)
		} else {
			fmt.Fprintln(&b, path, w.Code)
		}
	}
	return b.String()
}

func ExampleRule() {
	for _, rule := range []permission.Rule{
		permission.AllowAny,
		permission.IsAuthenticated,
		permission.IsAdmin,
		permission.IsAuthenticatedOrReadOnly,
		permission.IsAdminOrReadOnly,
		permission.ReadOnly,
	} {
		fmt.Printf("%v\n%s", rule, show(rule))
	}
	// Output:
	// AllowAny
	//        GET 200 POST 200
	// plain  GET 200 POST 200
	// admin  GET 200 POST 200
	// IsAuthenticated
	//        GET 401 POST 401
	// plain  GET 200 POST 200
	// admin  GET 200 POST 200
	// IsAdmin
	//        GET 401 POST 401
	// plain  GET 403 POST 403
	// admin  GET 200 POST 200
	// IsAuthenticatedOrReadOnly
	//        GET 200 POST 401
	// plain  GET 200 POST 200
	// admin  GET 200 POST 200
	// IsAdminOrReadOnly
	//        GET 200 POST 401
	// plain  GET 200 POST 403
	// admin  GET 200 POST 200
	// ReadOnly
	//        GET 200 POST 401
	// plain  GET 200 POST 403
	// admin  GET 200 POST 403
}

func ExampleScope() {
	write := permission.Scope("books:write")
	ctx := rest.WithPrincipal(context.Background(), &rest.User{ID: "eve", Scopes: []string{"books:read"}})
	fmt.Println(write.Check(ctx))
	// Output: This needs the scope books:write.
}

func ExampleAll() {
	fmt.Print(show(permission.All(permission.IsAuthenticated, permission.ReadOnly)))
	// Output:
	//        GET 401 POST 401
	// plain  GET 200 POST 403
	// admin  GET 200 POST 403
}

func ExampleAny() {
	fmt.Print(show(permission.Any(permission.ReadOnly, permission.IsAdmin)))
	// Output:
	//        GET 200 POST 401
	// plain  GET 200 POST 403
	// admin  GET 200 POST 200
}

func ExampleNot() {
	fmt.Print(show(permission.Not(permission.IsAdmin)))
	// Output:
	//        GET 200 POST 200
	// plain  GET 200 POST 200
	// admin  GET 403 POST 403
}

func ExampleFunc() {
	closed := time.Sunday
	openingHours := permission.Func(func(context.Context) error {
		if day := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC).Weekday(); day == closed {
			return rest.Denied("We are closed on a " + day.String() + ".")
		}
		return nil
	})
	fmt.Println(openingHours.Check(context.Background()))
	// Output: We are closed on a Sunday.
}

func ExampleIf() {
	maintenance := true
	fmt.Print(show(permission.If(func(context.Context) bool { return !maintenance })))
	// Output:
	//        GET 401 POST 401
	// plain  GET 403 POST 403
	// admin  GET 403 POST 403
}

func ExampleWithMessage() {
	fmt.Println(permission.WithMessage(permission.IsAdmin, "Ask an administrator.").Check(context.Background()))
	// Output: Ask an administrator.
}

func ExampleWithBody() {
	api := newAPI(&guarded{permission.WithBody(permission.IsAdmin, map[string]string{"code": "E1"})})
	fmt.Print(ask(api, http.MethodGet, "/thing", "plain").Body)
	// Output: {"code":"E1"}
}

func ExampleObject() {
	fmt.Print(open(permission.Object(func(_ context.Context, b *Volume) error {
		if b.ID > 1 {
			return rest.Denied("This book is locked away.")
		}
		return nil
	})))
	// Output:
	// /books {"items":[{"id":1,"owner":"bob"},{"id":2,"owner":"ada"}],"count":2}
	// /books/1 {"id":1,"owner":"bob"}
	// /books/2 403
}

func ExampleOwner() {
	// The plain user is bob.
	fmt.Print(open(permission.Any(permission.IsAdmin, permission.Owner(func(b *Volume) string { return b.Owner }))))
	// Output:
	// /books {"items":[{"id":1,"owner":"bob"},{"id":2,"owner":"ada"}],"count":2}
	// /books/1 {"id":1,"owner":"bob"}
	// /books/2 403
}

func ExampleListScope() {
	fmt.Print(open(permission.ListScope[Volume](func(ctx context.Context) query.Expr {
		return query.Where("owner", rest.PrincipalOf(ctx).PrincipalID())
	})))
	// Output:
	// /books {"items":[{"id":1,"owner":"bob"}],"count":1}
	// /books/1 {"id":1,"owner":"bob"}
	// /books/2 {"id":2,"owner":"ada"}
}
