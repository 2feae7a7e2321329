package crud_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
)

// Book has a field of each kind that a controller treats in its own way.
type Book struct {
	ID       int64     `json:"id"`
	Title    string    `json:"title"            minLength:"2"`
	Slug     string    `json:"slug"`
	Price    float64   `json:"price"            minimum:"0"`
	Stock    int32     `default:"7"             json:"stock"`
	Note     *string   `json:"note"`
	Tags     []string  `json:"tags,omitempty"`
	AuthorID int64     `json:"authorId"`
	Author   *Author   `json:"author,omitempty"`
	Owner    string    `crud:"readonly"         json:"owner"`
	Secret   string    `crud:"writeonly"        json:"secret,omitempty"`
	Hidden   string    `json:"-"`
	Version  int64     `crud:"version"          json:"version"`
	Seen     time.Time `crud:"readonly"         json:"seen"`
}

// Author is what a book refers to.
type Author struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Books is a controller as a program writes it.
type Books struct{ crud.Controller[Book, int64] }

func storeOf(books ...Book) crud.Store[Book, int64] {
	store := crud.Memory[Book, int64](crud.MemoryConfig{
		Unique: [][]string{{"slug"}},
		References: map[string]func(context.Context, any) (bool, error){
			"author_id": func(_ context.Context, id any) (bool, error) { return id == int64(1) || id == int64(2), nil },
		},
	})
	for i := range books {
		if err := store.Insert(context.Background(), &books[i]); err != nil {
			panic(err)
		}
	}
	return store
}

func serve(t *testing.T, store crud.Store[Book, int64], config crud.Config[Book]) *client {
	t.Helper()
	return serveController(t, &Books{crud.New(store, config)}, rest.Prefix("/books"))
}

func serveController(t *testing.T, c rest.Controller, options ...rest.ControllerOption) *client {
	t.Helper()
	api := rest.New()
	api.Register(c, options...)
	return &client{t: t, api: api}
}

// client sends requests.
type client struct {
	t      *testing.T
	api    *rest.API
	header http.Header
}

// with returns a client that also sends a header.
func (c *client) with(name, value string) *client {
	next := *c
	next.header = c.header.Clone()
	if next.header == nil {
		next.header = http.Header{}
	}
	next.header.Set(name, value)
	return &next
}

// do sends "POST /books" with a body, which may be empty.
func (c *client) do(line, body string) *answer {
	c.t.Helper()
	method, path, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	maps.Copy(r.Header, c.header)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	c.api.ServeHTTP(w, r)
	return &answer{t: c.t, line: line, ResponseRecorder: w}
}

type answer struct {
	t    *testing.T
	line string
	*httptest.ResponseRecorder
}

// status fails the test when the answer has another status.
func (a *answer) status(want int) *answer {
	a.t.Helper()
	if a.Code != want {
		a.t.Fatalf("%s: status %d, want %d\n%s", a.line, a.Code, want, a.Body)
	}
	return a
}

// object returns the body as it is in JSON.
func (a *answer) object() map[string]any {
	a.t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.Body.Bytes(), &v); err != nil {
		a.t.Fatalf("%s: %v\n%s", a.line, err, a.Body)
	}
	return v
}

// has fails the test when the body is without the text.
func (a *answer) has(text string) *answer {
	a.t.Helper()
	if !strings.Contains(a.Body.String(), text) {
		a.t.Fatalf("%s: the body has no %q\n%s", a.line, text, a.Body)
	}
	return a
}

// hasNot fails the test when the body has the text.
func (a *answer) hasNot(text string) {
	a.t.Helper()
	if strings.Contains(a.Body.String(), text) {
		a.t.Fatalf("%s: the body has %q\n%s", a.line, text, a.Body)
	}
}

const dune = `{"title":"Dune","slug":"dune","price":9.5,"authorId":1}`
