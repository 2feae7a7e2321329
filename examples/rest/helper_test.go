package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/spoolhq/spool/rest"
)

// Book is what the examples are about.
type Book struct {
	ID     int64   `json:"id"`
	Title  string  `json:"title"`
	Author string  `json:"author"`
	Price  float64 `json:"price"`
}

// books is everything on the shelf of the examples.
func books() []Book {
	return []Book{
		{1, "Emma", "Jane Austen", 8},
		{2, "Ulysses", "James Joyce", 20},
		{3, "Persuasion", "Jane Austen", 6},
		{4, "Dubliners", "James Joyce", 12},
		{5, "Middlemarch", "George Eliot", 9},
	}
}

// routes is a controller that is a function.
type routes func(r *rest.Routes)

// Routes implements [rest.Controller].
func (f routes) Routes(r *rest.Routes) { f(r) }

// silent is where the examples log to.
func silent() rest.APIOption { return rest.Logger(slog.New(slog.DiscardHandler)) }

// request is what an example sends.
type request struct {
	method, target, body string
	header               map[string]string
}

// send makes a request and returns the answer.
func send(api http.Handler, q request) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), q.method, q.target, strings.NewReader(q.body))
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	if q.body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	return w
}

// show makes a request and prints the status and the body of the answer.
func show(api http.Handler, q request) {
	w := send(api, q)
	_, _ = fmt.Fprintln(os.Stdout, strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Body)))
}

// get is a request for a target, with an optional API key.
func get(target string, key ...string) request {
	q := request{method: http.MethodGet, target: target}
	if len(key) > 0 {
		q.header = map[string]string{"X-Key": key[0]}
	}
	return q
}

// part returns a part of the document.
func part(api *rest.API, path ...string) string {
	var at any
	text, err := api.OpenAPI()
	if err == nil {
		err = json.Unmarshal(text, &at)
	}
	for _, step := range path {
		object, _ := at.(map[string]any)
		at = object[step]
	}
	text, last := json.Marshal(at)
	if err = errors.Join(err, last); err != nil {
		return err.Error()
	}
	return string(text)
}
