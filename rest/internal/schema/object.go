package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/fieldtag"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/textform"
)

var (
	timeType        = reflect.TypeFor[time.Time]()
	bigIntType      = reflect.TypeFor[big.Int]()
	numberType      = reflect.TypeFor[json.Number]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	provider        = reflect.TypeFor[huma.SchemaProvider]()
	transformer     = reflect.TypeFor[huma.SchemaTransformer]()
)

// provides reports whether a type affects its own schema.
func provides(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	return implements(t, provider) || implements(t, transformer)
}

func implements(t, what reflect.Type) bool {
	return t.Implements(what) || reflect.PointerTo(t).Implements(what)
}

// isComponent reports whether a type is described once, under a name.
func isComponent(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != timeType && !textform.IsURL(t) && !implements(t, provider) &&
		!implements(t, textUnmarshaler)
}

// special returns the schema of types that huma describes differently from what encoding/json writes, and nil
// for all others.
func special(r *Registry, t, original reflect.Type, hint string) *huma.Schema {
	switch {
	case t == numberType:
		return &huma.Schema{Type: huma.TypeNumber, Nullable: original.Kind() == reflect.Pointer}
	case t == bigIntType:
		return &huma.Schema{Type: huma.TypeInteger, Nullable: original.Kind() == reflect.Pointer}
	case provides(t):
		return nil
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8 &&
		!implements(t, textUnmarshaler) && !implements(t, jsonUnmarshaler):
		// Unlike a []byte it is a list of numbers.
		size := t.Len()
		s := &huma.Schema{Type: huma.TypeArray, Items: r.Schema(t.Elem(), true, hint), MinItems: &size, MaxItems: &size}
		s.PrecomputeMessages()

		return s
	}

	return nil
}

// object returns the schema of a struct.
func (r *Registry) object(t, original reflect.Type) *huma.Schema {
	s := r.withTextDefaults(t)
	if s == nil {
		s = huma.SchemaFromType(r, original)
	}
	if s.Type != huma.TypeObject || implements(t, jsonUnmarshaler) && implements(t, transformer) {
		return s
	}

	if s.Description == "" {
		s.Description = r.aboutType(t)
	}
	r.properties(t, s)

	return s
}

// properties keeps the properties of s that encoding/json reads and writes, without the fields that
// are parameters of a request.
func (r *Registry) properties(t reflect.Type, s *huma.Schema) {
	before := r.field
	defer func() { r.field = before }()

	huge := maps.Clone(s.Properties)
	fields := map[string]bool{}
	var required []string

	for _, f := range body.Fields(t) {
		if isParameter(f.Field) {
			continue
		}
		r.field = before + " field " + f.Field.Name
		if err := fieldtag.Answer(f.Field); r.answers && err != nil {
			panic(mistake{fmt.Errorf("schema of %s: field %s: %w", t, f.Field.Name, err)})
		}

		property := huge[f.Name]
		if property == nil {
			property = r.property(t, f.Field)
		} else {
			formed(f.Field, property)
			r.check(t, f.Field, property)
		}
		if property == nil || r.answers && r.unanswered(t, f) {
			continue
		}
		r.describeField(t, f, property)
		if r.answers && isNullInAnswers(f) {
			property = r.orNull(property)
		}

		fields[f.Name] = true
		if s.Properties == nil {
			s.Properties = map[string]*huma.Schema{}
		}
		s.Properties[f.Name] = property
		if r.isRequired(f) {
			required = append(required, f.Name)
		}
	}

	if !implements(t, transformer) {
		// A transformer may have its own reasons for what it adds and asks for.
		maps.DeleteFunc(s.Properties, func(name string, _ *huma.Schema) bool { return !fields[name] })
		s.Required = required
	}
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return s.Properties[name] == nil })
	s.PrecomputeMessages()
}

// property returns the schema of one field.
func (r *Registry) property(t reflect.Type, f reflect.StructField) *huma.Schema {
	s := r.schemaOf(t, f)
	if s != nil {
		formed(f, s)
		r.check(t, f, s)
	}

	return s
}

// formed adds the format to items of nested lists, and describes a duration with a text form as a text:
// encoding/json writes a number of nanoseconds.
func formed(f reflect.StructField, s *huma.Schema) {
	format := f.Tag.Get("format")
	for s.Type == huma.TypeArray && s.Items != nil {
		s = s.Items
		if s.Type == huma.TypeArray {
			s.Format = ""
		} else if format != "" {
			s.Format = format
		}
	}
	if textform.OfField(f.Type, format) == textform.Span {
		s.Type, s.Format = huma.TypeString, "duration"
	}
}

// isParameter reports whether a field is read from another part of the request than its body.
func isParameter(f reflect.StructField) bool {
	if _, ok := f.Tag.Lookup("json"); ok {
		return false
	}
	for _, place := range [...]string{"path", "query", "header", "cookie", "form", "file"} {
		if _, ok := f.Tag.Lookup(place); ok {
			return true
		}
	}

	return false
}

// isRequired reports whether a document must have the field. The document of an answer has every field that
// is not left out, including those with a default and those that may be null.
func (r *Registry) isRequired(f body.Field) bool {
	tag, hidden := f.Field.Tag.Get("required"), f.Field.Tag.Get("hidden") == "true"
	if r.answers {
		return tag == "true" || !f.OmitEmpty && !f.OmitZero && !hidden
	}
	if _, ok := f.Field.Tag.Lookup("required"); ok {
		return tag == "true"
	}
	_, optional := opt.ElemOf(f.Field.Type)
	_, fallback := f.Field.Tag.Lookup("default")

	return !f.OmitEmpty && !f.OmitZero && !optional && !fallback && !hidden &&
		f.Field.Type.Kind() != reflect.Pointer && f.Field.Tag.Get("readOnly") != "true"
}

// isNullInAnswers reports whether encoding/json may write null for a pointer.
func isNullInAnswers(f body.Field) bool {
	return f.Field.Type.Kind() == reflect.Pointer && !f.OmitEmpty && !f.OmitZero && f.Field.Tag.Get("nullable") != "false"
}

// unanswered reports whether a field is for requests only. It panics if answers would have the field
// nevertheless.
func (r *Registry) unanswered(t reflect.Type, f body.Field) bool {
	if f.Field.Tag.Get("writeOnly") != "true" {
		return false
	}
	if !f.OmitEmpty && !f.OmitZero {
		panic(mistake{fmt.Errorf("schema of %s: field %s: writeOnly:\"true\" and each answer would have it: "+
			"answer with a type without the field, or give its json tag omitempty or omitzero and leave it empty", t,
			f.Field.Name)})
	}

	return true
}
