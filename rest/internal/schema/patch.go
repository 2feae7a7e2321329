package schema

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// IsObject reports whether a type is a struct that is described by its fields.
func IsObject(t reflect.Type) bool { return isComponent(t) }

// Patch returns the schema of a merge patch (RFC 7396) of a struct: no key is required, null removes a value,
// and an object is a patch of the object that is there. It is a component of its own.
func (r *Registry) Patch(t reflect.Type, hint string) *huma.Schema {
	if name, ok := r.patches[t]; ok {
		return &huma.Schema{Ref: Prefix + name}
	}
	s := &huma.Schema{Type: huma.TypeObject}
	ref := r.Named(r.namer.name(t, hint)+"Patch", s)
	r.patches[t] = ref.Ref[len(Prefix):] // before the fields, for types that contain themselves
	*s = *r.object(t, t)
	s.Required, s.DependentRequired, s.MinProperties = nil, nil, nil
	properties := map[string]*huma.Schema{}
	for name, p := range s.Properties {
		properties[name] = r.change(p, hint)
	}
	s.Properties = properties
	s.PrecomputeMessages()

	return ref
}

// change returns the schema of a change of a value: null, a patch of an object or of a map, or another value.
func (r *Registry) change(s *huma.Schema, hint string) *huma.Schema {
	change := *s
	change.Default = nil
	if isNullableRef(s) {
		change = huma.Schema{Ref: s.AnyOf[0].Ref, Description: s.Description}
	}
	if inner := r.TypeFromRef(change.Ref); inner != nil && isComponent(inner) && !implements(inner, jsonUnmarshaler) {
		change.Ref = r.Patch(inner, hint).Ref
	}
	if values, ok := change.AdditionalProperties.(*huma.Schema); ok {
		change.AdditionalProperties = r.change(values, hint)
		change.MinProperties = nil
	}

	return r.orNull(&change)
}
