package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest/internal/union"
)

// OneOf is a value of one of several types, in bodies and in answers. T is a struct whose
// fields are pointers to those types; exactly one is set. A property with the tag const, which
// each of the types has, tells them apart:
//
//	type Circle struct {
//		Kind   string  `json:"kind" const:"circle"`
//		Radius float64 `json:"radius"`
//	}
//
//	type Square struct {
//		Kind string  `json:"kind" const:"square"`
//		Side float64 `json:"side"`
//	}
//
//	type Shape struct {
//		Circle *Circle
//		Square *Square
//	}
//
// In JSON, a OneOf[Shape] is a circle or a square. In the document it is the component Shape:
// a oneOf with a discriminator. Input with an unknown kind is refused, and the fault names the
// property.
type OneOf[T any] struct {
	// Value has exactly one field set: the variant.
	Value T
}

// Alternatives is a type that encodes and decodes itself ([json.Marshaler]) as one of several
// types that no property tells apart, such as a text or a list. In the document it is an anyOf
// of these types. If a property tells the types apart, use [OneOf].
type Alternatives interface {
	// AnyOf returns the types. It is called on the zero value.
	AnyOf() []reflect.Type
}

// One returns a OneOf with the value. When it is encoded, an empty property that tells the
// types apart is filled in.
func One[T any](value T) OneOf[T] { return OneOf[T]{Value: value} }

// Union returns T, for code that sees a OneOf through reflection.
func (OneOf[T]) Union() reflect.Type { return reflect.TypeFor[T]() }

// Which returns the variant that is set, as a pointer for a type switch, or nil if none is
// set.
func (o OneOf[T]) Which() any {
	p, err := union.Compile(reflect.TypeFor[T]())
	if err != nil {
		return nil
	}
	v := reflect.ValueOf(o.Value)
	for _, variant := range p.Variants {
		if f := v.Field(variant.Field); !f.IsNil() {
			return f.Interface()
		}
	}
	return nil
}

// MarshalJSON writes the variant. It returns an error if none is set, or more than one.
func (o OneOf[T]) MarshalJSON() ([]byte, error) {
	p, err := union.Compile(reflect.TypeFor[T]())
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the type
	}
	variant, err := p.Set(reflect.ValueOf(o.Value))
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the type
	}
	return json.Marshal(variant)
}

var errVariant = errors.New("is none of the variants")

// UnmarshalJSON reads the variant that the JSON names.
func (o *OneOf[T]) UnmarshalJSON(data []byte) error {
	p, err := union.Compile(reflect.TypeFor[T]())
	if err != nil {
		return err //nolint:wrapcheck // it names the type
	}
	variant, tag, ok := p.Find(data)
	if !ok {
		return fmt.Errorf("%s %q %w of %v", p.Property, tag, errVariant, p.Type)
	}
	value, err := variant.Read(data)
	if err != nil {
		return err //nolint:wrapcheck // it names the type
	}
	var read T
	reflect.ValueOf(&read).Elem().Field(variant.Field).Set(value)
	o.Value = read
	return nil
}
