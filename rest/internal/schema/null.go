package schema

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// nullable adds null to the values of a schema.
func (r *Registry) nullable(s *huma.Schema) *huma.Schema {
	switch {
	case s == nil || s.Type == "" && s.Ref == "":
		return s
	case s.Ref == "":
		s.Nullable = true
		return s
	}

	return r.nullableRef(s)
}

// nullableRef adds null to the values of a component. Descriptions of the reference apply to both.
func (r *Registry) nullableRef(s *huma.Schema) *huma.Schema {
	// The enum is for huma's own validator, which does not know the type "null".
	null := &huma.Schema{Type: "null", Enum: []any{nil}}
	either := *s
	either.Ref, either.AnyOf = "", []*huma.Schema{{Ref: s.Ref}, null}
	either.PrecomputeMessages()

	return &either
}

// nullItems adds null to the pointer items of a list and the pointer values of a map, because encoding/json
// writes null for a nil pointer. Objects are never null there: programs have pointers to them for their own
// reasons, no handler expects a nil one from a request, and package wire refuses one in an answer.
func (r *Registry) nullItems(t reflect.Type, s *huma.Schema) {
	t = valueType(t)
	if k := t.Kind(); k != reflect.Slice && k != reflect.Array && k != reflect.Map || t.Elem().Kind() != reflect.Pointer ||
		implements(t, jsonMarshaler) {
		return
	}
	if e := t.Elem().Elem(); t.Kind() != reflect.Array && isComponent(e) && !implements(e, jsonMarshaler) &&
		!implements(e, textMarshaler) {
		return
	}
	if s.Items != nil {
		s.Items = r.orNull(s.Items)
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		s.AdditionalProperties = r.orNull(values)
	}
}

// orNull adds null to the values of any schema. It does not change the schema itself, which other uses of the
// type may share.
func (r *Registry) orNull(s *huma.Schema) *huma.Schema {
	switch {
	case s.Ref != "":
		return r.nullableRef(s)
	case s.Type != "" && !s.Nullable:
		either := *s
		either.Nullable = true

		return &either
	case len(s.AnyOf) > 0 && !slices.ContainsFunc(s.AnyOf, func(one *huma.Schema) bool { return one.Type == "null" }):
		either := *s
		either.AnyOf = append(slices.Clip(s.AnyOf), &huma.Schema{Type: "null", Enum: []any{nil}})
		either.PrecomputeMessages()

		return &either
	}

	return s
}
