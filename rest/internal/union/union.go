// Package union knows the struct types whose value is one of several types, and the JSON property that tells
// these types apart.
package union

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spoolhq/spool/rest/internal/body"
)

// Union is implemented by every rest.OneOf.
type Union interface {
	// Union returns the struct type whose fields are pointers to the variants.
	Union() reflect.Type
}

// Plan reads and writes a union. It does not change.
type Plan struct {
	// Type is the struct type with the variants.
	Type reflect.Type

	// Property tells the variants apart.
	Property string

	// Variants are in the order of their fields.
	Variants []Variant

	byTag map[string]int
}

// Variant is one of the types of a union.
type Variant struct {
	// Tag is the value of the property.
	Tag string

	// Type is the struct type, and Field the index of the pointer to it.
	Type  reflect.Type
	Field int

	tag      []int // the way to the field of the property
	defaults []preset
	readOnly [][]int
}

// preset is the value of a field that a client does not send.
type preset struct {
	index []int
	text  []byte
}

var union = reflect.TypeFor[Union]()

// Of returns the struct type with the variants if t is a union.
func Of(t reflect.Type) (of reflect.Type, ok bool) {
	if t.Kind() != reflect.Struct || !t.Implements(union) {
		return nil, false
	}
	u, ok := reflect.TypeAssert[Union](reflect.Zero(t))
	if !ok {
		return nil, false
	}

	return u.Union(), true
}

var plans sync.Map // of func() (*Plan, error), by type

// Compile returns the plan of a struct type with variants. The error names the mistake in its declaration.
func Compile(of reflect.Type) (*Plan, error) {
	known, ok := plans.Load(of)
	if !ok {
		known, _ = plans.LoadOrStore(of, sync.OnceValues(func() (*Plan, error) { return compile(of) }))
	}
	get, _ := known.(func() (*Plan, error))

	return get()
}

func compile(of reflect.Type) (*Plan, error) {
	if of.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v: a union is a struct whose fields are pointers to its variants", of)
	}
	p := &Plan{Type: of, byTag: map[string]int{}}
	tags := make([]map[string]body.Field, 0, of.NumField())
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Name == "_" {
			continue
		}
		if !f.IsExported() || f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct {
			return nil, fmt.Errorf("%v: field %s: a variant is an exported field with a pointer to a struct", of, f.Name)
		}
		p.Variants = append(p.Variants, Variant{Type: f.Type.Elem(), Field: i})
		tags = append(tags, constants(f.Type.Elem()))
	}
	if len(p.Variants) < 2 {
		return nil, fmt.Errorf("%v: a union has two variants or more", of)
	}
	if p.Property = shared(tags); p.Property == "" {
		return nil,
			fmt.Errorf("%v: no property tells its variants apart: each of them needs a text field with one json name and a tag const "+
				"of its own, such as `json:\"kind\" const:\"%s\"`", of, strings.ToLower(of.Field(p.Variants[0].Field).Name))
	}
	for i := range p.Variants {
		f := tags[i][p.Property]
		p.Variants[i].Tag, p.Variants[i].tag = f.Field.Tag.Get("const"), f.Index
		p.byTag[p.Variants[i].Tag] = i
		p.Variants[i].presets()
	}

	return p, nil
}

// presets finds the fields that a client may leave out, or must not send.
func (v *Variant) presets() {
	for _, f := range body.Fields(v.Type) {
		if f.Field.Tag.Get("readOnly") == "true" {
			v.readOnly = append(v.readOnly, f.Index)
			continue
		}
		text, ok := f.Field.Tag.Lookup("default")
		if !ok {
			continue
		}
		// The schema of the type refuses documents that do not fit it.
		for _, candidate := range [][]byte{[]byte(text), []byte(strconv.Quote(text))} {
			if json.Unmarshal(candidate, reflect.New(f.Field.Type).Interface()) == nil {
				v.defaults = append(v.defaults, preset{f.Index, candidate})
				break
			}
		}
	}
}

// Read reads a document into a new value of the variant, and returns a pointer to it.
func (v *Variant) Read(data []byte) (reflect.Value, error) {
	value := reflect.New(v.Type)
	for _, d := range v.defaults {
		if field, err := value.Elem().FieldByIndexErr(d.index); err == nil {
			_ = json.Unmarshal(d.text, field.Addr().Interface()) // a dry run has decoded the text before
		}
	}
	if err := json.Unmarshal(data, value.Interface()); err != nil {
		return value, err //nolint:wrapcheck // as any other
	}
	for _, index := range v.readOnly {
		if field, err := value.Elem().FieldByIndexErr(index); err == nil {
			field.SetZero()
		}
	}

	return value, nil
}

// constants returns the text fields of a struct that have only one value, by their names in JSON.
func constants(t reflect.Type) map[string]body.Field {
	all := map[string]body.Field{}
	for _, f := range body.Fields(t) {
		if f.Field.Tag.Get("const") != "" && f.Field.Type.Kind() == reflect.String && !f.OmitEmpty && !f.OmitZero {
			all[f.Name] = f
		}
	}

	return all
}

// shared returns the first property that all variants have, each with its own value.
func shared(tags []map[string]body.Field) string {
	var names []string
	for name := range tags[0] {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		seen := map[string]bool{}
		for _, fields := range tags {
			if f, ok := fields[name]; ok {
				seen[f.Field.Tag.Get("const")] = true
			}
		}
		if len(seen) == len(tags) {
			return name
		}
	}

	return ""
}

// Tags returns the values of the property, in the order of the variants.
func (p *Plan) Tags() []string {
	all := make([]string, len(p.Variants))
	for i, v := range p.Variants {
		all[i] = v.Tag
	}

	return all
}

// Find returns the variant of a document, which is an object, and false if it has none.
func (p *Plan) Find(data []byte) (v Variant, tag string, ok bool) {
	var properties map[string]json.RawMessage
	if json.Unmarshal(data, &properties) != nil || json.Unmarshal(properties[p.Property], &tag) != nil {
		return v, tag, false
	}
	i, ok := p.byTag[tag]
	if !ok {
		return v, tag, false
	}

	return p.Variants[i], tag, true
}

// Set returns the variant that a value of the union has, and a pointer to it with its tag.
func (p *Plan) Set(value reflect.Value) (any, error) {
	var found reflect.Value
	var variant Variant
	for _, v := range p.Variants {
		switch f := value.Field(v.Field); {
		case f.IsNil():
		case found.IsValid():
			return nil, fmt.Errorf("a %v has two variants: %s and %s", p.Type, p.Type.Field(variant.Field).Name,
				p.Type.Field(v.Field).Name)
		default:
			found, variant = f, v
		}
	}
	if !found.IsValid() {
		return nil, fmt.Errorf("a %v has no variant", p.Type)
	}
	tag, err := found.Elem().FieldByIndexErr(variant.tag)
	if err != nil {
		return nil, fmt.Errorf("a %v: %w", p.Type, err)
	}
	switch tag.String() {
	case variant.Tag:
		return found.Interface(), nil
	case "":
		copied := reflect.New(variant.Type)
		copied.Elem().Set(found.Elem())
		copied.Elem().FieldByIndex(variant.tag).SetString(variant.Tag)

		return copied.Interface(), nil
	default:
		return nil, fmt.Errorf("a %v has the %s %q in place of %q", variant.Type, p.Property, tag.String(), variant.Tag)
	}
}
