package lenient_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/internal/lenient"
)

type inner struct {
	N lenient.Count `json:"n"`
	S string        `json:"s"`
}

type outer struct {
	Before int             `json:"before"`
	Inner  *inner          `json:"inner"`
	List   []inner         `json:"list"`
	Raw    json.RawMessage `json:"raw"`
	Text   string          `json:"text"`
}

func TestObject(t *testing.T) {
	t.Parallel()

	n := func(v int64) lenient.Count { return lenient.Count{N: &v} }
	for raw, want := range map[string]outer{
		`{"before":1,"text":"x"}`:                         {Before: 1, Text: "x"},
		`{"before":"1","inner":[],"list":{},"text":"x"}`:  {Inner: &inner{}, Text: "x"},
		`{"before":1.5,"inner":{"s":1,"n":2},"text":"x"}`: {Inner: &inner{N: n(2)}, Text: "x"},
		`{"list":["a",{"s":"b","n":"3"}],"text":"x"}`:     {List: []inner{{}, {S: "b", N: n(3)}}, Text: "x"},
		`{"raw":[1],"inner":{"n":4.0},"text":7}`:          {Raw: json.RawMessage("[1]"), Inner: &inner{N: n(4)}},
		`{"before":99999999999999999999,"text":"x"}`:      {Text: "x"},
		`null`: {},
	} {
		var got outer
		if err := lenient.Object([]byte(raw), &got); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
	for _, raw := range []string{`[]`, `"x"`, `1`, `{"before":1`, ``} {
		if err := lenient.Object([]byte(raw), new(outer)); err == nil {
			t.Errorf("%s is an object", raw)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()

	n := func(v int64) *int64 { return &v }
	for raw, want := range map[string]*int64{
		`7`: n(7), `7.0`: n(7), `7.6`: n(8), `"7"`: n(7), `"7.0"`: n(7), `1e3`: n(1000), `0`: n(0),
		`null`: nil, `-1`: nil, `"x"`: nil, `"NaN"`: nil, `1e300`: nil, `[7]`: nil, `{}`: nil, `true`: nil, `""`: nil,
	} {
		c := lenient.Count{N: n(1)}
		if err := json.Unmarshal([]byte(raw), &c); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		if diff := cmp.Diff(want, c.N); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
}
