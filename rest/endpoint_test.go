package rest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

// everything is an input with a parameter of most kinds.
type everything struct {
	ID     int32              `path:"id"`
	Name   string             `path:"name"`
	Day    time.Time          `path:"day"              format:"date"`
	Rest   string             `path:"rest"`
	Q      string             `query:"q"`
	Lang   string             `query:"lang"            default:"en"`
	Limit  int                `query:"limit"           default:"20"`
	All    bool               `query:"all"             default:"true"`
	Offset uint16             `query:"offset"`
	Ratio  float32            `query:"ratio"`
	Since  time.Time          `query:"since"`
	Until  *time.Time         `query:"until"`
	Wait   time.Duration      `query:"wait"`
	Max    *int64             `query:"max"`
	Opt    rest.Opt[string]   `query:"opt"`
	Number rest.Opt[float64]  `query:"number"`
	Tags   []string           `query:"tag"`
	Comma  []string           `query:"comma,comma"`
	Nums   []int8             `query:"num"`
	Addr   netip.Addr         `query:"addr"`
	Must   string             `query:"must"            required:"true"`
	Trace  string             `header:"X-Trace"`
	Hops   []string           `header:"X-Hop"`
	Seen   rest.Opt[int]      `header:"X-Seen"`
	Theme  string             `cookie:"theme"`
	Depth  int                `json:"depth"`
	Note   rest.Opt[string]   `json:"note,omitzero"`
	Owner  *author            `json:"owner,omitempty"`
	Lines  []author           `json:"lines"            required:"false"`
	Labels map[string]float64 `json:"labels,omitempty"`
}

const texts = "aZ09 -_.~/?#&=+%,;:@!$'()*[]\"\\<>|^`{}äß€😀\t"

// randomText is a text that a parameter may have; min is how many letters it has at least.
func randomText(r *rand.Rand, minimum int) string {
	all := []rune(texts)
	var b strings.Builder
	for range minimum + r.IntN(6) {
		b.WriteRune(all[r.IntN(len(all))])
	}
	return b.String()
}

// fields is a text without what a header or a cookie cannot have.
func headerText(r *rand.Rand) string {
	text := strings.Map(func(c rune) rune {
		if c <= ' ' || c > '~' || strings.ContainsRune(`",;\`, c) {
			return 'x'
		}
		return c
	}, randomText(r, 1))
	return text
}

func perhaps[T any](r *rand.Rand, v T) (none T) {
	if r.IntN(2) == 0 {
		return none
	}
	return v
}

func randomInput(r *rand.Rand) everything {
	moment := time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC()
	name := randomText(r, 1)
	if name == "." || name == ".." || name == "/" {
		name = "dots"
	}
	in := everything{
		ID: int32(r.Uint32()), Name: name, Day: time.Date(1+r.IntN(9998), time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0,
			time.UTC),
		Rest: strings.Trim(url.PathEscape(randomText(r, 1)), "."), Q: perhaps(r, randomText(r, 0)),
		Lang: perhaps(r, randomText(r, 0)), Limit: perhaps(r, int(r.Int64())-r.IntN(9)), All: r.IntN(2) == 0,
		Offset: perhaps(r, uint16(r.Uint32())), Ratio: perhaps(r, r.Float32()*1e9), Since: perhaps(r, moment),
		Wait: perhaps(r, time.Duration(r.Int64())), Tags: perhaps(r, []string{randomText(r, 0), randomText(r, 0)}),
		Comma: perhaps(r, []string{randomText(r, 1), randomText(r, 0)}), Nums: perhaps(r, []int8{int8(r.Uint32()), 0}),
		Addr: perhaps(r, netip.AddrFrom4([4]byte{10, 0, 0, byte(r.Uint32())})), Must: randomText(r, 0),
		Trace: perhaps(r, headerText(r)), Hops: perhaps(r, []string{headerText(r), headerText(r)}),
		Theme: perhaps(r, headerText(r)), Depth: r.IntN(9), Lines: []author{{1, randomText(r, 0)}},
		Labels: perhaps(r, map[string]float64{randomText(r, 1): r.Float64()}), Until: perhaps(r, &moment),
		Max: perhaps(r, new(r.Int64())), Opt: perhaps(r, rest.Some(randomText(r, 0))),
		Number: perhaps(r, rest.Some(r.NormFloat64())), Seen: perhaps(r, rest.Some(r.IntN(9))),
		Note: perhaps(r, rest.Null[string]()), Owner: perhaps(r, &author{2, "x"}),
	}
	return in
}

// TestEndpointRoundTrip makes requests of random inputs: each is served with the input that
// it was made of.
func TestEndpointRoundTrip(t *testing.T) {
	t.Parallel()

	var got everything
	var e *rest.Endpoint[everything, rest.NoContent]
	api := serve(func(r *rest.Routes) {
		e = rest.Post(r, "/x/{int:id}/{name}/{day}/{path:rest}", func(
			_ context.Context, in everything,
		) (rest.NoContent, error) {
			got = in
			return rest.NoContent{}, nil
		})
	})
	same := cmp.Options{
		cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
		cmp.AllowUnexported(rest.Opt[string]{}, rest.Opt[int]{}, rest.Opt[float64]{}),
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		in := randomInput(random)
		a := resttest.Call(t, api, e, in)
		if diff := cmp.Diff(in, got, same); a.Status != http.StatusNoContent || diff != "" {
			address, err := e.URL(in)
			t.Fatalf("%s %v\n%d %s\n-made of +served with\n%s", address, err, a.Status, a.Text, diff)
		}
	}
}

func TestEndpointURL(t *testing.T) {
	t.Parallel()

	type in struct {
		S     string   `path:"s"`
		Rest  string   `path:"rest"`
		Q     string   `query:"q"`
		Comma []string `query:"c,comma"`
	}
	var e *rest.Endpoint[in, in]
	api := quiet()
	api.Register(routes(func(r *rest.Routes) { e = rest.Get(r, "/{s}/{path:rest}", echo[in]) }), rest.Prefix("/p"))
	wantDiff(t, "path and method", []string{"/p/{s}/{rest}", "GET"}, []string{e.Path(), e.Method()})
	for _, c := range []struct {
		in   in
		want string // empty: an error
	}{
		{in{S: "a", Rest: "b"}, "/p/a/b"},
		{in{S: "a/b?c", Rest: "d/e f", Q: "g&h"}, "/p/a%2Fb%3Fc/d/e%20f?q=g%26h"},
		{in{S: "a", Comma: []string{"x,y", "z"}}, "/p/a/?c=x%2Cy,z"},
		{in{S: "", Rest: "b"}, ""},
		{in{S: ".", Rest: "b"}, ""},
		{in{S: "..", Rest: "b"}, ""},
		{in{S: "/", Rest: "b"}, ""},
		{in{S: "a", Rest: "../b"}, ""},
		{in{S: "a", Rest: "b//c"}, ""},
		{in{S: "a", Rest: "/b"}, ""},
		{in{S: "a", Comma: []string{""}}, ""},
	} {
		got, err := e.URL(c.in)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: got %q, %v", c.in, got, err)
		}
	}
	if _, err := (&rest.Endpoint[in, in]{}).URL(in{}); err == nil {
		t.Error("an endpoint of nothing has an address")
	}
	wantDiff(t, "of nothing", "", (&rest.Endpoint[in, in]{}).Path()+(&rest.Endpoint[in, in]{}).Method())
}

func TestEndpointRequestOfABody(t *testing.T) {
	t.Parallel()

	type embedded struct {
		ID int64 `path:"id"`
		newBook
	}
	type field struct {
		ID   int64 `path:"id"`
		Body *newBook
	}
	type form struct {
		ID    int64    `path:"id"`
		Title string   `form:"title"`
		Tags  []string `form:"tag"`
	}
	var (
		a *rest.Endpoint[*embedded, newBook]
		b *rest.Endpoint[field, *newBook]
		c *rest.Endpoint[form, form]
	)
	api := serve(func(r *rest.Routes) {
		a = rest.Post(r, "/a/{int:id}", func(_ context.Context, in *embedded) (newBook, error) { return in.newBook, nil })
		b = rest.Post(r, "/b/{int:id}", func(_ context.Context, in field) (*newBook, error) {
			if in.Body == nil {
				return &newBook{"none", 0}, nil
			}
			return in.Body, nil
		})
		c = rest.Post(r, "/c/{int:id}", echo[form])
	})
	emma := newBook{"Emma", 2.5}
	wantDiff(t, "embedded", emma, resttest.Call(t, api, a, &embedded{7, emma}).Body)
	wantDiff(t, "field", emma, *resttest.Call(t, api, b, field{7, &emma}).Body)
	wantDiff(t, "no field", "none", resttest.Call(t, api, b, field{ID: 7}).Body.Title)
	wantDiff(t, "form", form{7, "a&b=ü", []string{"", "x"}},
		resttest.Call(t, api, c, form{7, "a&b=ü", []string{"", "x"}}).Body)
}

func TestReverse(t *testing.T) {
	t.Parallel()

	api := quiet()
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/{int:id}/{s}", func(context.Context, struct {
			ID int64  `path:"id"`
			S  string `path:"s"`
		},
		) (string, error) {
			return "", nil
		}, rest.Name("show"))
		rest.Get(r, "/on/{day}", func(context.Context, struct {
			Day time.Time `path:"day" format:"date"`
		},
		) (string, error) {
			return "", nil
		}, rest.Name("on"))
		rest.Get(r, "/", handle(""), rest.Name("root"))
	}), rest.Prefix("/p"), rest.Namespace("shop"))
	day := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, c := range []struct {
		name   string
		values []any
		want   string
	}{
		{"shop.show", []any{7, "a b"}, "/p/7/a%20b"},
		{"shop.show", []any{int8(7), "a"}, "/p/7/a"},
		{"shop.root", nil, "/p"},
		{"shop.on", []any{day}, "/p/on/2026-02-03"},
		{"shop.show", []any{"x", "a"}, ""},
		{"shop.show", []any{7}, ""},
		{"shop.show", []any{7, nil}, ""},
		{"shop.show", []any{7, []string{"a", "b"}}, ""},
		{"other.show", []any{7, "a"}, ""},
	} {
		got, err := api.Reverse(c.name, c.values...)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %v: got %q, %v", c.name, fmt.Sprint(c.values...), got, err)
		}
	}
}

// linked is a controller that keeps its endpoint.
type linked struct{ get *rest.Endpoint[byID, int64] }

func (c *linked) Routes(r *rest.Routes) { c.get = rest.Get(r, "/{int:id}", routeOf) }

func TestEndpointOfSeveralAPIs(t *testing.T) {
	t.Parallel()

	c := &linked{}
	one, two := quiet(), quiet()
	one.Register(c, rest.Prefix("/one"))
	first := c.get
	two.Register(c, rest.Prefix("/two"))
	for want, e := range map[string]*rest.Endpoint[byID, int64]{"/one/7": first, "/two/7": c.get} {
		if got, err := e.URL(byID{7}); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	wantDiff(t, "calls", []int64{7, 8},
		[]int64{resttest.Call(t, one, first, byID{7}).Body, resttest.Call(t, two, c.get, byID{8}).Body})
}
