package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

type planet struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

var planets = query.Slice([]planet{
	{1, "Mercury"}, {2, "Venus"}, {3, "Earth"}, {4, "Mars"}, {5, "Jupiter"}, {6, "Saturn"}, {7, "Uranus"}, {8, "Neptune"},
})

// show is what a client gets for an address: the Link header, and the body or what is wrong.
// In a program, a list route does this.
func show(p page.Paginator, address string) string {
	r := httptest.NewRequest(http.MethodGet, address, nil)
	links := page.NewLinks("", r.URL, nil)

	result, faults, err := p.Page(context.Background(), page.NewInput(r), planets.List(), links)
	switch {
	case len(faults) > 0:
		return faults[0].Location() + ": " + faults[0].Message
	case err != nil:
		return err.Error()
	}

	body := result.Items
	if result.Body != nil {
		body = result.Body(body)
	}
	var text strings.Builder
	for name, values := range result.Header {
		text.WriteString(name + ": " + values[0] + "\n")
	}
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return err.Error()
	}

	return strings.TrimSpace(text.String())
}

func ExampleLimitOffset() {
	p := page.LimitOffset(page.Size(2), page.Max(5))

	fmt.Println(show(p, "/planets"))
	fmt.Println(show(p, "/planets?limit=3&offset=6"))
	fmt.Println(show(p, "/planets?limit=6"))

	// Output:
	// {"items":[{"id":1,"name":"Mercury"},{"id":2,"name":"Venus"}],"count":8}
	// {"items":[{"id":7,"name":"Uranus"},{"id":8,"name":"Neptune"}],"count":8}
	// query.limit: must be at most 5
}

func ExampleNumber() {
	p := page.Number(page.Size(3))

	fmt.Println(show(p, "/planets"))
	fmt.Println(show(p, "/planets?page=2&page_size=2"))
	fmt.Println(show(p, "/planets?page=4"))

	// Output:
	// {"count":8,"next":"/planets?page=2","previous":null,"results":[{"id":1,"name":"Mercury"},{"id":2,"name":"Venus"},{"id":3,"name":"Earth"}]}
	// {"count":8,"next":"/planets?page=3&page_size=2","previous":"/planets?page_size=2","results":[{"id":3,"name":"Earth"},{"id":4,"name":"Mars"}]}
	// Invalid page. 4 That page contains no results
}

func ExampleCursor() {
	// A program that is more than one process, or lives longer than one, has its secret from
	// its configuration.
	secret := []byte("0123456789abcdef0123456789abcdef")
	p := page.Cursor(page.Sign(secret), page.By("name"), page.Size(3))

	first := show(p, "/planets")
	fmt.Println(first)

	var body page.CursorPage[planet]
	if err := json.Unmarshal([]byte(first), &body); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(show(p, *body.Next))

	// Output:
	// {"next":"/planets?cursor=AQAFTWFycwI0_C-n4ppFdbVjCBV_tZMT1g","previous":null,"results":[{"id":3,"name":"Earth"},{"id":5,"name":"Jupiter"},{"id":4,"name":"Mars"}]}
	// {"next":"/planets?cursor=AQAHU2F0dXJuAjb13z3E8DLk3Zz3LnAJIw69","previous":"/planets?cursor=AQEITWVyY3VyeQIxFoL5FwmvohrYT6yzQQM2qA","results":[{"id":1,"name":"Mercury"},{"id":8,"name":"Neptune"},{"id":6,"name":"Saturn"}]}
}

func ExampleNone() {
	fmt.Println(show(page.None(page.Limit(2)), "/planets"))

	// Output:
	// [{"id":1,"name":"Mercury"},{"id":2,"name":"Venus"}]
}

func ExampleLinkHeader() {
	fmt.Println(show(page.LimitOffset(page.Size(1), page.LinkHeader()), "/planets?offset=3"))

	// Output:
	// Link: </planets>; rel="first", </planets?offset=2>; rel="prev", </planets?offset=4>; rel="next", </planets?offset=7>; rel="last"
	// {"items":[{"id":4,"name":"Mars"}],"count":8}
}

func ExampleNamed() {
	p, err := page.Named("page.Number", map[string]any{"page_size": 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(show(p, "/planets?page=3"))

	_, err = page.Named("page.Number", map[string]any{"per_page": 1})
	fmt.Println(strings.Split(err.Error(), " (")[0])

	// Output:
	// {"count":8,"next":"/planets?page=4","previous":"/planets?page=2","results":[{"id":3,"name":"Earth"}]}
	// paginator "page.Number": unknown argument "per_page"
}

// halves is a paginator of two pages, the first and the second half of a list.
type halves struct {
	reader *page.Reader[half]
}

type half struct {
	Half string `default:"first" doc:"Which half of the list." enum:"first,second" query:"half"`
}

func (h halves) Params() []page.Param { return h.reader.Params() }

func (h halves) Shape() page.Shape {
	return page.Shape{Name: "Half", Properties: []page.Property{{Name: "items", Doc: "The items of the half."}}}
}

func (h halves) Page(
	ctx context.Context, in *page.Input, l *driver.List, _ page.Links,
) (page.Result, []page.Fault, error) {
	input, faults := h.reader.Read(in)
	if len(faults) > 0 {
		return page.Result{}, faults, nil
	}
	count, err := l.Count(ctx)
	if err != nil {
		return page.Result{}, nil, err
	}

	from, size := int64(0), (count+1)/2
	if input.Half == "second" {
		from = size
	}
	items, n, err := l.Stable().Fetch(ctx, from, size)

	return page.Result{Items: items, N: n, Body: func(items any) any {
		return map[string]any{"items": items}
	}}, nil, err
}

// A program's own paginator is a Custom, and a route option once New has made it one.
func ExampleNew() {
	p := page.New(halves{page.NewReader[half]("halves")})

	fmt.Println(show(p, "/planets?half=second"))
	fmt.Println(show(p, "/planets?half=third"))

	// Output:
	// {"items":[{"id":5,"name":"Jupiter"},{"id":6,"name":"Saturn"},{"id":7,"name":"Uranus"},{"id":8,"name":"Neptune"}]}
	// query.half: must be 'first' or 'second'
}
