package wire_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/wire"
)

// write is what an API does with an answer.
func write(t *testing.T, v any) string {
	t.Helper()
	value, text, err := wire.Prepare(v, json.Marshal)
	if err != nil {
		t.Fatalf("%T: %v", v, err)
	}
	if text == nil {
		if text, err = json.Marshal(value); err != nil {
			t.Fatalf("%T: %v", v, err)
		}
	}

	return string(text)
}

type base struct {
	Flags []bool `json:"flags"`
}

type leaf struct {
	Tags []string          `json:"tags"`
	Meta map[string]string `json:"meta"`
}

type tree struct {
	base
	*inherited

	Name   string                    `json:"name"`
	Leaf   leaf                      `json:"leaf"`
	Ptr    *leaf                     `json:"ptr"`
	None   *leaf                     `json:"none"`
	Leaves []leaf                    `json:"leaves"`
	Ptrs   []*leaf                   `json:"ptrs"`
	Map    map[string]leaf           `json:"map"`
	MapPtr map[int]*leaf             `json:"mapPtr"`
	Lists  map[string][]string       `json:"lists"`
	Array  [2][]int                  `json:"array"`
	Any    any                       `json:"any"`
	Anys   []any                     `json:"anys"`
	Bytes  []byte                    `json:"bytes"`
	Empty  []int                     `json:"empty,omitempty"`
	Zero   []int                     `json:"zero,omitzero"`
	ZeroIn leaf                      `json:"zeroIn,omitzero"`
	Null   []int                     `json:"null"            nullable:"true"`
	Raw    json.RawMessage           `json:"raw"`
	Own    ownText                   `json:"own"`
	Opt    opt.Opt[[]string]         `json:"opt"`
	OptIn  opt.Opt[leaf]             `json:"optIn"`
	OptNil opt.Opt[[]leaf]           `json:"optNil"`
	Matrix [][]int                   `json:"matrix"`
	Nested map[string]map[string]any `json:"nested"`
	Hidden []int                     `json:"-"`
	secret []int
	Kids   []*tree `json:"kids"`
}

type inherited struct {
	More []string `json:"more"`
}

// ownText writes itself, and means null by null.
type ownText struct{ Items []int }

func (o ownText) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]any{"items": o.Items}) }

func full() *tree {
	return &tree{
		inherited: &inherited{},
		Ptr:       &leaf{}, Leaves: []leaf{{Tags: []string{"a"}, Meta: map[string]string{}}, {}}, Ptrs: []*leaf{{}},
		Map: map[string]leaf{"a": {}, "b": {Tags: []string{}}}, MapPtr: map[int]*leaf{1: {}},
		Lists: map[string][]string{"x": nil},
		Any:   map[string]any{"list": []string(nil), "leaf": leaf{}, "ptr": &leaf{}, "null": nil, "n": 1.5},
		Anys:  []any{nil, []int(nil), leaf{}}, Opt: opt.Some[[]string](nil), OptIn: opt.Some(leaf{}),
		OptNil: opt.Some([]leaf{{}}), Matrix: [][]int{nil, {1}},
		Nested: map[string]map[string]any{"a": nil, "b": {"c": map[string]int(nil)}}, Kids: []*tree{{}},
	}
}

const noLeaf = `{"tags":[],"meta":{}}`

// A list or map that is nil is [] or {}, wherever it is, and what the document lets be null
// or left out stays.
func TestNil(t *testing.T) {
	t.Parallel()

	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(write(t, full())), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"flags": `[]`, "more": `[]`, "name": `""`, "leaf": noLeaf, "ptr": noLeaf, "none": `null`,
		"leaves": `[{"tags":["a"],"meta":{}},` + noLeaf + `]`, "ptrs": `[` + noLeaf + `]`,
		"map": `{"a":` + noLeaf + `,"b":` + noLeaf + `}`, "mapPtr": `{"1":` + noLeaf + `}`, "lists": `{"x":[]}`,
		"array": `[[],[]]`,
		"any":   `{"leaf":` + noLeaf + `,"list":[],"n":1.5,"null":null,"ptr":` + noLeaf + `}`,
		"anys":  `[null,[],` + noLeaf + `]`, "bytes": `""`, "null": `null`, "raw": `null`, "own": `{"items":null}`,
		"opt": `null`, "optIn": noLeaf, "optNil": `[` + noLeaf + `]`, "matrix": `[[],[1]]`, "nested": `{"a":{},"b":{"c":{}}}`,
	}
	for name, text := range want {
		if string(got[name]) != text {
			t.Errorf("%s: got %s, want %s", name, got[name], text)
		}
	}
	if len(got) != len(want)+1 {
		t.Errorf("got %d fields: %v", len(got), got)
	}
	if kid := string(got["kids"]); strings.Contains(strings.NewReplacer(`"ptr":null`, "", `"none":null`, "", `"any":null`,
		"", `"null":null`, "", `"raw":null`, "",
		`"opt":null`, "", `"optIn":null`, "", `"optNil":null`, "", `{"items":null}`, "").Replace(kid), "null") {
		t.Error(kid)
	}

	for want, v := range map[string]any{
		`[]`: []int(nil), `{}`: map[string]int(nil), `null`: (*leaf)(nil), noLeaf: leaf{}, `[` + noLeaf + `]`: []leaf{{}},
		`{"items":[]}`: struct {
			Items any `json:"items"`
		}{[]leaf(nil)},
		`{"a":` + noLeaf + `}`: map[string]*leaf{"a": {}}, `[[[]]]`: [1]any{[]any{[]string(nil)}},
	} {
		if got := write(t, v); got != want {
			t.Errorf("%#v is written %s, want %s", v, got, want)
		}
	}
}

// What a handler returns is not written to: others may be reading it.
func TestNothingIsChanged(t *testing.T) {
	t.Parallel()

	v := full()
	v.secret = []int{1}
	write(t, v)
	if diff := cmp.Diff(full(), v, cmp.AllowUnexported(tree{}, base{}, opt.Opt[[]string]{}, opt.Opt[leaf]{},
		opt.Opt[[]leaf]{}),
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".secret" }, cmp.Ignore())); diff != "" {
		t.Error(diff)
	}
	if v.Leaf.Tags != nil || v.Leaves[1].Tags != nil || v.Ptr.Tags != nil || v.Lists["x"] != nil {
		t.Error("the value was written to")
	}
	dated := &stay{Days: nil, By: map[string]day{"a": {}}}
	write(t, dated)
	if dated.Days != nil || dated.By["a"].Notes != nil {
		t.Error("the value was written to")
	}
}

// Of a page of rows, those are copied in which something is nil that may not be.
func TestRows(t *testing.T) {
	t.Parallel()

	type row struct {
		Tags []string       `json:"tags"`
		Left []string       `json:"left,omitempty"`
		Null map[string]int `json:"null"           nullable:"true"`
	}
	some := []string{"a"}
	for want, rows := range map[string][]row{
		`[]`:                           {},
		`[{"tags":["a"],"null":null}]`: {{Tags: some}},
		`[{"tags":[],"null":null},{"tags":["a"],"null":null},{"tags":[],"left":["a"],"null":null},{"tags":["a"],"null":null},{"tags":[],"null":{}}]`: {
			{}, {Tags: some}, {Left: some}, {Tags: some}, {Null: map[string]int{}},
		},
	} {
		if diff := cmp.Diff(want, write(t, rows)); diff != "" {
			t.Error(diff)
		}
		plan := wire.PlanOf(reflect.TypeFor[[]row]())
		paged, _, err := plan.Prepare(struct{ Items any }{rows}, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(paged)
		if diff := cmp.Diff(`{"Items":`+want+`}`, string(text)); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}

// Rows behind pointers are the program's too: they are copied before something is replaced.
func TestRowsBehindPointers(t *testing.T) {
	t.Parallel()

	type row struct {
		Tags []string `json:"tags"`
	}
	bare := &row{}
	rows := []*row{{Tags: []string{"a"}}, bare, {Tags: []string{}}, bare}
	if diff := cmp.Diff(`[{"tags":["a"]},{"tags":[]},{"tags":[]},{"tags":[]}]`, write(t, rows)); diff != "" {
		t.Error(diff)
	}
	if bare.Tags != nil {
		t.Error("a row was written to")
	}
	if diff := cmp.Diff(`[null,{"tags":[]}]`, write(t, []**row{nil, &bare})); diff != "" {
		t.Error(diff)
	}
}

// A list or map of pointers to structs has no nil, with texts or without.
func TestNilAmongObjects(t *testing.T) {
	t.Parallel()

	for name, v := range map[string]any{
		"list": []*leaf{{}, nil}, "map": map[string]*leaf{"a": nil}, "flat": []*day{nil}, "texts": map[int]*day{1: nil},
		"deep": tree{Kids: []*tree{{Ptrs: []*leaf{nil}}}}, "beside texts": stay{Deeper: []*stay{nil}},
		"in any": []any{[]*leaf{nil}}, "in an Opt": opt.Some([]*leaf{nil}),
	} {
		if _, _, err := wire.Prepare(v, json.Marshal); err == nil || !strings.Contains(err.Error(), "is in a") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What may be nil is looked into where it is not.
func TestRowsOfRows(t *testing.T) {
	t.Parallel()

	type row struct {
		Left []string `json:"left,omitempty"`
		Kids []row    `json:"kids,omitempty"`
		Tags []string `json:"tags"`
	}
	rows := []row{{Tags: []string{"a"}, Kids: []row{{Left: []string{"b"}}}}, {Kids: []row{}}}
	want := `[{"kids":[{"left":["b"],"tags":[]}],"tags":["a"]},{"tags":[]}]`
	if diff := cmp.Diff(want, write(t, rows)); diff != "" {
		t.Error(diff)
	}
}

// A value in which nothing is nil is given to the codec as it is.
//
//nolint:paralleltest // it counts allocations
func TestNothingToDo(t *testing.T) {
	v := &leaf{Tags: []string{}, Meta: map[string]string{}}
	got, text, err := wire.Prepare(v, nil)
	if got != any(v) || text != nil || err != nil {
		t.Errorf("got %v %s %v", got, text, err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _, _ = wire.Prepare(v, nil) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

type ring struct {
	Next *ring `json:"next"`
	Twin *ring `json:"twin"`
	List []int `json:"list"`
}

// A value that leads back to itself is the codec's to refuse.
func TestEndless(t *testing.T) {
	t.Parallel()

	r := &ring{}
	r.Next, r.Twin = r, r
	value, _, err := wire.Prepare(r, json.Marshal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(value); err == nil {
		t.Error("it was written")
	}
}

type day struct {
	On    time.Time `format:"date" json:"on"`
	Notes []string  `json:"notes"`
}

type stay struct {
	base

	From    time.Time          `format:"date"          json:"from"`
	Until   *time.Time         `format:"date"          json:"until"`
	At      time.Time          `format:"time"          json:"at"`
	Long    time.Duration      `format:"duration"      json:"long"`
	Short   *time.Duration     `format:"duration"      json:"short,omitempty"`
	Nanos   time.Duration      `json:"nanos"`
	Made    time.Time          `json:"made"`
	Days    []time.Time        `format:"date"          json:"days"`
	By      map[string]day     `json:"by"`
	ByID    map[int]day        `json:"byId,omitempty"`
	Maybe   opt.Opt[time.Time] `format:"date"          json:"maybe,omitzero"`
	Never   time.Time          `format:"date"          json:"never,omitzero"`
	Link    url.URL            `json:"link"`
	Links   []*url.URL         `json:"links"`
	Ref     url.URL            `format:"uri-reference" json:"ref"`
	Any     any                `json:"any"`
	Face    fmt.Stringer       `json:"face"`
	Count   int                `json:"count,string"`
	Text    string             `json:"text,string"`
	Escape  string             `json:"<&>"`
	Null    []time.Time        `format:"date"          json:"null"            nullable:"true"`
	Deeper  []*stay            `json:"deeper"`
	Ignored time.Time          `format:"date"          json:"-"`
}

func (d day) String() string { return "a day" }

// Times, durations and addresses have the text that the document says.
func TestTexts(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 11, 22, 15, 4, 5, 0, time.FixedZone("", 3600))
	long := 90 * time.Minute
	link := url.URL{
		Scheme: "https", Host: "example.com", Path: "/a b", RawQuery: "c=d", User: url.UserPassword("me", "pw"),
	}
	v := stay{
		From: at, Until: &at, At: at, Long: long, Short: &long, Nanos: 5, Made: at.UTC(), Days: []time.Time{at},
		By: map[string]day{"b": {On: at}, "a": {On: at, Notes: []string{"x"}}}, ByID: map[int]day{10: {}, 9: {}},
		Maybe: opt.Some(at), Link: link, Links: []*url.URL{&link, nil}, Ref: url.URL{Path: "/a"},
		Any: []any{day{On: at}, map[string]any{"d": &day{On: at}}}, Face: day{On: at}, Count: 3, Text: "x", Escape: "<",
		Deeper: []*stay{},
	}
	const dayText = `{"on":"2026-11-22","notes":[]}`
	want := `{"flags":[],"from":"2026-11-22","until":"2026-11-22","at":"15:04:05+01:00","long":"PT1H30M","short":"PT1H30M","nanos":5,` +
		`"made":"2026-11-22T14:04:05Z","days":["2026-11-22"],"by":{"a":{"on":"2026-11-22","notes":["x"]},"b":` + dayText +
		`},` +
		`"byId":{"10":{"on":"0001-01-01","notes":[]},"9":{"on":"0001-01-01","notes":[]}},"maybe":"2026-11-22",` +
		`"link":"https://me:pw@example.com/a%20b?c=d","links":["https://me:pw@example.com/a%20b?c=d",null],"ref":"/a",` +
		`"any":[` + dayText + `,{"d":` + dayText + `}],"face":` + dayText +
		`,"count":"3","text":"\"x\"","<&>":"\u003c","null":null,"deeper":[]}`
	var indented [2]any
	got := write(t, v)
	for i, text := range []string{got, want} {
		if err := json.Unmarshal([]byte(text), &indented[i]); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if diff := cmp.Diff(indented[1], indented[0]); diff != "" {
		t.Error(diff)
	}
	if keys := strings.Index(got, `"from"`); keys > strings.Index(got, `"until"`) ||
		!strings.HasPrefix(got, `{"flags":[],"from"`) {
		t.Errorf("the fields are in another order: %s", got)
	}
	if got := write(t, map[string]any{"stay": []day(nil), "day": &day{On: at}}); got != `{"day":`+dayText+`,"stay":[]}` {
		t.Error(got)
	}
	if _, _, err := wire.Prepare(day{On: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, json.Marshal); err == nil {
		t.Error("a date of five digits was written")
	}
	if wire.HasTexts(reflect.TypeFor[leaf]()) || !wire.HasTexts(reflect.TypeFor[*[]stay]()) {
		t.Error("HasTexts is wrong")
	}
}

// A value that is written field by field looks as encoding/json has it, where nothing has a
// text of its own.
func TestWriteAsJSON(t *testing.T) {
	t.Parallel()

	type inner struct {
		*inherited
		A int     `json:"a,omitempty"`
		B *int    `json:"b"`
		C float64 `json:"c,string"`
		D bool    `json:",omitempty"` //nolint:tagliatelle // a name that no tag tells
		E [0]int  `json:"e,omitempty"`
		F any     `json:"f,omitempty"`
	}
	type forced struct {
		inner

		Date  *time.Time           `format:"date" json:"date,omitempty"` // nil, so that only the way matters
		Map   map[time.Month]inner `json:"map"`
		Time  time.Time            `json:"time"`
		Named inner                `json:"named"`
	}
	n := 3
	v := forced{
		inner: inner{inherited: &inherited{More: []string{"<x>"}}, A: 1, B: &n, C: 1.5, D: true, F: 1},
		Map:   map[time.Month]inner{1: {}, 10: {}, 2: {}}, Time: time.Unix(0, 0).UTC(),
	}
	want, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if got := write(t, v); got != string(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := write(t, &v); got != string(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
