package bind_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/opt"
)

type listing struct {
	Active bool            `default:"true"  query:"active"`
	N      int             `default:"7"     query:"n"`
	Name   string          `default:"x"     query:"name"`
	Tags   []string        `default:"a,b"   query:"tag"`
	IDs    []int           `default:"[1,2]" query:"id"`
	Max    opt.Opt[int]    `default:"9"     query:"max"`
	Words  opt.Opt[string] `default:"w"     query:"words"`
}

func TestDefaults(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		query string
		want  listing
	}{
		{"", listing{true, 7, "x", []string{"a", "b"}, []int{1, 2}, opt.Some(9), opt.Some("w")}},
		{
			"active=false&n=0&name=&tag=&id=0&max=0&words=",
			listing{false, 0, "", []string{""}, []int{0}, opt.Some(0), opt.Some("")},
		},
	} {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()

			got, faults := read[listing](t, get(c.query))
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(opt.Opt[int]{}, opt.Opt[string]{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type lists struct {
	Repeat  []string `query:"repeat"`
	Explode []int    `query:"explode,explode"`
	Comma   []string `query:"comma,comma"`
	Numbers []uint16 `query:"numbers,comma"`
}

func TestLists(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		query string
		want  lists
	}{
		{"", lists{}},
		{"repeat=a&x=1&repeat=b", lists{Repeat: []string{"a", "b"}}},
		{"repeat=a,b", lists{Repeat: []string{"a,b"}}},
		{"repeat", lists{Repeat: []string{""}}},
		{"explode=1&explode=2", lists{Explode: []int{1, 2}}},
		{"comma=a,b,,c", lists{Comma: []string{"a", "b", "", "c"}}},
		{"comma=", lists{Comma: []string{}}},
		{"comma=a%2Cb,c+d", lists{Comma: []string{"a,b", "c d"}}},
		{"comma=a,b&comma=c", lists{Comma: []string{"a", "b", "c"}}},
		{"numbers=1,65535", lists{Numbers: []uint16{1, 65535}}},
	} {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()

			got, faults := read[lists](t, get(c.query))
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestListFaultsHaveAnIndex(t *testing.T) {
	t.Parallel()

	_, faults := read[lists](t, get("explode=1&explode=x&explode=3&explode=y&numbers=1,65536"))
	want := []string{
		"query.explode[1] int_parsing", "query.explode[3] int_parsing", "query.numbers[1] int_overflow",
	}
	if diff := cmp.Diff(want, summary(faults)); diff != "" {
		t.Error(diff)
	}
}

func TestQueryDecoding(t *testing.T) {
	t.Parallel()

	type in struct {
		Q string `query:"q"`
		A string `query:"a b"`
	}

	for _, c := range []struct {
		query string
		want  in
	}{
		{"q=a+b%2Bc%26", in{Q: "a b+c&"}},
		{"q=a;b=c", in{Q: "a;b=c"}},
		{"q=a=b", in{Q: "a=b"}},
		{"q=%C3%A9", in{Q: "é"}},
		{"%71=x", in{Q: "x"}},
		{"a+b=1&&q=2&", in{Q: "2", A: "1"}},
		{"Q=upper", in{}},
	} {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()

			got, faults := read[in](t, get(c.query))
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestQueryFaults(t *testing.T) {
	t.Parallel()

	type in struct {
		Q    string   `query:"q"   required:"true"`
		N    int      `query:"n"`
		Tags []string `query:"tag"`
	}

	for _, c := range []struct {
		query string
		want  []string
	}{
		{"", []string{"query.q missing"}},
		{"q", nil},
		{"q=%zz", []string{"query.q percent_encoding"}},
		{"q=1&tag=a&tag=%4", []string{"query.tag percent_encoding"}},
		{"q=1&unread=%", []string{"query.unread percent_encoding"}},
		{"q=1&%zz=2", []string{"query percent_encoding"}},
		{"q=1&q=1", []string{"query.q repeated"}},
		{"q=1&q=%zz", []string{"query.q percent_encoding", "query.q repeated"}},
		{"n=x&n=y", []string{"query.q missing", "query.n repeated"}},
	} {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()

			_, faults := read[in](t, get(c.query))
			if diff := cmp.Diff(c.want, summary(faults)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRepeatedHeaderAndCookie(t *testing.T) {
	t.Parallel()

	type in struct {
		Trace   string `header:"X-Trace"`
		Session string `cookie:"session"`
		Need    string `header:"X-Need"  required:"true"`
		Cookie  string `cookie:"need"    required:"true"`
	}

	r := get("")
	r.Header = http.Header{"X-Trace": {"a", "b"}, "Cookie": {"session=1; session=2"}}

	_, faults := read[in](t, r)
	want := []string{
		"header.X-Trace repeated", "cookie.session repeated", "header.X-Need missing", "cookie.need missing",
	}
	if diff := cmp.Diff(want, summary(faults)); diff != "" {
		t.Error(diff)
	}
}

func TestMalformedQueryIsReportedOnce(t *testing.T) {
	t.Parallel()

	type filter struct {
		Q string `query:"q"`
	}
	type page struct {
		Limit int `query:"limit"`
	}
	type header struct {
		Trace string `header:"X-Trace"`
	}

	in := bind.NewInput(get("q=%zz&limit=5"), nil)
	if faults := compile[header](t, bind.Options{}).Bind(in, new(header)); len(faults) > 0 {
		t.Errorf("headers: %v", faults)
	}

	var p page
	faults := compile[page](t, bind.Options{}).Bind(in, &p)
	if diff := cmp.Diff([]string{"query.q percent_encoding"}, summary(faults)); diff != "" {
		t.Error(diff)
	}
	if p.Limit != 5 {
		t.Errorf("limit %d", p.Limit)
	}
	if faults := compile[filter](t, bind.Options{}).Bind(in, new(filter)); len(faults) > 0 {
		t.Errorf("a second time: %v", faults)
	}
}

func TestQueryFaultsWithoutAPlan(t *testing.T) {
	t.Parallel()

	r := get("a=%zz&%=1")
	in := bind.NewInput(r, nil)
	if in.Request() != r {
		t.Error("another request")
	}

	want := []string{"query.a percent_encoding", "query percent_encoding"}
	if diff := cmp.Diff(want, summary(in.QueryFaults())); diff != "" {
		t.Error(diff)
	}
	if again := in.QueryFaults(); len(again) > 0 {
		t.Errorf("a second time: %v", again)
	}
}

func TestBoundedFaults(t *testing.T) {
	t.Parallel()

	type in struct {
		IDs  []int `query:"id"`
		Last int   `query:"last"`
	}

	for _, query := range []string{
		strings.Repeat("id=x&", 5000) + "last=x",
		strings.Repeat("%zz&", 5000),
	} {
		_, faults := read[in](t, get(query))
		if len(faults) != 101 || faults[100].Kind != fault.KindTooManyFaults {
			t.Errorf("%d faults, the last is %v", len(faults), faults[len(faults)-1])
		}
	}

	_, faults := read[in](t, get(strings.Repeat("a&", 10_001)))
	if diff := cmp.Diff([]string{"query " + bind.KindTooMany}, summary(faults)); diff != "" {
		t.Error(diff)
	}
	if _, faults := read[in](t, get(strings.Repeat("a&", 10_000))); len(faults) > 0 {
		t.Error(faults)
	}
}

func TestInputQuery(t *testing.T) {
	t.Parallel()

	in := bind.NewInput(get("a=1&b=&c=1&c=2&d=%zz&e=%00&a+b=3"), nil)

	for name, want := range map[string]struct {
		text  string
		ok    bool
		kinds []string
	}{
		"a":    {"1", true, nil},
		"b":    {"", true, nil},
		"c":    {"", false, []string{"query.c repeated"}},
		"d":    {"", false, nil},
		"a b":  {"3", true, nil},
		"none": {"", false, nil},
	} {
		if text, ok := in.Query(name); text != want.text || ok != want.ok {
			t.Errorf("%s: Query %q, %v", name, text, ok)
		}

		fresh := bind.NewInput(get("a=1&b=&c=1&c=2&d=%zz&e=%00&a+b=3"), nil)
		text, ok, faults := fresh.QueryText(name)
		if text != want.text || ok != want.ok {
			t.Errorf("%s: QueryText %q, %v", name, text, ok)
		}
		if diff := cmp.Diff(append([]string{"query.d percent_encoding"}, want.kinds...), summary(faults)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}

	if _, ok, faults := in.QueryText("e"); ok || !slices.Contains(summary(faults), "query.e string_nul") {
		t.Errorf("NUL: %v", faults)
	}

	want := []string{"a", "b", "c", "c", "d", "e", "a b"}
	if diff := cmp.Diff(want, slices.Collect(in.QueryNames())); diff != "" {
		t.Error(diff)
	}
}

func TestInputReset(t *testing.T) {
	t.Parallel()

	in := bind.NewInput(get("q=%zz&a=1"), nil)
	if _, ok, faults := in.QueryText("a"); !ok || len(faults) != 1 {
		t.Fatalf("%v, %v", ok, faults)
	}

	in.Reset(get("b=%zz"), nil)
	if _, ok := in.Query("a"); ok {
		t.Error("the request before is still there")
	}
	if _, _, faults := in.QueryText("b"); len(faults) != 1 {
		t.Errorf("faults of the second request: %v", faults)
	}

	in.Reset(get(strings.Repeat("c=1&", 50)+"d=2"), nil)
	if text, ok := in.Query("d"); !ok || text != "2" {
		t.Errorf("d: %q, %v", text, ok)
	}
	in.Reset(get("e=1"), nil)
	if got := slices.Collect(in.QueryNames()); len(got) != 1 || got[0] != "e" {
		t.Errorf("after a long one: %v", got)
	}
}

func TestConcurrentBind(t *testing.T) {
	t.Parallel()

	plan := compile[listing](t, bind.Options{})

	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				var good, bad listing
				if faults := plan.Bind(bind.NewInput(get("n=1&tag=x&max=3"), nil), &good); len(faults) > 0 ||
					good.N != 1 || good.Tags[0] != "x" || good.Max.Or(0) != 3 {
					t.Errorf("good: %+v, %v", good, faults)
				}
				good.Tags[0], good.IDs[0] = "changed", 0

				faults := plan.Bind(bind.NewInput(get("n=x"), nil), &bad)
				if len(faults) != 1 || faults[0].Location() != "query.n" || bad.IDs[0] != 1 {
					t.Errorf("bad: %+v, %v", bad, faults)
				}
			}
		})
	}
	group.Wait()
}

func TestBindPanicsOnAnotherType(t *testing.T) {
	t.Parallel()

	plan := compile[listing](t, bind.Options{})

	for name, dst := range map[string]any{
		"value": listing{}, "other": new(lists), "nil": nil, "nil pointer": (*listing)(nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			plan.Bind(bind.NewInput(get(""), nil), dst)
		})
	}
}

func TestFaultsDoNotShareAPath(t *testing.T) {
	t.Parallel()

	type in struct {
		IDs []int `minimum:"5" query:"id"`
	}

	_, faults := read[in](t, get("id=1&id=2"))
	for i, f := range faults {
		if f.In != fault.Query || !cmp.Equal(f.Path, []any{"id", i}) {
			t.Errorf("fault %d is at %s", i, f.Location())
		}
		f.Path[0] = "changed"
	}
}
