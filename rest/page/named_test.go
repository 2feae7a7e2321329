package page_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

func TestNamed(t *testing.T) {
	t.Parallel()

	const secret = `"secret": "0123456789abcdef"`
	list := query.Slice(books(5))

	for _, test := range []struct{ name, kwargs, address, want string }{
		{"page.LimitOffset", `{}`, "/?limit=1", `{"items":[{"id":1}],"count":5}`},
		{"LimitOffsetPagination", `{"limit": 1}`, "/", `{"items":[{"id":1}],"count":5}`},
		{
			"page.Number", `{"page_size": 201}`, "/?page_size=201",
			`{"count":5,"next":null,"previous":null,"results":[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]}`,
		},
		{"page.LimitOffset", `{"page_size": 1}`, "/", `{"items":[{"id":1}],"count":5}`},
		{"page.LimitOffset", `{"max_limit": 1, "over_max": "clamp"}`, "/?limit=5", `{"items":[{"id":1}],"count":5}`},
		{"page.LimitOffset", `{"limit": 1, "count": "none"}`, "/", `{"items":[{"id":1}],"count":null}`},
		{"page.LimitOffset", `{"offset_query_param": "skip"}`, "/?skip=4&limit=1", `{"items":[{"id":5}],"count":5}`},
		{
			"page.Number", `{"page_size": 1, "past_end": "empty"}`, "/?page=7",
			`{"count":5,"next":null,"previous":"/?page=5","results":[]}`,
		},
		{
			"PageNumberPaginationExtra", `{"page_size": 5}`, "/",
			`{"count":5,"next":null,"previous":null,"results":[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]}`,
		},
		{
			"some.module.PageNumberPaginationExtra", `{"page_size": 1, "page_size_query_param": "n"}`, "/?n=5&page=1",
			`{"count":5,"next":null,"previous":null,"results":[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]}`,
		},
		{
			"page.Cursor", `{` + secret + `, "ordering": "-id"}`, "/",
			`{"next":null,"previous":null,"results":[{"id":5},{"id":4},{"id":3},{"id":2},{"id":1}]}`,
		},
		{
			"CursorPagination", `{"secrets": ["0123456789abcdef"], "ordering": ["-price", "id"]}`, "/",
			`{"next":null,"previous":null,"results":[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]}`,
		},
		{"page.None", `null`, "/", `[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]`},
		{"page.None", `{"limit": 2}`, "/", `[{"id":1},{"id":2}]`},
	} {
		p, err := page.Named(test.name, kwargs(t, test.kwargs))
		if err != nil {
			t.Errorf("%s %s: %v", test.name, test.kwargs, err)
			continue
		}
		if got := get(t, p, list, test.address).ok(t); got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.name, test.kwargs, got, test.want)
		}
	}

	p, err := page.Named("page.Number", map[string]any{"page_size": 2, "max_page_size": int64(3), "link_header": true})
	if err != nil {
		t.Fatal(err)
	}
	if a := get(t, p, list, "/"); a.header.Get("Link") == "" {
		t.Error("got no Link header")
	}
}

func TestNamedMistakes(t *testing.T) {
	t.Parallel()

	for _, test := range []struct{ name, kwargs, want string }{
		{"page.Numbers", `{}`, `no paginator has the name "page.Numbers" (there are CursorPagination, `},
		{"page.Number", `{"size": 1}`, `paginator "page.Number": unknown argument "size" (there are count, link_header, `},
		{"page.Number", `{"page_size": "1"}`, `argument "page_size" is string, not a whole number`},
		{"page.Number", `{"page_size": 1.5}`, `argument "page_size" is float64, not a whole number`},
		{"page.Number", `{"page_size": 1e300}`, `argument "page_size" is float64, not a whole number`},
		{"page.Number", `{"page_size": 0}`, `a page has at least 1 item`},
		{"page.Number", `{"count": "maybe"}`, `argument "count" is "maybe", not one of estimate, exact, none`},
		{"page.Number", `{"past_end": 404}`, `argument "past_end" is float64, not a text`},
		{"page.Number", `{"link_header": "yes"}`, `argument "link_header" is string, not a boolean`},
		{"page.Number", `{"page_query_param": "page_size"}`, `two parameters have the name`},
		{"page.Cursor", `{}`, `it needs a secret`},
		{"page.Cursor", `{"secret": "short"}`, `at least 16 bytes`},
		{"page.Cursor", `{"secret": "0123456789abcdef", "ordering": [1]}`, `not a list of texts`},
		{"page.None", `{"limit": 0}`, `the limit is 1 to`},
		{"page.None", `{"page_size": 1}`, `unknown argument "page_size" (there are limit)`},
	} {
		p, err := page.Named(test.name, kwargs(t, test.kwargs))
		if err == nil || !strings.Contains(err.Error(), test.want) || p != nil {
			t.Errorf("%s %s: got %v, error %v; want %q", test.name, test.kwargs, p, err, test.want)
		}
	}
}

// A program adds its own to a registry that is only its own.
func TestRegistry(t *testing.T) {
	t.Parallel()

	own := page.Builtin()
	own["tens"] = func(map[string]any) (page.Paginator, error) { return page.Number(page.Size(10)), nil }
	if _, err := own.Named("tens", nil); err != nil {
		t.Error(err)
	}
	if _, ok := page.Builtin()["tens"]; ok {
		t.Error("a registry is shared")
	}
	if got := slices.Sorted(maps.Keys(page.Builtin())); len(got) != 7 {
		t.Errorf("got the names %v", got)
	}
}

func kwargs(t *testing.T, text string) map[string]any {
	t.Helper()

	var given map[string]any
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		t.Fatal(err)
	}

	return given
}
