package main_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
)

// Shop is what each version of an API has.
type Shop struct{}

func (s Shop) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/books"))
	rest.List(r, "/", s.list, page.Number(page.Size(1)))
	rest.Get(r, "/{int:id}", s.get)
}

func (Shop) list(context.Context, struct{}) ([]Book, error) { return books()[:2], nil }

func (Shop) get(context.Context, byID) (Book, error) { return books()[0], nil }

func Example_basePath() {
	v1 := rest.New(rest.BasePath("/v1"), silent())
	v1.Register(Shop{})
	v2 := rest.New(rest.BasePath("/v2"), silent())
	v2.Register(Shop{})

	mux := http.NewServeMux()
	mux.Handle("/v1/", v1)
	mux.Handle("/v2/", v2)
	show(mux, get("/v1/books?page=2"))
	show(mux, get("/v2/books?page=2"))

	address, err := v1.Reverse("Shop.get", 7)
	fmt.Println(address, err)
	fmt.Println(send(mux, get("/v1/books/7/")).Header().Get("Location"))

	// Output:
	// 200 {"count":2,"next":null,"previous":"/v1/books","results":[{"id":2,"title":"Ulysses","author":"James Joyce","price":20}]}
	// 200 {"count":2,"next":null,"previous":"/v2/books","results":[{"id":2,"title":"Ulysses","author":"James Joyce","price":20}]}
	// /v1/books/7 <nil>
	// ../7
}
