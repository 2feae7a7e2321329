// Package schema makes the JSON schemas of Go types: for the API's document, where they
// are huma's, and for the readers of bodies, which know nothing of huma. It is one of the
// seams at which huma stands, and keeps its own rules where huma's would surprise: lists
// are not null, a field with a default is not required, two types of one name get two
// names, and nothing depends on huma's global settings.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/union"
)

// Prefix is where components stand in an API's document.
const Prefix = "#/components/schemas/"

// Registry makes schemas and remembers those of structs as components. It belongs to one
// API, and is used while that API is put together, by one goroutine at a time.
//
// It makes the schemas of requests. [Registry.Answers] makes the schemas of answers.
type Registry struct {
	*shared

	answers bool
}

// shared is what the two registries of an API have in common.
type shared struct {
	namer      *namer
	schemas    map[string]*huma.Schema
	types      map[string]reflect.Type
	components map[reflect.Type]*component
	aliases    map[reflect.Type]reflect.Type
	plain      map[plainKey]*body.Schema
	// field is what is being looked at, to name in a panic.
	field string
	// later is what has to wait for the schemas that are being converted.
	later []func()
}

var _ huma.Registry = (*Registry)(nil)

// New makes an empty registry.
func New() *Registry {
	return &Registry{shared: &shared{
		namer:      newNamer(),
		schemas:    map[string]*huma.Schema{},
		types:      map[string]reflect.Type{},
		components: map[reflect.Type]*component{},
		aliases:    map[reflect.Type]reflect.Type{},
		plain:      map[plainKey]*body.Schema{},
	}}
}

// Of is the schema of a type: a reference for structs, the schema itself for others. Hint
// names a struct type that has no name.
//
// It panics with the name of the type and field when a tag is wrong, and when the type
// cannot be written as JSON.
func (r *Registry) Of(t reflect.Type, hint string) *huma.Schema {
	s := r.guard(t, func() *huma.Schema { return r.Schema(t, true, hint) })
	if s == nil {
		panic(mistake{fmt.Errorf("schema of %s: the type cannot be written as JSON", t)})
	}

	return s
}

// Named adds a component that was made by hand, and returns a reference to it. When the
// name belongs to another schema, a number is added to it.
func (r *Registry) Named(name string, s *huma.Schema) *huma.Schema {
	base := name
	for i := 2; r.namer.taken[name]; i++ {
		if sameText(r.schemas[name], s) {
			return &huma.Schema{Ref: Prefix + name}
		}
		name = base + strconv.Itoa(i)
	}

	r.namer.taken[name] = true
	r.schemas[name] = s
	s.PrecomputeMessages()

	return &huma.Schema{Ref: Prefix + name}
}

func sameText(a, b *huma.Schema) bool {
	left, leftErr := json.Marshal(a)
	right, rightErr := json.Marshal(b)

	return leftErr == nil && rightErr == nil && bytes.Equal(left, right)
}

// Name stands for t in names that are made of others: that of its component, or of its
// kind, such as "Int", "String" or "StringList".
func (r *Registry) Name(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s := r.Of(t, hint); s.Ref != "" {
		if c := r.components[r.TypeFromRef(s.Ref)]; c != nil {
			return c.name
		}
		return strings.TrimPrefix(s.Ref, Prefix)
	}

	switch k := t.Kind(); {
	case t.Name() != "":
		return readable(t.Name(), nil)
	case k == reflect.Slice, k == reflect.Array:
		return r.Name(t.Elem(), hint) + "List"
	case k == reflect.Map:
		return r.Name(t.Elem(), hint) + "Map"
	}

	return "Any"
}

// guard gives panics of huma the name of the type they are about.
func (r *Registry) guard(t reflect.Type, build func() *huma.Schema) *huma.Schema {
	r.field = ""
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case mistake:
			panic(cause)
		default:
			panic(mistake{fmt.Errorf("schema of %s%s: %v", t, r.field, cause)})
		}
	}()

	return build()
}

// Catch is deferred where the place of a mistake is known: it makes an error of the panic of
// [Registry.Of] and lets others through.
func Catch(err *error) {
	switch cause := recover().(type) {
	case nil:
	case mistake:
		*err = cause
	default:
		panic(cause)
	}
}

// mistake is an error in the declaration of a type.
type mistake struct{ error }

// Unwrap returns the error without the type that made it a mistake.
func (m mistake) Unwrap() error { return m.error }

// Schema is the schema of a type, as [huma.Registry] has it. Programs call [Registry.Of].
func (r *Registry) Schema(t reflect.Type, allowRef bool, hint string) *huma.Schema {
	original := t
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if k := t.Kind(); k == reflect.Slice || k == reflect.Array {
		// A pointer to a list is a list.
		original = t
	}
	if alias, ok := r.aliases[t]; ok {
		return r.Schema(alias, allowRef, hint)
	}

	if elem, ok := opt.ElemOf(t); ok {
		return r.nullable(r.Schema(elem, true, hint))
	}
	if of, ok := union.Of(t); ok {
		return r.union(of, allowRef, hint)
	}
	if s := r.anyOf(t); s != nil {
		return s
	}
	if s := special(r, t, original, hint); s != nil {
		return s
	}
	if !isComponent(t) {
		return r.inline(original)
	}

	form, known := r.form(t, hint)
	if !known {
		// The name stands before the schema does, for types that contain themselves.
		*form.schema = *r.object(t, original)
		form.schema.PrecomputeMessages()
	}
	if allowRef {
		return &huma.Schema{Ref: Prefix + form.key}
	}

	return form.schema
}

// inline is huma's schema of a type that is no component.
func (r *Registry) inline(t reflect.Type) *huma.Schema {
	s := huma.SchemaFromType(r, t)
	if s == nil || provides(t) {
		return s
	}
	if s.Type == huma.TypeArray {
		s.Nullable = false
	}
	if r.answers {
		r.nullItems(t, s)
	}

	return s
}

// SchemaFromRef is the component of a reference, nil when there is none.
func (r *Registry) SchemaFromRef(ref string) *huma.Schema {
	if name, ok := strings.CutPrefix(ref, Prefix); ok {
		return r.schemas[name]
	}

	return nil
}

// TypeFromRef is the Go type of a component, nil when there is none.
func (r *Registry) TypeFromRef(ref string) reflect.Type {
	if name, ok := strings.CutPrefix(ref, Prefix); ok {
		return r.types[name]
	}

	return nil
}

// Map is all components by name. It is the registry's own map.
func (r *Registry) Map() map[string]*huma.Schema { return r.schemas }

// RegisterTypeAlias makes t be described as alias is.
func (r *Registry) RegisterTypeAlias(t, alias reflect.Type) { r.aliases[t] = alias }

// MarshalJSON writes the components.
func (r *Registry) MarshalJSON() ([]byte, error) { return json.Marshal(r.schemas) }

// MarshalYAML returns the components.
func (r *Registry) MarshalYAML() (any, error) { return r.schemas, nil }
