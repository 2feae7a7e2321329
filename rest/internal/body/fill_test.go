package body_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/opt"
)

type defaulted struct {
	Express  bool                 `default:"true"            json:"express"`
	Count    int                  `default:"7"               json:"count"`
	Name     string               `default:"none"            json:"name"`
	Limit    *int                 `default:"5"               json:"limit"`
	Tags     []string             `default:"a,b"             json:"tags"`
	Children []defaulted          `json:"children,omitempty"`
	ByName   map[string]defaulted `json:"byName,omitempty"`
	ByPtr    map[int]*defaulted   `json:"byPtr,omitempty"`
	Fixed    [1]*defaulted        `json:"fixed,omitzero"`
	One      *defaulted           `json:"one,omitempty"`
	Maybe    opt.Opt[leaf]        `json:"maybe,omitzero"`
	*Promoted
}

type leaf struct {
	Size int `default:"3" json:"size"`
}

// Promoted is embedded by pointer, and made when its default is needed.
type Promoted struct {
	Color string `default:"red" json:"color"`
}

const filled = `"express":true,"count":7,"name":"none","limit":5,"tags":["a","b"],"color":"red"`

func TestDefaults(t *testing.T) {
	t.Parallel()

	plan := planOf[defaulted](t)
	// A document and what it is the short form of.
	for data, want := range map[string]string{
		`{}`: `{` + filled + `}`,
		`{"express":false,"count":0,"name":"","limit":0,"tags":[],"color":""}`: `{"express":false,"count":0,"name":"","limit":0,"tags":[],"color":""}`,
		`{"express":null,"count":null,"name":null,"tags":null}`:                `{` + filled + `}`,
		`{"limit":null}`: `{` + strings.ReplaceAll(filled, `"limit":5`, `"limit":null`) + `}`,
		`{"children":[{},{"count":0}]}`: `{` + filled + `,"children":[{` + filled + `},{` +
			strings.ReplaceAll(filled, `"count":7`, `"count":0`) + `}]}`,
		`{"byName":{"a":{"byName":{"b":{}}}}}`: `{` + filled + `,"byName":{"a":{` + filled + `,"byName":{"b":{` +
			filled + `}}}}}`,
		`{"byPtr":{"-1":{}}}`:  `{` + filled + `,"byPtr":{"-1":{` + filled + `}}}`,
		`{"fixed":[{}]}`:       `{` + filled + `,"fixed":[{` + filled + `}]}`,
		`{"one":{"one":{}}}`:   `{` + filled + `,"one":{` + filled + `,"one":{` + filled + `}}}`,
		`{"maybe":{}}`:         `{` + filled + `,"maybe":{"size":3}}`,
		`{"maybe":{"size":0}}`: `{` + filled + `,"maybe":{"size":0}}`,
		`{"maybe":null}`:       `{` + filled + `,"maybe":null}`,
	} {
		t.Run(data, func(t *testing.T) {
			t.Parallel()

			var got, whole defaulted
			if _, faults := plan.Decode([]byte(data), &got); len(faults) > 0 {
				t.Fatal(faults)
			}
			if err := json.Unmarshal([]byte(want), &whole); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(whole, got) {
				left, _ := json.Marshal(got)
				t.Errorf("%s\n got %s\nwant %s", data, left, want)
			}
		})
	}
}

// TestDefaultsAreNotShared writes to one value's default and looks at another's.
func TestDefaultsAreNotShared(t *testing.T) {
	t.Parallel()

	plan := planOf[defaulted](t)
	var a, b defaulted
	if _, faults := plan.Decode([]byte(`{}`), &a); len(faults) > 0 {
		t.Fatal(faults)
	}
	a.Tags[0], *a.Limit = "changed", 99

	if _, faults := plan.Decode([]byte(`{}`), &b); len(faults) > 0 {
		t.Fatal(faults)
	}
	if b.Tags[0] != "a" || *b.Limit != 5 {
		t.Errorf("the next value got %v and %d", b.Tags, *b.Limit)
	}
}

type owned struct {
	ID   int64  `json:"id"   minimum:"1" readOnly:"true"`
	Name string `json:"name"`
	Kind string `default:"x" json:"kind" readOnly:"true"`
}

func TestReadOnly(t *testing.T) {
	t.Parallel()

	plan := planOf[[]owned](t)
	var got []owned
	if _, faults := plan.Decode([]byte(`[{"id":5,"name":"a","kind":"y"},{"name":"b"}]`), &got); len(faults) > 0 {
		t.Fatal(faults)
	}
	if diff := cmp.Diff([]owned{{Name: "a", Kind: "x"}, {Name: "b", Kind: "x"}}, got); diff != "" {
		t.Error(diff)
	}

	if diff := cmp.Diff([]string{"greater_than_equal at body[0].id"}, found(plan, `[{"id":0,"name":"a"}]`)); diff != "" {
		t.Error(diff)
	}
}

func TestPresence(t *testing.T) {
	t.Parallel()

	plan := planOf[owned](t)
	presence, faults := plan.Decode([]byte(`{"name":"","id":4}`), new(owned))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if diff := cmp.Diff([]string{"name"}, presence.Names()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]bool{"name": true, "id": false, "kind": false, "other": false} {
		if presence.Has(name) != want {
			t.Errorf("Has(%q) = %v", name, !want)
		}
	}
	if (body.Presence{}).Has("name") || (body.Presence{}).Names() != nil {
		t.Error("nothing has a key")
	}
}

// TestManyProperties has more properties than one word has bits.
func TestManyProperties(t *testing.T) {
	t.Parallel()

	var fields []reflect.StructField
	for i := range 200 {
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%03d", i), Type: reflect.TypeFor[int](), Tag: reflect.StructTag(fmt.Sprintf(`json:"f%03d"`, i)),
		})
	}
	typ := reflect.StructOf(fields)
	s := &body.Schema{Type: "object", Closed: true, Properties: map[string]*body.Schema{}}
	var b strings.Builder
	for i := range fields {
		name := fmt.Sprintf("f%03d", i)
		s.Properties[name] = &body.Schema{Type: "integer"}
		s.Required = append(s.Required, name)
		if i != 130 {
			_, _ = fmt.Fprintf(&b, `"%s":%d,`, name, i)
		}
	}
	plan, err := body.Compile(typ, s, body.Options{})
	if err != nil {
		t.Fatal(err)
	}

	text := b.String()
	if diff := cmp.Diff([]string{"missing at body.f130"}, found(plan, `{`+text[:len(text)-1]+`}`)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"duplicate_key at body.f190"}, found(plan, `{`+text+`"f130":1,"f190":1}`)); diff != "" {
		t.Error(diff)
	}

	dst := reflect.New(typ)
	presence, faults := plan.Decode([]byte(`{`+text+`"f130":1}`), dst.Interface())
	if len(faults) > 0 || len(presence.Names()) != 200 || !presence.Has("f199") {
		t.Errorf("%v, %d names", faults, len(presence.Names()))
	}
	if got := dst.Elem().Field(199).Int(); got != 199 {
		t.Errorf("the last field is %d", got)
	}
}

// TestManyKeys has more keys than are compared one by one, in maps beside each other.
func TestManyKeys(t *testing.T) {
	t.Parallel()

	plan := planOf[[]map[string]int](t)
	keys := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			_, _ = fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}

		return strings.TrimSuffix(b.String(), ",")
	}

	good := `[{` + keys(0, 100) + `},{` + keys(50, 150) + `},{"k60":1}]`
	if got := found(plan, good); len(got) > 0 {
		t.Errorf("good maps: %v", got)
	}
	bad := `[{` + keys(0, 100) + `,"k3":1},{` + keys(0, 5) + `,"k0":1},{` + keys(0, 50) + `,"k49":1}]`
	want := []string{"duplicate_key at body[0].k3", "duplicate_key at body[1].k0", "duplicate_key at body[2].k49"}
	if diff := cmp.Diff(want, found(plan, bad)); diff != "" {
		t.Error(diff)
	}
}

// TestConcurrentDecode reads good and bad documents with one plan at once.
func TestConcurrentDecode(t *testing.T) {
	t.Parallel()

	plan := planOf[defaulted](t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				var got defaulted
				data := fmt.Sprintf(`{"count":%d,"children":[{"name":"n%d"}],"byName":{"k%d":{}}}`, j, i, i)
				if _, faults := plan.Decode([]byte(data), &got); len(faults) > 0 || got.Count != j ||
					got.Children[0].Name != fmt.Sprintf("n%d", i) || got.ByName[fmt.Sprintf("k%d", i)].Count != 7 {
					t.Errorf("%s: %v, %+v", data, faults, got)
				}
				if _, faults := plan.Decode([]byte(`{"children":[{"zz":1},{"count":"x"}`), new(defaulted)); len(faults) != 1 {
					t.Error("half a document was taken")
				}
			}
		})
	}
	wg.Wait()
}

// TestDecodeKeepsNothing writes over a document after it was read.
func TestDecodeKeepsNothing(t *testing.T) {
	t.Parallel()

	const text = `{"short":"abc","raw":{"a":1},"bytes":"AQID","map":{"key":1},"any":{"k":"v"},"number":12,"big":123456789}`
	plan := planOf[everything](t)
	data := []byte(text)
	var got, want everything
	if _, faults := plan.Decode(data, &got); len(faults) > 0 {
		t.Fatal(faults)
	}
	for i := range data {
		data[i] = '#'
	}
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("the value became %+v", got)
	}
}

func TestDecodeIntoTheWrongType(t *testing.T) {
	t.Parallel()

	plan := planOf[owned](t)
	for _, dst := range []any{nil, owned{}, new(leaf), (*owned)(nil), new(*owned)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T was taken", dst)
				}
			}()
			plan.Decode([]byte(`{"name":"x"}`), dst)
		}()
	}
}

// TestPointerAtTheTop reads bodies that may be null, and are pointers to pointers.
func TestPointerAtTheTop(t *testing.T) {
	t.Parallel()

	plan, err := body.Compile(reflect.TypeFor[**defaulted](), nil, body.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got **defaulted
	presence, faults := plan.Decode([]byte(`{"name":"x"}`), &got)
	if len(faults) > 0 || got == nil || *got == nil || (*got).Name != "x" || !presence.Has("name") {
		t.Errorf("%v, %v", got, faults)
	}
	got = nil
	if _, faults := plan.Decode([]byte(`null`), &got); len(faults) > 0 || got != nil {
		t.Errorf("null is %v, %v", got, faults)
	}
}
