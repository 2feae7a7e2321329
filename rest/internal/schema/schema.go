// Package schema makes the JSON schemas of Go types: for the API's document, where they are huma's, and for
// the readers of bodies, which do not know huma. It hides some behaviour of huma: lists are not null, a field
// with a default is not required, two types with one name get two names, and nothing depends on huma's global
// settings.
package schema

import (
	"bytes"
	"cmp"
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

// Prefix is the path of components in an API's document.
const Prefix = "#/components/schemas/"

// Registry makes schemas, and remembers those of structs as components. It belongs to one API. One goroutine
// at a time uses it, while that API is put together.
//
// It makes the schemas of requests. [Registry.Answers] makes the schemas of answers.
type Registry struct {
	*shared

	answers bool
}

// shared is the common state of an API's two registries.
type shared struct {
	namer      *namer
	schemas    map[string]*huma.Schema
	types      map[string]reflect.Type
	components map[reflect.Type]*component
	aliases    map[reflect.Type]reflect.Type
	plain      map[plainKey]*body.Schema
	patches    map[reflect.Type]string // the names of the patches of types
	describe   func(key string) string // the text of a field
	// field is the present field, for the text of a panic.
	field string
	// later has work that waits for the schemas under conversion.
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
		patches:    map[reflect.Type]string{},
	}}
}

// Of returns the schema of a type: a reference for structs, the schema itself for others. Hint names a struct
// type without a name.
//
// It panics with the name of the type and field if a tag is wrong, or if the type cannot be written as JSON.
func (r *Registry) Of(t reflect.Type, hint string) *huma.Schema {
	s := r.guard(t, func() *huma.Schema { return r.Schema(t, true, hint) })
	if s == nil {
		panic(mistake{fmt.Errorf("schema of %s: the type cannot be written as JSON", t)})
	}

	return s
}

// Named adds a component that was made by hand, and returns a reference to it. If another schema has the
// name, a number is added to it.
func (r *Registry) Named(name string, s *huma.Schema) *huma.Schema {
	base, made := name, r.namer.made
	for i := 2; r.namer.taken[name] || made[name] != ""; i++ {
		if there := cmp.Or(made[name], name); sameText(r.schemas[there], s) {
			return &huma.Schema{Ref: Prefix + there}
		}
		name = base + strconv.Itoa(i)
	}

	made[name] = r.namer.chosen(name, nil)
	name = made[name]
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

// Name returns the name of t inside composed names: the name of its component, or of its kind, such as "Int",
// "String" or "StringList".
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

// guard adds the name of the type to panics of huma.
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

// Catch turns a panic of [Registry.Of] into an error, and lets others through. A caller that knows the place
// of a mistake defers it.
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

// Unwrap returns the error itself.
func (m mistake) Unwrap() error { return m.error }

// Schema returns the schema of a type, for [huma.Registry]. Programs call [Registry.Of].
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
		// The name is registered before the schema is complete, for types that contain themselves.
		*form.schema = *r.object(t, original)
		form.schema.PrecomputeMessages()
	}
	if allowRef {
		return &huma.Schema{Ref: Prefix + form.key}
	}

	return form.schema
}

// inline returns huma's schema of a type that is not a component.
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

// SchemaFromRef returns the component of a reference, or nil.
func (r *Registry) SchemaFromRef(ref string) *huma.Schema {
	if name, ok := strings.CutPrefix(ref, Prefix); ok {
		return r.schemas[name]
	}

	return nil
}

// TypeFromRef returns the Go type of a component, or nil.
func (r *Registry) TypeFromRef(ref string) reflect.Type {
	if name, ok := strings.CutPrefix(ref, Prefix); ok {
		return r.types[name]
	}

	return nil
}

// Map returns all components by name. It is the registry's own map.
func (r *Registry) Map() map[string]*huma.Schema { return r.schemas }

// RegisterTypeAlias describes t as alias.
func (r *Registry) RegisterTypeAlias(t, alias reflect.Type) { r.aliases[t] = alias }

// MarshalJSON writes the components.
func (r *Registry) MarshalJSON() ([]byte, error) { return json.Marshal(r.schemas) }

// MarshalYAML returns the components.
func (r *Registry) MarshalYAML() (any, error) { return r.schemas, nil }
