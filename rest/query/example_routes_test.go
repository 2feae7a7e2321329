package query_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

type Film struct {
	ID       int64     `json:"id"`
	Title    string    `json:"title"`
	Year     int       `json:"year"`
	Director *Director `json:"director,omitempty"`
	Prizes   []Prize   `json:"-"`
}

type Director struct {
	ID   int64  `json:"-"`
	Name string `json:"name"`
}

type Prize struct {
	ID   int64
	Name string
}

// FilmFilter has a field for each parameter. The tag filter says what it is compared with.
type FilmFilter struct {
	Title    *string `filter:"__icontains"`
	Director *string `filter:"director__name__iexact"`
	Since    *int    `filter:"year,gte"`
	IDs      []int64 `filter:"__in"                                     query:"id"`
	Text     *string `filter:"title,icontains|director__name,icontains" query:"q"`
	Prized   *bool
}

// FilterPrized makes the condition of the field Prized.
func (FilmFilter) FilterPrized(yes bool) query.Expr { return query.Where("prizes__isnull", !yes) }

type Films struct{ all query.Set[Film] }

func (c *Films) Routes(r *rest.Routes) {
	rest.List(r, "/films", c.list, page.None(),
		query.Filter[FilmFilter](), query.Search("title", "director__name"), query.Order("year", "title"),
		query.OrderDefault("-year"))
}

// list returns the films with sound. The options of the route narrow and order them.
func (c *Films) list(context.Context, struct{}) (query.Set[Film], error) {
	return c.all.Where(query.Where("year__gte", 1927)), nil
}

// A list that a client filters, searches and orders.
func Example() {
	varda := &Director{ID: 1, Name: "Agnès Varda"}
	api := rest.New()
	api.Register(&Films{query.Slice([]Film{
		{ID: 1, Title: "Cléo de 5 à 7", Year: 1962, Director: varda},
		{ID: 2, Title: "Sans toit ni loi", Year: 1985, Director: varda, Prizes: []Prize{{1, "Leone d'oro"}}},
		{ID: 3, Title: "Unknown", Year: 1920},
	})})
	for _, address := range []string{
		"/films?q=agn%C3%A8s&ordering=year", "/films?prized=true", "/films?search=toit", "/films?ordering=length",
	} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
		fmt.Println(strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Body)))
	}
	// Output:
	// 200 [{"id":1,"title":"Cléo de 5 à 7","year":1962,"director":{"name":"Agnès Varda"}},{"id":2,"title":"Sans toit ni loi","year":1985,"director":{"name":"Agnès Varda"}}]
	// 200 [{"id":2,"title":"Sans toit ni loi","year":1985,"director":{"name":"Agnès Varda"}}]
	// 200 [{"id":2,"title":"Sans toit ni loi","year":1985,"director":{"name":"Agnès Varda"}}]
	// 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"query.ordering[0]","kind":"enum","message":"must be 'year', '-year', 'title' or '-title'","limits":{"expected":"'year', '-year', 'title' or '-title'"}}]}
}
