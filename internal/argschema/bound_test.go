package argschema_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/argschema"
)

// A short schema can ask for gigabytes: each of its patterns has a program of many thousand instructions, or
// each of its levels is parsed anew. Such a schema is not compiled.
func TestBomb(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	var many strings.Builder
	for i := range 25 {
		fmt.Fprintf(&many, `"p%d":{"pattern":"(?:%s){1000}"},`, i, strings.Repeat("a?", 60))
	}
	large := `"(?:` + strings.Repeat("a?", 60) + `){1000}"`
	for name, schema := range map[string]string{
		"Patterns":          `{"properties":{` + many.String() + `"a":{"type":"string"}}}`,
		"Pattern":           `{"properties":{"a":{"type":"string","pattern":` + large + `}}}`,
		"PatternProperties": `{"properties":{"a":{"type":"string"}},"patternProperties":{` + large + `:{}}}`,
		"LongPattern":       `{"properties":{"a":{"type":"string","pattern":"` + strings.Repeat("a", 5000) + `"}}}`,
		"Deep": `{"properties":{"a":{"type":"string"}},"allOf":[` + strings.Repeat(`{"not":`, 1000) + `{}` +
			strings.Repeat(`}`, 1000) + `]}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := argschema.Foreign(json.RawMessage(schema))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4<<20 {
			t.Errorf("%s: %d bytes of schema take %d", name, len(schema), allocated)
		}
		if err := s.Check(json.RawMessage(`{"a":7}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := argschema.Bounded(json.RawMessage(schema)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Patterns of everyday length are checked.
func TestPatternOfEverydayLength(t *testing.T) {
	t.Parallel()

	var properties []string
	for i := range 40 {
		properties = append(properties, fmt.Sprintf(
			`"id%d":{"type":"string","pattern":"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"}`, i,
		))
	}
	properties = append(properties, `"name":{"type":"string","pattern":"^[\\p{L}\\p{N} ._-]{1,200}$"}`,
		`"a":{"type":"string","pattern":"^.{1,500}$"}`)
	s, err := argschema.Foreign(json.RawMessage(`{"properties":{` + strings.Join(properties, ",") + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(json.RawMessage(`{"id7":"no"}`)); err == nil {
		t.Error("the pattern is not checked")
	}
}

// Many alternatives for each of many items take minutes. Such a value is refused at once.
func TestMuchWork(t *testing.T) {
	t.Parallel()

	schema := `{"properties":{"a":{"type":"array","items":{"anyOf":[` + strings.Repeat(`{"const":2},`, 1200) + `{}]}}}}`
	for name, compile := range map[string]func(json.RawMessage) (*argschema.Schema, error){
		"Foreign": argschema.Foreign, "Bounded": argschema.Bounded,
	} {
		s, err := compile(json.RawMessage(schema))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(json.RawMessage(`{"a":[1,2,3]}`)); err != nil {
			t.Errorf("%s, few items: %v", name, err)
		}
		err = s.Check(json.RawMessage(`{"a":[` + strings.Repeat("1,", 50_000) + `1]}`))
		if err == nil || !strings.Contains(err.Error(), "too large to be checked") {
			t.Errorf("%s, many items: %v", name, err)
		}
	}
}
