package page_test

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

type Planets struct{}

func (Planets) list(context.Context, struct{}) (query.Set[planet], error) { return planets, nil }

func (c Planets) Routes(r *rest.Routes) {
	rest.List(r, "/", c.list, page.Number(page.Size(3)))
}

func Example() {
	api := rest.New(rest.BaseURL("https://api.example"))
	api.Register(Planets{}, rest.Prefix("/planets"))

	for _, address := range []string{"/planets?page=3", "/planets?page=4"} {
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, address, nil))
		fmt.Println(answer.Code, strings.TrimSpace(answer.Body.String()))
	}

	// Output:
	// 200 {"count":8,"next":null,"previous":"https://api.example/planets?page=2","results":[{"id":7,"name":"Uranus"},{"id":8,"name":"Neptune"}]}
	// 404 {"type":"about:blank","title":"Not Found","status":404,"detail":"Invalid page. 4 That page contains no results","code":"page_not_found"}
}
