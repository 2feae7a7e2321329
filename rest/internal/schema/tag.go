package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/opt"
)

// ruleTags are the tags that limit values, with the types of JSON that they are for.
var ruleTags = map[string][]string{
	"minimum":          {huma.TypeInteger, huma.TypeNumber},
	"maximum":          {huma.TypeInteger, huma.TypeNumber},
	"exclusiveMinimum": {huma.TypeInteger, huma.TypeNumber},
	"exclusiveMaximum": {huma.TypeInteger, huma.TypeNumber},
	"multipleOf":       {huma.TypeInteger, huma.TypeNumber},
	"minLength":        {huma.TypeString},
	"maxLength":        {huma.TypeString},
	"pattern":          {huma.TypeString},
	"minItems":         {huma.TypeArray},
	"maxItems":         {huma.TypeArray},
	"uniqueItems":      {huma.TypeArray},
	"minProperties":    {huma.TypeObject},
	"maxProperties":    {huma.TypeObject},
}

var boolTags = []string{"required", "uniqueItems", "readOnly", "writeOnly", "nullable", "deprecated", "hidden"}

// check panics when the tags of a field contradict themselves or its type.
func (r *Registry) check(t reflect.Type, f reflect.StructField, s *huma.Schema) {
	fail := func(format string, args ...any) {
		panic(mistake{fmt.Errorf("schema of %s: field %s: %w", t, f.Name, fmt.Errorf(format, args...))})
	}

	for _, tag := range boolTags {
		if value, ok := f.Tag.Lookup(tag); ok {
			if value != "true" && value != "false" {
				fail("%s:%q is neither true nor false", tag, value)
			}
		}
	}
	for tag, types := range ruleTags {
		if value, ok := f.Tag.Lookup(tag); ok {
			if !applies(types, s) {
				fail("%s:%q does not apply to its type", tag, value)
			}
			if types[0] != huma.TypeInteger && tag != "pattern" && tag != "uniqueItems" {
				if n, err := strconv.Atoi(value); err != nil || n < 0 {
					fail("%s:%q is not a count", tag, value)
				}
			}
		}
	}
	if s.MultipleOf != nil && *s.MultipleOf <= 0 {
		fail("multipleOf:%q is not above zero", f.Tag.Get("multipleOf"))
	}

	r.checkDefault(f, s, fail)
}

// applies says whether a limit for the types means something to s. Limits of texts and
// numbers on a list are those of its items.
func applies(types []string, s *huma.Schema) bool {
	if s.Type == "" || slices.Contains(types, s.Type) {
		return true
	}

	return s.Type == huma.TypeArray && s.Items != nil && (s.Items.Type == "" || slices.Contains(types, s.Items.Type))
}

func (r *Registry) checkDefault(f reflect.StructField, s *huma.Schema, fail func(string, ...any)) {
	if _, ok := f.Tag.Lookup("default"); !ok || s.Default == nil {
		return
	}
	if _, optional := opt.ElemOf(f.Type); optional {
		fail("a value that may be absent cannot have a default")
	}
	if f.Tag.Get("required") == "true" {
		fail("a required field has no use for a default")
	}

	// Huma's own value has wrapped around where it was too large for the field.
	if t := f.Tag.Get("default"); s.Type == huma.TypeInteger || s.Type == huma.TypeNumber {
		if err := json.Unmarshal([]byte(t), reflect.New(f.Type).Interface()); err != nil {
			fail("default:%q does not fit %s", t, f.Type)
		}
	}

	text, err := json.Marshal(s.Default)
	if err != nil {
		fail("its default: %v", err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		fail("its default: %v", err)
	}

	for _, problem := range r.validate(s, value) {
		fail("default:%q: %s", f.Tag.Get("default"), problem.Message)
	}
	if err := body.Unmarshal(text, reflect.New(f.Type).Interface(), f.Tag.Get("format")); err != nil {
		fail("default:%q does not fit %s", f.Tag.Get("default"), f.Type)
	}
}
