package body

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// object compiles an object with named keys: those of the schema, and those of the Go
// struct that it is read into.
func (c *compiler) object(n *node, s *Schema) error {
	n.class = className(n.typ, s)
	o := &object{
		closed: s.Closed,
		index:  map[string]int{}, folded: map[string]int{},
		min: orNone(s.MinProperties), max: orNone(s.MaxProperties),
	}
	n.object = o

	if s.Values != nil {
		values, err := c.node(nil, s.Values, "")
		if err != nil {
			return err
		}
		o.values = values
	}

	if err := c.fields(n, s); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if _, known := o.index[name]; known {
			continue
		}
		if err := c.property(nil, o, s, name, nil); err != nil {
			return err
		}
	}

	if c.absent {
		s = &Schema{DependentRequired: s.DependentRequired}
	}

	return o.finish(s)
}

// fields adds a property for each field of the Go struct.
func (c *compiler) fields(n *node, s *Schema) error {
	if n.typ == nil || n.foreign || n.typ.Kind() != reflect.Struct {
		return nil
	}

	for _, field := range Fields(n.typ) {
		if _, described := s.Properties[field.Name]; s.Properties != nil && !described {
			// The codec would fill the field with any sent value, although no schema allows it. The field is
			// read from another part of the request, or belongs to the program.
			n.object.add(property{name: field.Name, blocked: true})
			continue
		}
		if err := c.property(n.typ, n.object, s, field.Name, &field); err != nil {
			return fmt.Errorf("field %s: %w", field.Field.Name, err)
		}
	}

	return nil
}

func (c *compiler) property(owner reflect.Type, o *object, s *Schema, name string, field *Field) error {
	use := s.Properties[name]
	p := property{name: name}

	var typ reflect.Type
	var format string
	optional := false
	if field != nil {
		if field.Quoted {
			return errors.New(`the option "string" of its json tag is not supported in bodies`)
		}
		typ, format = field.Field.Type, field.Field.Tag.Get("format")
		p.typ, p.hops = typ, hops(owner, field.Index)
		optional = hasOpt(typ)
	}

	child, err := c.node(typ, use, format)
	if err != nil {
		return err
	}
	p.node = child
	p.nullOK = child.null || !optional && !slices.Contains(s.Required, name)

	if use != nil {
		p.readOnly = use.ReadOnly
		if use.Default != nil && field != nil {
			if p.filler, err = newFiller(typ, format, use.Default); err != nil {
				return err
			}
			o.defaults = append(o.defaults, len(o.props))
		}
	}
	o.add(p)

	return nil
}

// hops returns the pointers on the way from a struct to one of its fields.
func hops(t reflect.Type, index []int) []hop {
	var way []hop
	var offset uintptr

	for i, at := range index {
		f := t.Field(at)
		offset, t = offset+f.Offset, f.Type
		if i < len(index)-1 && t.Kind() == reflect.Pointer {
			t = t.Elem()
			way = append(way, hop{offset: offset, elem: t})
			offset = 0
		}
	}

	return append(way, hop{offset: offset})
}

func (o *object) add(p property) {
	o.index[p.name] = len(o.props)
	p.boxed = p.name
	o.props = append(o.props, p)
}

// finish makes the tables that need all properties.
func (o *object) finish(s *Schema) error {
	o.words = (len(o.props) + 63) / 64
	o.required = make([]uint64, o.words)

	for i, p := range o.props {
		o.folded[string(fold(nil, []byte(p.name)))] = i

		if slices.Contains(s.Required, p.name) && !p.readOnly && !p.blocked {
			o.required[i/64] |= 1 << (i % 64)
		}
	}

	for _, name := range slices.Sorted(maps.Keys(s.DependentRequired)) {
		of, ok := o.index[name]
		if !ok {
			return fmt.Errorf("dependentRequired of the unknown property %q", name)
		}

		d := dependency{of: of}
		for _, asked := range s.DependentRequired[name] {
			i, ok := o.index[asked]
			if !ok {
				return fmt.Errorf("dependentRequired asks for the unknown property %q", asked)
			}
			d.asks = append(d.asks, i)
		}
		o.depends = append(o.depends, d)
	}

	return nil
}
