package page_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

func TestRegistrationMistakes(t *testing.T) {
	t.Parallel()

	secret := page.Sign(page.RandomSecret())
	for name, test := range map[string]struct {
		build func() page.Paginator
		want  string
	}{
		"no items": {
			func() page.Paginator { return page.Number(page.Size(0)) }, "page.Number: a page has at least 1 item, not 0",
		},
		"negative": {
			func() page.Paginator { return page.LimitOffset(page.Size(-1)) }, "page.LimitOffset: a page has at least 1",
		},
		"over default": {
			func() page.Paginator { return page.Number(page.Size(201)) },
			"201, is over the default of its maximum, 200: set the maximum too, with page.Max",
		},
		"offset over": {
			func() page.Paginator { return page.LimitOffset(page.Size(1001)) }, "over the default of its maximum, 1000",
		},
		"over maximum": {
			func() page.Paginator { return page.Number(page.Size(20), page.Max(10)) },
			"the size of a page, 20, is over its maximum, 10",
		},
		"no maximum": {func() page.Paginator { return page.Number(page.Max(0)) }, "at least 1"},
		"enormous": {
			func() page.Paginator { return page.Number(page.Max(math.MaxInt)) }, "page.Number: the maximum of items",
		},
		"no name": {func() page.Paginator { return page.Number(page.Names("", "n")) }, "a parameter has no name"},
		"one name": {
			func() page.Paginator { return page.LimitOffset(page.Names("n", "n")) }, `two parameters have the name "n"`,
		},
		"limit":         {func() page.Paginator { return page.None(page.Limit(0)) }, "page.None: the limit is"},
		"no secret":     {func() page.Paginator { return page.Cursor() }, "page.Cursor: it needs a secret: page.Sign("},
		"empty secrets": {func() page.Paginator { return page.Cursor(page.Sign()) }, "it needs a secret"},
		"short secret": {
			func() page.Paginator { return page.Cursor(page.Sign([]byte("short"))) }, "a secret has at least 16 bytes, not 5",
		},
		"nameless order": {
			func() page.Paginator { return page.Cursor(secret, page.By("id", "-")) }, "a field without a name",
		},
		"unknown value": {func() page.Paginator { return page.Number(page.Count(9)) }, "a value that it does not know"},
		"bad reader": {func() page.Paginator {
			page.NewReader[struct {
				N int `minimum:"abc" query:"n"`
			}]("my paginator")
			return nil
		}, "my paginator"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, test.want) {
					t.Errorf("got the panic %q, want %q in it", got, test.want)
				}
			}()
			test.build()
		})
	}
}

// What is documented is what is enforced.
func TestParams(t *testing.T) {
	t.Parallel()

	type param struct {
		Name, In      string
		Default       any
		Min, Max, Doc string
	}
	for name, test := range map[string]struct {
		p    page.Paginator
		want []param
	}{
		"LimitOffset": {page.LimitOffset(), []param{
			{"limit", "query", int64(100), "1", "1000", "How many items the page has at most."},
			{"offset", "query", int64(0), "0", "", "How many items are left out before the page."},
		}},
		"Number": {page.Number(), []param{
			{"page", "query", int64(1), "1", "", "The number of the page, counted from 1."},
			{"page_size", "query", int64(100), "1", "200", "How many items the page has at most."},
		}},
		"Number, sized": {page.Number(page.Size(500), page.Max(500), page.Names("p", "n")), []param{
			{"p", "query", int64(1), "1", "", "The number of the page, counted from 1."},
			{"n", "query", int64(500), "1", "500", "How many items the page has at most."},
		}},
		"Number, clamped": {page.Number(page.Max(50), page.OverMax(page.Clamp)), []param{
			{"page", "query", int64(1), "1", "", "The number of the page, counted from 1."},
			{"page_size", "query", int64(50), "1", "", "How many items the page has at most."},
		}},
		"Cursor": {page.Cursor(page.Sign(page.RandomSecret())), []param{
			{"cursor", "query", nil, "", "", "Where the page begins, from an address of another page."},
			{"page_size", "query", int64(100), "1", "200", "How many items the page has at most."},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []param
			for _, p := range test.p.Params() {
				if p.Required {
					t.Errorf("%s is required", p.Name)
				}
				tag := p.Field.Tag
				got = append(got, param{p.Name, p.In, p.Default, tag.Get("minimum"), tag.Get("maximum"), p.Doc})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The shape, the body and the type for clients have the same members in the same order.
func TestShape(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		p      page.Paginator
		client reflect.Type
		prefix string
	}{
		"LimitOffset": {page.LimitOffset(), reflect.TypeFor[page.RestPaginationResponseSchema[book]](), ""},
		"Number":      {page.Number(), reflect.TypeFor[page.PaginatedResponseSchema[book]](), ""},
		"not counted": {
			page.Number(page.Count(page.NoCount)), reflect.TypeFor[page.PaginatedResponseSchema[book]](), "Uncounted",
		},
		"estimated": {
			page.LimitOffset(page.Count(page.Estimate)), reflect.TypeFor[page.RestPaginationResponseSchema[book]](), "Estimated",
		},
		"Cursor": {page.Cursor(page.Sign(page.RandomSecret())), reflect.TypeFor[page.CursorResponseSchema[book]](), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			shape := test.p.Shape()
			var documented, lists []string
			nullable := map[string]bool{}
			for _, p := range shape.Properties {
				documented = append(documented, p.Name)
				nullable[p.Name] = p.Nullable
				if p.Type == nil {
					lists = append(lists, p.Name)
				}
			}

			body := get(t, test.p, query.Slice(books(1)), "/").ok(t)
			if diff := cmp.Diff(documented, members(t, body)); diff != "" {
				t.Errorf("the body (-shape +body)\n%s", diff)
			}
			var values map[string]any
			if err := json.Unmarshal([]byte(body), &values); err != nil {
				t.Fatal(err)
			}
			for name, v := range values {
				if v == nil && !nullable[name] {
					t.Errorf("%s is null and must not be", name)
				}
			}
			if len(lists) != 1 {
				t.Errorf("the items are %v, want one property", lists)
			}

			var inClient []string
			for f := range test.client.Fields() {
				inClient = append(inClient, f.Tag.Get("json"))
			}
			if diff := cmp.Diff(documented, inClient); diff != "" {
				t.Errorf("the client's type (-shape +type)\n%s", diff)
			}
			generic, _, _ := strings.Cut(test.client.Name(), "[")
			inDocument := map[string]string{
				"OffsetPage": "RestPaginationResponseSchema", "NumberPage": "PaginatedResponseSchema",
				"CursorPage": "CursorResponseSchema",
			}
			if want := test.prefix + inDocument[generic]; shape.Name != want {
				t.Errorf("got the name %s, want %s", shape.Name, want)
			}
		})
	}
}

// members are the names of an object's members in their order.
func members(t *testing.T, text string) []string {
	t.Helper()

	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprint(name))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}

	return names
}

func TestMayBeNotFound(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		p    page.Paginator
		want bool
	}{
		"number":         {page.Number(), true},
		"lenient number": {page.Number(page.PastEnd(page.Empty)), false},
		"offset":         {page.LimitOffset(), false},
		"strict offset":  {page.LimitOffset(page.PastEnd(page.NotFound)), true},
		"custom":         {page.New(page.Number()), true},
		"custom, silent": {page.New(page.None()), false},
	} {
		ender, ok := test.p.(page.Ender)
		if got := ok && ender.MayBeNotFound(); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
