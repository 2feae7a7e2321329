package argschema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/spoolhq/spool"
)

// Infer returns the schema of a Go type, a struct or a map, as JSON. The json tag of a field has its name and
// whether it is optional, and its jsonschema tag has the description.
func Infer(t reflect.Type) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		return nil, fmt.Errorf("arguments are a struct or a map, not a %s", t.Kind())
	}
	found := make(map[reflect.Type]*jsonschema.Schema)
	if err := special(t, found, make(map[reflect.Type]bool)); err != nil {
		return nil, err
	}
	if found[t] != nil {
		return nil, fmt.Errorf("%s has a JSON form of its own, which need not be an object", t)
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: found})
	if err != nil {
		return nil, err
	}
	tidy(s)
	return json.Marshal(s)
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// special collects the types inside t whose JSON differs from their Go type, such as a [16]byte that is
// written as text. jsonschema-go uses the Go type and would describe something that cannot be decoded.
func special(t reflect.Type, found map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) error {
	if seen[t] {
		return nil
	}
	seen[t] = true
	if s := ownForm(t); s != nil {
		found[t] = s
		return nil
	}
	switch kind := t.Kind(); {
	case slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, kind):
		return special(t.Elem(), found, seen)
	case kind == reflect.Struct:
		for field := range t.Fields() {
			if err := specialField(t, field, found, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

func specialField(
	t reflect.Type, field reflect.StructField, found map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool,
) error {
	tag := field.Tag.Get("json")
	if tag == "-" || !field.IsExported() && !field.Anonymous {
		return nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if field.Anonymous && name != "" {
		return fmt.Errorf("embedded field %s.%s must not have a JSON name", t, field.Name)
	}
	if slices.Contains(strings.Split(options, ","), "string") {
		return fmt.Errorf("field %s.%s must not have the JSON option string", t, field.Name)
	}
	return special(field.Type, found, seen)
}

// ownForm returns the schema of a type whose JSON differs from its Go type, and nil for all others.
func ownForm(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return nil
	}
	pointer := reflect.PointerTo(t)
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{}
	case t == reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	case t == reflect.TypeFor[spool.ArtifactID]():
		return &jsonschema.Schema{
			Type: "string", Description: "The id of a file of this conversation, which begins with art_.",
		}
	case t == reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case pointer.Implements(jsonUnmarshaler):
		return &jsonschema.Schema{}
	case pointer.Implements(textUnmarshaler):
		return &jsonschema.Schema{Type: "string"}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	default:
		return nil
	}
}

// tidy removes null from the types of arrays. A nil slice may be written as null, but a model need not know,
// and some servers do not support a list of types. It also corrects pointers to any, which jsonschema-go
// describes as always null.
func tidy(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	switch {
	case slices.Equal(s.Types, []string{"null", "array"}):
		s.Type, s.Types = "array", nil
	case slices.Equal(s.Types, []string{"null"}):
		s.Types = nil
	}
	for _, p := range s.Properties {
		tidy(p)
	}
	tidy(s.Items)
	tidy(s.AdditionalProperties)
}
