package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest/internal/union"
)

// OneOf is a value of one of several types, in bodies and in answers. T is a struct whose
// fields are pointers to those types, of which one is set. They are told apart by a property
// that each of them has with the tag const:
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
// In JSON a OneOf[Shape] is a circle or a square. In the document it is the component Shape: a
// oneOf with a discriminator. An input of another kind is refused by the name of the property.
type OneOf[T any] struct {
	// Value has the variant.
	Value T
}

// Alternatives is a type that writes and reads itself ([json.Marshaler]) as a value of one of
// several types which no property tells apart, such as a text or a list. The document has an
// anyOf of them. Types with a property of their own are better a [OneOf].
type Alternatives interface {
	// AnyOf returns the types. The zero value is asked.
	AnyOf() []reflect.Type
}

// One returns a value of one of the types of T. The property that tells them apart is filled
// in where it is empty.
func One[T any](value T) OneOf[T] { return OneOf[T]{Value: value} }

// Union returns the type of the variants, for code that sees a OneOf through reflection.
func (OneOf[T]) Union() reflect.Type { return reflect.TypeFor[T]() }

// Which returns the variant that is set, as a pointer for a type switch, and nil without one.
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

// MarshalJSON writes the variant. It is an error when none is set, or more than one.
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

// UnmarshalJSON reads the variant that the document names.
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
		return err //nolint:wrapcheck // as any other
	}
	var read T
	reflect.ValueOf(&read).Elem().Field(variant.Field).Set(value)
	o.Value = read
	return nil
}
