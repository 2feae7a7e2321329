package schema_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/schema"
)

func TestParam(t *testing.T) {
	t.Parallel()

	type filter struct {
		Size  int             `default:"20"      doc:"How many" example:"50" maximum:"100" minimum:"1" query:"size"`
		Name  *string         `minLength:"2"     query:"name"`
		Kind  opt.Opt[string] `enum:"a,b"        query:"kind"`
		IDs   []int64         `maxItems:"3"      query:"ids"`
		Wait  time.Duration   `default:"1m30s"   query:"wait"`
		Since time.Time       `deprecated:"true" query:"since"`
	}

	plan, err := bind.Compile(reflect.TypeFor[filter](), bind.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := schema.New()
	got := map[string]any{}
	for _, p := range plan.Params() {
		text, err := json.Marshal(r.Param(p))
		if err != nil {
			t.Fatal(err)
		}
		got[p.Name] = normal(t, text)
	}

	want := normal(t, []byte(`{
		"size": {"type": "integer", "format": "int64", "default": 20, "examples": [50], "description": "How many", "minimum": 1, "maximum": 100},
		"name": {"type": "string", "minLength": 2},
		"kind": {"type": "string", "enum": ["a", "b"]},
		"ids": {"type": "array", "items": {"type": "integer", "format": "int64"}, "maxItems": 3},
		"wait": {"type": "string", "default": "1m30s"},
		"since": {"type": "string", "format": "date-time", "deprecated": true}
	}`))
	if diff := cmp.Diff(want, any(got)); diff != "" {
		t.Error(diff)
	}
}
