package page_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

type cursorPage = page.CursorResponseSchema[book]

func TestCursor(t *testing.T) {
	t.Parallel()

	p := page.Cursor(page.Sign(page.RandomSecret()), page.Size(2), page.By("-id"))
	list := query.Slice(books(5))

	first := as[cursorPage](t, get(t, p, list, "/books?a=1&key=secret"))
	if diff := cmp.Diff([]int64{5, 4}, ids(first.Results)); diff != "" {
		t.Errorf("first (-want +got)\n%s", diff)
	}
	if first.Previous != nil {
		t.Errorf("first has the previous page %s", *first.Previous)
	}
	if !strings.HasPrefix(*first.Next, "/books?a=1&cursor=") {
		t.Errorf("got %s, want the other parameters kept and the key dropped", *first.Next)
	}

	second := as[cursorPage](t, get(t, p, list, *first.Next))
	third := as[cursorPage](t, get(t, p, list, *second.Next))
	if diff := cmp.Diff([]int64{3, 2}, ids(second.Results)); diff != "" {
		t.Errorf("second (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]int64{1}, ids(third.Results)); diff != "" || third.Next != nil {
		t.Errorf("third, next %v (-want +got)\n%s", third.Next, diff)
	}

	back := as[cursorPage](t, get(t, p, list, *third.Previous))
	if diff := cmp.Diff(ids(second.Results), ids(back.Results)); diff != "" {
		t.Errorf("second again (-want +got)\n%s", diff)
	}
	front := as[cursorPage](t, get(t, p, list, *back.Previous))
	if diff := cmp.Diff(ids(first.Results), ids(front.Results)); diff != "" || front.Previous != nil {
		t.Errorf("first again, previous %v (-want +got)\n%s", front.Previous, diff)
	}
	forth := as[cursorPage](t, get(t, p, list, *back.Next))
	if diff := cmp.Diff(ids(third.Results), ids(forth.Results)); diff != "" {
		t.Errorf("third again (-want +got)\n%s", diff)
	}
}

func TestCursorOfEmptyList(t *testing.T) {
	t.Parallel()

	p := page.Cursor(page.Sign(page.RandomSecret()))
	want := `{"next":null,"previous":null,"results":[]}`
	for _, address := range []string{"/", "/?cursor="} {
		if got := get(t, p, query.Slice[book](nil), address).ok(t); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

// A page that everything was taken from still leads back to what is left.
func TestCursorOfVanishedPage(t *testing.T) {
	t.Parallel()

	p := page.Cursor(page.Sign(page.RandomSecret()), page.Size(2))
	s := &shelf{items: books(6)}

	first := as[cursorPage](t, get(t, p, s.set(), "/"))
	second := as[cursorPage](t, get(t, p, s.set(), *first.Next))

	for _, id := range []int64{5, 6} {
		s.remove(id)
	}
	gone := as[cursorPage](t, get(t, p, s.set(), *second.Next))
	if len(gone.Results) > 0 || gone.Next != nil || gone.Previous == nil {
		t.Fatalf("behind the end: got %+v, want an empty page with the one before", gone)
	}
	last := as[cursorPage](t, get(t, p, s.set(), *gone.Previous))
	if diff := cmp.Diff([]int64{3, 4}, ids(last.Results)); diff != "" || last.Next != nil || last.Previous == nil {
		t.Errorf("the last page: %+v (-want +got)\n%s", last, diff)
	}

	for _, id := range []int64{1, 2} {
		s.remove(id)
	}
	gone = as[cursorPage](t, get(t, p, s.set(), *second.Previous))
	if len(gone.Results) > 0 || gone.Previous != nil || gone.Next == nil {
		t.Fatalf("before the start: got %+v, want an empty page with the one behind", gone)
	}
	start := as[cursorPage](t, get(t, p, s.set(), *gone.Next))
	if diff := cmp.Diff([]int64{3, 4}, ids(start.Results)); diff != "" {
		t.Errorf("the first page (-want +got)\n%s", diff)
	}
}

func TestCursorLinkHeader(t *testing.T) {
	t.Parallel()

	p := page.Cursor(page.Sign(page.RandomSecret()), page.Size(2), page.LinkHeader())
	list := query.Slice(books(5))

	a := get(t, p, list, "/books")
	links := map[string]string{}
	for link := range strings.SplitSeq(a.header.Get("Link"), ", ") {
		address, rel, _ := strings.Cut(link, "; ")
		links[rel] = strings.Trim(address, "<>")
	}
	if got := links[`rel="first"`]; got != "/books" {
		t.Errorf("first: got %q", got)
	}
	if _, ok := links[`rel="prev"`]; ok {
		t.Errorf("got %v, want no previous page", links)
	}
	if got, want := links[`rel="next"`], *as[cursorPage](t, a).Next; got != want {
		t.Errorf("next: got %q, want %q", got, want)
	}

	last := as[cursorPage](t, get(t, p, list, links[`rel="last"`]))
	if diff := cmp.Diff([]int64{4, 5}, ids(last.Results)); diff != "" || last.Next != nil {
		t.Errorf("last, next %v (-want +got)\n%s", last.Next, diff)
	}
	before := as[cursorPage](t, get(t, p, list, *last.Previous))
	if diff := cmp.Diff([]int64{2, 3}, ids(before.Results)); diff != "" {
		t.Errorf("before the last (-want +got)\n%s", diff)
	}
}

// The order of the list is the order of the pages, unless the paginator has its own.
func TestCursorOrder(t *testing.T) {
	t.Parallel()

	items := []book{{ID: 1, Price: 2}, {ID: 2, Price: 1}, {ID: 3, Price: 2}, {ID: 4, Price: 1}}
	secret := page.Sign(page.RandomSecret())

	for name, test := range map[string]struct {
		list query.Set[book]
		by   []string
		want []int64
	}{
		"none":                       {query.Slice(items), nil, []int64{1, 2, 3, 4}},
		"of the list":                {query.Slice(items).OrderBy("price"), nil, []int64{2, 4, 1, 3}},
		"of the list, descending":    {query.Slice(items).OrderBy("-price"), nil, []int64{3, 1, 4, 2}},
		"of the paginator":           {query.Slice(items).OrderBy("price"), []string{"-id"}, []int64{4, 3, 2, 1}},
		"of the paginator, in parts": {query.Slice(items), []string{"price", "-id"}, []int64{4, 2, 3, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := page.Cursor(secret, page.By(test.by...), page.Size(1))
			if diff := cmp.Diff(test.want, walk(t, p, test.list, "/", forward)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestCursorRefused(t *testing.T) {
	t.Parallel()

	secret := page.RandomSecret()
	p := page.Cursor(page.Sign(secret), page.Size(1))
	list := query.Slice(books(5))
	next := *as[cursorPage](t, get(t, p, list, "/books?page_size=2")).Next
	token := cursorOf(t, next)

	if a := get(t, p, list, "/books?cursor="+token); len(a.faults) > 0 {
		t.Fatalf("the cursor itself: %+v", a.faults)
	}

	other := page.Cursor(page.Sign(page.RandomSecret()))
	descending := page.Cursor(page.Sign(secret), page.By("-id"))
	for name, a := range map[string]answer{
		"another path":     get(t, p, list, "/authors?cursor="+token),
		"another secret":   get(t, other, list, "/books?cursor="+token),
		"another order":    get(t, descending, list, "/books?cursor="+token),
		"a longer order":   get(t, p, list.OrderBy("price"), "/books?cursor="+token),
		"cut":              get(t, p, list, "/books?cursor="+token[:len(token)-1]),
		"longer":           get(t, p, list, "/books?cursor="+token+"A"),
		"padded":           get(t, p, list, "/books?cursor="+token+"%3D"),
		"a line break":     get(t, p, list, "/books?cursor="+token+"%0A"),
		"no cursor at all": get(t, p, list, "/books?cursor=page2"),
		"very long":        get(t, p, list, "/books?cursor="+strings.Repeat("A", 100_000)),
	} {
		if diff := cmp.Diff(map[string]string{"query.cursor": page.KindCursor}, a.kinds()); diff != "" || a.err != nil {
			t.Errorf("%s: error %v, faults (-want +got)\n%s", name, a.err, diff)
		}
	}

	// No single character of it can be changed.
	for i := range token {
		forged := []byte(token)
		forged[i] = 'A' + (forged[i]-'A'+1)%26
		if string(forged) == token {
			continue
		}
		if a := get(t, p, list, "/books?cursor="+string(forged)); len(a.faults) != 1 {
			t.Errorf("with another character at %d: got %+v, want one fault", i, a)
		}
	}
}

// A list that cannot be read is an error, whatever the cursor.
func TestCursorOfBrokenList(t *testing.T) {
	t.Parallel()

	p := page.Cursor(page.Sign(page.RandomSecret()), page.Size(1))
	list := query.Slice(books(5))
	next := *as[cursorPage](t, get(t, p, list, "/")).Next

	mistaken := list.Where(query.Where("nothing", 1))
	if a := get(t, p, mistaken, next); a.err == nil {
		t.Errorf("got %+v, want the mistake in the list", a)
	}
}

func TestCursorKeyRotation(t *testing.T) {
	t.Parallel()

	before, after := page.RandomSecret(), page.RandomSecret()
	list := query.Slice(books(3))
	token := func(secrets ...[]byte) string {
		p := page.Cursor(page.Sign(secrets...), page.Size(1))
		return cursorOf(t, *as[cursorPage](t, get(t, p, list, "/")).Next)
	}
	accepts := func(token string, secrets ...[]byte) bool {
		p := page.Cursor(page.Sign(secrets...), page.Size(1))
		return len(get(t, p, list, "/?cursor="+token).faults) == 0
	}

	if !accepts(token(before), after, before) {
		t.Error("a cursor of the secret before is refused while that verifies")
	}
	if !accepts(token(after, before), after) {
		t.Error("the first secret does not sign")
	}
	if accepts(token(before), after) {
		t.Error("a cursor of a removed secret is accepted")
	}
}

// A cursor has values of the item, and an address has a greatest length.
func TestCursorOfLongValues(t *testing.T) {
	t.Parallel()

	list := query.Slice([]book{{ID: 1, Title: strings.Repeat("a", 10_000)}, {ID: 2, Title: "b"}})
	p := page.Cursor(page.Sign(page.RandomSecret()), page.By("title"), page.Size(1))
	if a := get(t, p, list, "/"); a.err == nil || !strings.Contains(a.err.Error(), "more than 6000") {
		t.Errorf("got %+v, want an error about the length", a)
	}
}

// A value that no condition can name is no place to begin at, and its page says so rather
// than linking to one that does not open.
func TestCursorOfValuesWithoutOrder(t *testing.T) {
	t.Parallel()

	list := query.Slice([]book{{ID: 1, Price: 1}, {ID: 2, Price: math.Inf(1)}, {ID: 3, Price: math.Inf(1)}})
	p := page.Cursor(page.Sign(page.RandomSecret()), page.By("price"), page.Size(1))

	first := as[cursorPage](t, get(t, p, list, "/"))
	if a := get(t, p, list, *first.Next); a.err == nil {
		t.Errorf("got %+v, want an error", a)
	}
}

func TestCursorCheckModel(t *testing.T) {
	t.Parallel()

	type keyless struct{ Title string }
	type opaque struct {
		ID   int64
		Tags map[string]string
	}
	type secretive struct{ ID textOnly }
	secret := page.Sign(page.RandomSecret())

	for name, test := range map[string]struct {
		p     page.Paginator
		model *driver.Model
		want  string // part of the error
	}{
		"fits":              {page.Cursor(secret, page.By("-price", "id")), driver.Slice[book](nil).Model(), ""},
		"no key":            {page.Cursor(secret), driver.Slice[keyless](nil).Model(), "has no key"},
		"unknown field":     {page.Cursor(secret, page.By("-prize")), driver.Slice[book](nil).Model(), `no field "prize"`},
		"without order":     {page.Cursor(secret, page.By("tags")), driver.Slice[opaque](nil).Model(), "no order"},
		"key without order": {page.Cursor(secret), driver.Slice[secretive](nil).Model(), "no order"},
		"behind New":        {page.New(page.Cursor(secret, page.By("x"))), driver.Slice[book](nil).Model(), `no field "x"`},
		"New, no opinion":   {page.New(page.Number()), driver.Slice[keyless](nil).Model(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			checker, ok := test.p.(page.ModelChecker)
			if !ok {
				t.Fatal("it checks no models")
			}
			err := checker.CheckModel(test.model)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}

	if a := get(t, page.Cursor(secret), query.Slice([]keyless{{"a"}}), "/"); a.err == nil {
		t.Errorf("a request: got %+v, want an error", a)
	}
}

// cursorOf is the cursor in an address.
func cursorOf(tb testing.TB, address string) string {
	tb.Helper()

	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}

	return u.Query().Get("cursor")
}

// A direction in which a list is walked: from which page on, and to which one next.
type direction bool

const (
	forward  direction = false
	backward direction = true
)

// walk reads a list page by page and returns the ids in the order of the list.
func walk(tb testing.TB, p page.Paginator, l any, address string, d direction) []int64 {
	tb.Helper()

	var seen []int64
	for address != "" {
		r := httptest.NewRequest(http.MethodGet, address, nil)
		body := as[cursorPage](tb, ask(tb, p, l, r, page.NewLinks("", r.URL, nil)))

		next := body.Next
		if d == backward {
			seen, next = slices.Concat(ids(body.Results), seen), body.Previous
		} else {
			seen = append(seen, ids(body.Results)...)
		}
		address = ""
		if next != nil {
			address = *next
		}
	}

	return seen
}

// textOnly is a key that databases know and that cannot be ordered in memory.
type textOnly [4]byte

func (textOnly) MarshalText() ([]byte, error) { return []byte("text"), nil }
