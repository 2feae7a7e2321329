// Package schema keeps the schemas of Go types for a document.
//
// INTERIM, for whoever owns this package: package rest (document.go) calls exactly these
// functions. Replace this file by the real ones with the same signatures.
package schema

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/body"
)

// Options of a registry.
type Options struct{}

// Registry has the schemas of one API.
type Registry struct{ reg huma.Registry }

// New makes an empty registry.
func New(Options) *Registry {
	return &Registry{huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)}
}

// Huma returns the registry for a huma API.
func (r *Registry) Huma() huma.Registry { return r.reg }

// Of returns the schema of t, a reference where it is a component. Hint names a type that
// has no name.
func (r *Registry) Of(t reflect.Type, hint string) *huma.Schema { return r.reg.Schema(t, true, hint) }

// Body returns what is checked of a body of type t. Unknown fields are ignored when ignore.
func (r *Registry) Body(t reflect.Type, hint string, ignore bool) (*body.Schema, error) {
	_, _ = hint, ignore
	return nil, nil //nolint:nilnil // interim
}

// Param returns the schema of a parameter with its limits and default.
func (r *Registry) Param(p bind.Param) *huma.Schema {
	s := huma.SchemaFromField(r.reg, p.Field, "")
	if s != nil && s.Ref == "" {
		s.Default = p.Default
	}
	return s
}

// Named adds a component made by hand and returns a reference to it. The same name with
// another schema gets a number.
func (r *Registry) Named(name string, s *huma.Schema) *huma.Schema {
	r.reg.Map()[name] = s
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// Name returns the name that stands for t in the names of others: that of its component, or
// of its kind ("Int", "String", "StringList").
func (r *Registry) Name(t reflect.Type, hint string) string {
	s := r.Of(t, hint)
	if s.Ref != "" {
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	}
	return strconv.Itoa(len(s.Type)) + s.Type
}
