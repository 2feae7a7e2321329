package main_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spoolhq/spool/rest"
)

type Books struct{ shelf map[int64]Book }

type byID struct {
	ID int64 `path:"id"`
}

func (c *Books) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/books"), rest.Tags("books"))
	rest.List(r, "/", c.list)
	rest.Get(r, "/{int:id}", c.get)
	rest.Post(r, "/", c.create, rest.Status(http.StatusCreated))
	rest.Handle(r, []string{"PUT", "PATCH"}, "/{int:id}", c.change)
	rest.Delete(r, "/{int:id}", c.remove)
}

func (c *Books) list(context.Context, struct{}) ([]Book, error) { return books(), nil }

func (c *Books) load(_ context.Context, id int64) (Book, error) {
	b, ok := c.shelf[id]
	if !ok {
		return b, rest.ErrNotFound
	}
	return b, nil
}

func (c *Books) get(ctx context.Context, in byID) (Book, error) {
	return rest.GetOrNotFound(ctx, c.load, in.ID)
}

func (c *Books) create(_ context.Context, in Book) (Book, error) { return in, nil }

func (c *Books) change(_ context.Context, in struct {
	ID   int64 `path:"id"`
	Body Book
},
) (Book, error) {
	in.Body.ID = in.ID
	return in.Body, nil
}

func (c *Books) remove(context.Context, byID) (rest.NoContent, error) { return rest.NoContent{}, nil }

// MoreBooks has the routes of Books and one of its own.
type MoreBooks struct{ Books }

func (c *MoreBooks) Routes(r *rest.Routes) {
	r.Inherit(&c.Books)
	r.Configure(rest.Prefix("/more"))
	rest.Get(r, "/{int:id}", c.get) // in place of the inherited one
	rest.Get(r, "/best", c.best)
}

func (c *MoreBooks) get(context.Context, byID) (string, error) { return "sold out", nil }

func (c *MoreBooks) best(context.Context, struct{}) (Book, error) { return books()[0], nil }

func Example_controllers() {
	api := rest.New(rest.Title("Shop"), silent())
	api.Register(&Books{map[int64]Book{1: books()[0]}})
	api.Register(&MoreBooks{})

	for _, target := range []string{"/books/1", "/books/9", "/books/one", "/more/1", "/more/best"} {
		show(api, get(target))
	}
	show(api, request{method: http.MethodDelete, target: "/books/1"})
	show(api, request{method: http.MethodTrace, target: "/books/1"})
	for _, info := range api.Routes()[:5] {
		fmt.Println(info.Name, strings.Join(info.Methods, ","), info.Path)
	}
	address, err := api.Reverse("Books.get", 7)
	fmt.Println(address, err)

	// Output:
	// 200 {"id":1,"title":"Emma","author":"Jane Austen","price":8}
	// 404 {"type":"about:blank","title":"Not Found","status":404,"detail":"Book was not found.","code":"not_found"}
	// 404 {"type":"about:blank","title":"Not Found","status":404,"detail":"Not found.","code":"not_found"}
	// 200 "sold out"
	// 200 {"id":1,"title":"Emma","author":"Jane Austen","price":8}
	// 204
	// 405 {"type":"about:blank","title":"Method Not Allowed","status":405,"detail":"Method \"TRACE\" not allowed.","code":"method_not_allowed"}
	// Books.list GET /books
	// Books.get GET /books/{id}
	// Books.create POST /books
	// Books.change PUT,PATCH /books/{id}
	// Books.remove DELETE /books/{id}
	// /books/7 <nil>
}

func Example_paths() {
	api := rest.New(silent())
	api.Register(routes(func(r *rest.Routes) {
		answer := func(text string) func(context.Context, struct{}) (string, error) {
			return func(context.Context, struct{}) (string, error) { return text, nil }
		}
		rest.Get(r, "/", answer("the prefix itself"))
		rest.Get(r, "/new/", answer("with a slash"))
		rest.Get(r, "/{int:id}", func(_ context.Context, in byID) (int64, error) { return in.ID, nil })
		rest.Get(r, "/{slug:name}", func(_ context.Context, in struct {
			Name string `path:"name"`
		},
		) (string, error) {
			return "slug " + in.Name, nil
		})
	}), rest.Prefix("/a"))

	for _, target := range []string{"/a", "/a/new/", "/a/7", "/a/seven", "/a/7th%20heaven"} {
		show(api, get(target))
	}
	for _, target := range []string{"/a/", "/a/7/?x=1"} {
		w := send(api, get(target))
		fmt.Println(w.Code, w.Header().Get("Location"))
	}
	w := send(api, request{method: http.MethodOptions, target: "/a/7"})
	fmt.Println(w.Code, w.Header().Get("Allow"))

	// Output:
	// 200 "the prefix itself"
	// 200 "with a slash"
	// 200 7
	// 200 "slug seven"
	// 404 {"type":"about:blank","title":"Not Found","status":404,"detail":"Not found.","code":"not_found"}
	// 308 ../a
	// 308 ../7?x=1
	// 204 GET, HEAD, OPTIONS
}
