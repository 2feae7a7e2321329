package resttest_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/resttest"
)

type Book struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

type byID struct {
	ID int64 `path:"id"`
}

type Books struct {
	list *rest.Endpoint[struct{}, []Book]
	get  *rest.Endpoint[byID, Book]
	add  *rest.Endpoint[newBook, Book]
}

type newBook struct {
	Title string `json:"title" minLength:"1"`
}

func (c *Books) Routes(r *rest.Routes) {
	c.list = rest.List(r, "/", func(context.Context, struct{}) ([]Book, error) {
		return []Book{{1, "Emma"}, {2, "Ulysses"}, {3, "Middlemarch"}}, nil
	}, page.Number(page.Size(2)))
	c.get = rest.Get(r, "/{int:id}", func(_ context.Context, in byID) (Book, error) {
		return Book{in.ID, "Emma"}, nil
	})
	c.add = rest.Post(r, "/", func(_ context.Context, in newBook) (Book, error) {
		return Book{4, in.Title}, nil
	}, rest.Status(http.StatusCreated), rest.Permit(permission.IsAdmin))
}

// t stands for the test, which examples have none of.
var t example

type example struct{}

func (example) Helper()                           {}
func (example) Context() context.Context          { return context.Background() }
func (example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func serve() (*rest.API, *Books) {
	keys := auth.Keys(map[string]*rest.User{"s3cret": {ID: "ann", Admin: true}, "reader": {ID: "bob"}})
	api, books := rest.New(rest.Auth(auth.Bearer(keys))), &Books{}
	api.Register(books, rest.Prefix("/books"))
	return api, books
}

func ExampleCall() {
	api, books := serve()

	answer := resttest.Call(t, api, books.get, byID{ID: 7}, resttest.Bearer("reader"))
	fmt.Println(answer.Status, answer.Body.ID, answer.Body.Title)

	refused := resttest.Call(t, api, books.get, byID{ID: 7})
	fmt.Println(refused.Status, refused.Error.Code, refused.Header.Get("WWW-Authenticate"))
	// Output:
	// 200 7 Emma
	// 401 unauthorized Bearer realm="api"
}

func ExampleCallAs() {
	api, books := serve()

	answer := resttest.CallAs[page.NumberPage[Book]](t, api, books.list, struct{}{},
		resttest.Bearer("reader"), resttest.Query("page", "2"))
	fmt.Println(answer.Body.Count, answer.Body.Results, *answer.Body.Previous)
	// Output: 3 [{3 Middlemarch}] /books
}

func ExampleAs() {
	api, books := serve()

	answer := resttest.Call(t, api, books.add, newBook{Title: "Persuasion"},
		resttest.As(&rest.User{ID: "ann", Admin: true}))
	fmt.Println(answer.Status, answer.Body.Title)

	refused := resttest.Call(t, api, books.add, newBook{Title: "Persuasion"}, resttest.As(&rest.User{ID: "bob"}))
	fmt.Println(refused.Status, refused.Error.Detail)
	// Output:
	// 201 Persuasion
	// 403 Only administrators may do this.
}

func ExampleDo() {
	api, _ := serve()

	answer := resttest.Do[Book](t, api, http.MethodPost, "/books",
		resttest.Bearer("s3cret"), resttest.JSON(map[string]any{"title": "", "pages": 7}))
	fmt.Println(answer.Status, answer.Error.Faults)
	// Output: 422 [body.pages: extra_forbidden body.title: string_too_short]
}
