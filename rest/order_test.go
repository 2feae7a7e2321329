package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

// A list whose order a client may choose has one where it does not.
func TestDefaultOrder(t *testing.T) {
	t.Parallel()

	rows := []book{{1, "c", 2, ""}, {2, "a", 2, ""}, {3, "b", 1, ""}, {4, "a", 1, ""}}
	slice := func(context.Context, struct{}) ([]book, error) { return rows, nil }                     //nolint:unparam // a handler's type
	set := func(context.Context, struct{}) (query.Set[book], error) { return query.Slice(rows), nil } //nolint:unparam // a handler's type
	ordered := func(context.Context, struct{}) (query.Set[book], error) {                             //nolint:unparam // a handler's type
		return query.Slice(rows).OrderBy("-id"), nil
	}
	order := query.Order("price", "title")
	api := serve(func(r *rest.Routes) {
		rest.List(r, "/slice", slice, page.None(), order)
		rest.List(r, "/set", set, page.None(), order)
		rest.List(r, "/ordered", ordered, page.None(), order)
		rest.List(r, "/default", slice, page.None(), order, query.OrderDefault("-title"))
		rest.List(r, "/default/first", slice, page.None(), query.OrderDefault("-title"), order)
		rest.List(r, "/keep", slice, page.None(), order.KeepOrder())
		rest.List(r, "/none", slice, page.None())
		rest.List(r, "/falling", slice, page.None(), query.Order("-id"))
	}, rest.DocsPath(""))
	for target, want := range map[string][]int64{
		"/slice": {4, 3, 2, 1}, "/set": {4, 3, 2, 1}, "/ordered": {4, 3, 2, 1}, "/default": {1, 3, 4, 2},
		"/default/first": {1, 3, 4, 2}, "/keep": {1, 2, 3, 4}, "/none": {1, 2, 3, 4}, "/falling": {4, 3, 2, 1},
		"/slice?ordering=title": {2, 4, 3, 1}, "/slice?ordering=": {1, 2, 3, 4}, "/default?ordering=price": {3, 4, 1, 2},
	} {
		a := resttest.Do[[]book](t, api, http.MethodGet, target)
		var got []int64
		for _, b := range a.Body {
			got = append(got, b.ID)
		}
		wantDiff(t, target, want, got)
	}
	wantDiff(t, "the handler's own slice", int64(1), rows[0].ID) // is not sorted in its place

	b, err := api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, Description string } `json:"parameters"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(b, &document); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/slice":   "Order of the result: price, title, separated by commas. A minus in front means descending. Without it the list is ordered by price, title.",
		"/set":     "Order of the result: price, title, separated by commas. A minus in front means descending. Without it the list is ordered by price, title, unless it has an order of its own.",
		"/default": "Order of the result: price, title, separated by commas. A minus in front means descending. Without it the list is ordered by -title.",
		"/keep":    "Order of the result: price, title, separated by commas. A minus in front means descending.",
		"/falling": "Order of the result: -id, separated by commas. A minus in front means descending. Without it the list is ordered by -id.",
	} {
		wantDiff(t, "the description of "+path, want, document.Paths[path]["get"].Parameters[0].Description)
	}

	cursor := serve(func(r *rest.Routes) {
		rest.List(r, "/cursor", slice, page.Cursor(page.Sign(page.RandomSecret()), page.Size(4)), order)
	})
	a := resttest.Do[page.CursorPage[book]](t, cursor, http.MethodGet, "/cursor")
	wantDiff(t, "a cursor has its own", []any{4, int64(1)}, []any{len(a.Body.Results), a.Body.Results[0].ID})
}
