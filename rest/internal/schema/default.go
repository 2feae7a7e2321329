package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/textform"
)

// textType returns the type of a field, or of the items of its list, if the type itself reads the text of its
// default: a time, an address, or a type with UnmarshalText. Huma only knows types that Go converts from a
// string, and has its own messages for the others. A time.Duration is one too, even if JSON has a number for
// it.
func textType(f reflect.StructField) (t reflect.Type, list, ok bool) {
	if f.Tag.Get("default") == "" || provides(f.Type) {
		return nil, false, false
	}
	t = valueType(f.Type)
	if t.Kind() == reflect.Slice && !implements(t, textUnmarshaler) {
		t, list = valueType(t.Elem()), true
	}
	switch {
	case t == durationType:
		return t, list, !list || textform.Of(t, f.Tag.Get("format")) == textform.Span
	case t == timeType || textform.IsURL(t):
		return t, list, true
	}

	return t, list, t.Kind() != reflect.String && t != bigIntType && !provides(t) && implements(t, textUnmarshaler)
}

// valueType returns the type behind pointers and Opt.
func valueType(t reflect.Type) reflect.Type {
	for {
		elem, ok := opt.ElemOf(t)
		if !ok {
			if t.Kind() != reflect.Pointer {
				return t
			}
			elem = t.Elem()
		}
		t = elem
	}
}

// withTextDefaults returns the schema of a struct with such defaults, and nil for other structs, which
// [huma.SchemaFromType] describes.
func (r *Registry) withTextDefaults(t reflect.Type) *huma.Schema {
	fields := body.Fields(t)
	found := false
	for _, f := range fields {
		_, _, ok := textType(f.Field)
		found = found || ok && !isParameter(f.Field)
	}
	if !found || implements(t, transformer) {
		return nil
	}

	s := &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{},
		DependentRequired: map[string][]string{},
	}
	if f, ok := t.FieldByName("_"); ok {
		s.AdditionalProperties = f.Tag.Get("additionalProperties") == "true"
		s.Nullable = f.Tag.Get("nullable") == "true"
	}
	for _, f := range fields {
		if isParameter(f.Field) {
			continue
		}
		property := r.schemaOf(t, f.Field)
		if property == nil {
			continue
		}
		if f.Field.Type.Kind() == reflect.Pointer && f.OmitEmpty && f.Field.Tag.Get("nullable") != "true" {
			property.Nullable = false // it is left out instead
		}
		s.Properties[f.Name] = property
		if others := f.Field.Tag.Get("dependentRequired"); strings.TrimSpace(others) != "" {
			s.DependentRequired[f.Name] = strings.Split(others, ",")
		}
	}
	for name, others := range s.DependentRequired {
		for _, other := range others {
			if s.Properties[other] == nil {
				panic(mistake{fmt.Errorf("schema of %s: dependent field '%s' for field '%s' does not exist", t, other, name)})
			}
		}
	}

	return s
}

// schemaOf returns huma's schema of a field, with the default that huma cannot read.
func (r *Registry) schemaOf(t reflect.Type, f reflect.StructField) *huma.Schema {
	hint := t.Name() + f.Name
	of, list, ok := textType(f)
	if !ok {
		return huma.SchemaFromField(r, f, hint)
	}
	plain := f
	plain.Tag = without(f.Tag, "default")
	s := huma.SchemaFromField(r, plain, hint)
	if s == nil {
		return nil
	}
	text := f.Tag.Get("default")
	value, err := defaultOfText(of, list, f.Tag.Get("format"), text)
	if err != nil {
		panic(mistake{
			fmt.Errorf("schema of %s: field %s: the tag default:%q does not fit %v: %w", t, f.Name, text, f.Type, err),
		})
	}
	s.Default = value

	return s
}

// defaultOfText returns the default in the form of the document.
func defaultOfText(t reflect.Type, list bool, format, text string) (any, error) {
	if !list {
		return wireOf(t, format, text)
	}

	var texts []string
	if !strings.HasPrefix(text, "[") {
		for part := range strings.SplitSeq(text, ",") {
			texts = append(texts, strings.TrimSpace(part))
		}
	} else if err := json.Unmarshal([]byte(text), &texts); err != nil {
		return nil, errors.New("it is neither a list with commas nor a JSON array of texts")
	}
	values := make([]any, len(texts))
	for i, one := range texts {
		var err error
		if values[i], err = wireOf(t, format, one); err != nil {
			return nil, err
		}
	}

	return values, nil
}

// examples has an example of each form.
var examples = map[textform.Form]string{
	textform.Date: "2026-11-22", textform.Clock: "15:04:05", textform.Span: "PT1H30M",
	textform.Address: "https://example.com/a", textform.Reference: "/a?b=c",
}

// wireOf returns the default of one value.
func wireOf(t reflect.Type, format, text string) (any, error) {
	value := reflect.New(t)
	form := textform.Of(t, format)
	switch {
	case form != textform.None:
		if textform.Parse(form, text, value.Interface()) != nil {
			return nil, fmt.Errorf("it is written as in a request, such as %s", examples[form])
		}

		return textform.Text(form, value.Elem().Interface()) //nolint:wrapcheck // the field is named above
	case t == durationType:
		if err := json.Unmarshal([]byte(text), value.Interface()); err != nil {
			return nil, errors.New(`without the tag format:"duration" JSON has a number of nanoseconds of it`)
		}

		return json.Number(text), nil
	case t == timeType:
		if body.Unmarshal([]byte(`"`+text+`"`), value.Interface(), format) != nil {
			return nil, errors.New("it is written as in a request, such as 2026-11-22T15:04:05Z")
		}
	}

	return text, nil
}
