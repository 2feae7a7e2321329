package schema

import (
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/union"
)

// union returns the schema of a rest.OneOf: a component with the name of the type that has the variants.
func (r *Registry) union(of reflect.Type, allowRef bool, hint string) *huma.Schema {
	form, known := r.form(of, hint)
	if !known {
		p, err := union.Compile(of)
		if err != nil {
			panic(mistake{fmt.Errorf("schema of %w", err)})
		}
		form.schema.Discriminator = &huma.Discriminator{PropertyName: p.Property, Mapping: map[string]string{}}
		form.schema.Description = r.aboutType(of)
		for _, v := range p.Variants {
			s := r.Schema(v.Type, true, v.Type.Name())
			if s.Ref == "" {
				panic(mistake{fmt.Errorf("schema of %v: the variant %v is no object with a name", of, v.Type)})
			}
			form.schema.OneOf = append(form.schema.OneOf, s)
			form.schema.Discriminator.Mapping[v.Tag] = s.Ref
		}
		form.schema.PrecomputeMessages()
	}
	if allowRef {
		return &huma.Schema{Ref: Prefix + form.key}
	}

	return form.schema
}

// alternatives is implemented by a type that is written as one of several types, without a property that
// tells them apart.
type alternatives interface{ AnyOf() []reflect.Type }

var alternative = reflect.TypeFor[alternatives]()

// anyOf returns the schema of a type with alternatives, and nil for other types.
func (r *Registry) anyOf(t reflect.Type) *huma.Schema {
	if !t.Implements(alternative) {
		return nil
	}
	a, ok := reflect.TypeAssert[alternatives](reflect.Zero(t))
	if !ok {
		return nil
	}
	s := &huma.Schema{}
	for _, one := range a.AnyOf() {
		s.AnyOf = append(s.AnyOf, r.Schema(one, true, one.Name()))
	}
	s.PrecomputeMessages()

	return s
}

// variants checks a value by the schema of the variant that the value names.
func (r converter) variants(plain *body.Schema, of reflect.Type, s *huma.Schema) {
	p, err := union.Compile(of)
	if err != nil {
		panic(mistake{fmt.Errorf("schema of %w", err)})
	}
	schemas := map[string]*body.Schema{}
	for i, v := range p.Variants {
		schemas[v.Tag] = r.body(s.OneOf[i])
	}
	plans := map[string]*body.Plan{}
	r.later = append(r.later, func() {
		for _, v := range p.Variants {
			plan, err := body.Compile(v.Type, schemas[v.Tag], body.Options{})
			if err != nil {
				panic(mistake{fmt.Errorf("schema of %v: %w", of, err)})
			}
			plans[v.Tag] = plan
		}
	})
	tags := make([]any, 0, len(p.Variants))
	for _, tag := range p.Tags() {
		tags = append(tags, tag)
	}
	plain.Type = huma.TypeObject
	plain.Validate = func(raw []byte) []fault.Fault {
		v, tag, ok := p.Find(raw)
		switch {
		case ok:
			_, faults := plans[v.Tag].Decode(raw, reflect.New(v.Type).Interface())
			return faults
		case tag == "":
			return []fault.Fault{fault.Missing("", []any{p.Property})}
		default:
			return []fault.Fault{fault.Enum("", []any{p.Property}, tags)}
		}
	}
}
