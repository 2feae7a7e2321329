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
	"github.com/spoolhq/spool/rest/internal/textform"
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

// check panics if the tags of a field contradict each other or its type.
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
	if err := r.checkFormat(f, s); err != nil {
		fail("%w", err)
	}
	if s.MultipleOf != nil && *s.MultipleOf <= 0 {
		fail("multipleOf:%q is not above zero", f.Tag.Get("multipleOf"))
	}

	r.checkDefault(f, s, fail)
}

// checkFormat returns an error if the tag format of a field has no effect for its type, in a body or in an
// answer.
func (r *Registry) checkFormat(f reflect.StructField, s *huma.Schema) error {
	format := f.Tag.Get("format")
	t := textform.Elem(f.Type)
	for s.Type == huma.TypeArray && s.Items != nil {
		s = s.Items
	}
	if format == "" || provides(f.Type) || provides(t) {
		return nil
	}
	if t == durationType && format == "int64" {
		return nil // nanoseconds
	}
	if err := textform.Check(t, format); err != nil {
		return err
	}

	target := s
	if isNullableRef(s) {
		target = s.AnyOf[0]
	}
	if target.Ref != "" {
		target = r.SchemaFromRef(target.Ref)
	}
	switch {
	case target == nil:
		return nil
	case s.ContentEncoding == "base64":
		return textform.CheckText(f.Type, format)
	case target.Type != "" && target.Type != huma.TypeString:
		return textform.CheckText(t, format)
	}

	return nil
}

// applies reports whether a limit for the types applies to s. Limits of texts and numbers on a list apply to
// its items.
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

	// Huma's own value overflows if it is too large for the field.
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

	limits := s
	if _, _, ok := textType(f); ok {
		limits = withoutFormat(s) // the type has read the text, and huma has another form of durations
	}
	for _, problem := range r.validate(limits, value) {
		fail("default:%q: %s", f.Tag.Get("default"), problem.Message)
	}
	if err := body.Unmarshal(text, reflect.New(f.Type).Interface(), f.Tag.Get("format")); err != nil {
		fail("default:%q does not fit %s", f.Tag.Get("default"), f.Type)
	}
}

// withoutFormat returns the schema of a text, or of a list of texts, without its format.
func withoutFormat(s *huma.Schema) *huma.Schema {
	plain := *s
	plain.Format = ""
	if s.Items != nil {
		plain.Items = withoutFormat(s.Items)
	}

	return &plain
}
