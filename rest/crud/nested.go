package crud

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spoolhq/spool/rest/internal/body"
)

// compileNested refuses tags inside nested structs, because they would have no effect: a field
// is shown and written as a whole.
func (c *core[T, K]) compileNested() error {
	shows := c.config.Out == nil && slices.ContainsFunc(c.routes, func(r Route) bool { return r != Delete })
	for _, f := range c.model.fields {
		if shows && !f.hidden {
			if path := marked(f.decl.Type, isWriteOnly, ownWriting, nil); path != "" {
				return fmt.Errorf(
					"field %s: %s in it is write-only and would be shown: leave it out of JSON, or give config.Out an Output",
					f.decl.Name, path,
				)
			}
		}
		if c.writes(f) {
			if path := marked(f.decl.Type, isReadOnly, ownReading, nil); path != "" {
				return fmt.Errorf(
					"field %s: %s in it is read-only and would be written: leave it out of JSON, or give the configuration an Input",
					f.decl.Name, path,
				)
			}
		}
	}
	return nil
}

// writes reports whether a route without an [Input] writes the field.
func (c *core[T, K]) writes(f *field) bool {
	return slices.ContainsFunc(c.routes, func(r Route) bool {
		switch r {
		case Create:
			return f.onCreate && c.config.Create == nil
		case Update:
			return f.onUpdate && c.config.Update == nil && c.config.Create == nil
		case Patch:
			return f.onUpdate && c.config.Patch == nil
		default:
			return false
		}
	})
}

func isWriteOnly(f reflect.StructField) bool {
	return hasWord(f, "writeonly") || f.Tag.Get("writeOnly") == "true"
}

func isReadOnly(f reflect.StructField) bool {
	return hasWord(f, "readonly") || f.Tag.Get("readOnly") == "true"
}

func hasWord(f reflect.StructField, want string) bool {
	for word := range strings.SplitSeq(f.Tag.Get("crud"), ",") {
		if strings.TrimSpace(word) == want {
			return true
		}
	}
	return false
}

// The interfaces of types with their own JSON form.
var (
	ownWriting = []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()}
	ownReading = []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()}
)

// marked returns the first field in the JSON of a type for which is returns true, such as
// Team.Secret, or "". Types in seen are skipped, because types may contain each other.
func marked(t reflect.Type, is func(reflect.StructField) bool, own []reflect.Type, seen map[reflect.Type]bool) string {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, t.Kind()) {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] || slices.ContainsFunc(own, reflect.PointerTo(t).Implements) {
		return ""
	}
	if seen == nil {
		seen = map[reflect.Type]bool{}
	}
	seen[t] = true
	for _, f := range body.Fields(t) {
		if is(f.Field) {
			return t.Name() + "." + f.Field.Name
		}
		if path := marked(f.Field.Type, is, own, seen); path != "" {
			return path
		}
	}
	return ""
}
