package wire

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/union"
)

// Check returns an error if a document of the type can never be whole: it has a value of a type that JSON does
// not have, such as a func, or a struct with several fields of one name. The error names the struct and the
// field. Types with JSON or a text of their own are not looked into.
func Check(t reflect.Type) error { return checker{}.check(t) }

// checker remembers the types that it has begun, as types may contain themselves.
type checker map[reflect.Type]bool

func (c checker) check(t reflect.Type) error {
	if t == nil || c[t] {
		return nil
	}
	c[t] = true

	if of, ok := union.Of(t); ok {
		return c.fields(of)
	}
	if elem, ok := opt.ElemOf(t); ok {
		return c.check(elem)
	}
	if slices.ContainsFunc(own, func(m reflect.Type) bool {
		return t.Implements(m) || reflect.PointerTo(t).Implements(m)
	}) {
		return nil
	}
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("JSON has no %v: a field that is not for JSON has the tag json:\"-\"", t)
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return c.check(t.Elem())
	case reflect.Struct:
		return c.fields(t)
	}

	return nil
}

// own are the interfaces of types that write or read themselves.
var own = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler](),
	reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
}

func (c checker) fields(t reflect.Type) error {
	if err := body.Tied(t); err != nil {
		return err //nolint:wrapcheck // it names the struct
	}
	for _, f := range body.Fields(t) {
		if err := c.check(f.Field.Type); err != nil {
			return fmt.Errorf("%v: field %s: %w", t, f.Field.Name, err)
		}
	}

	return nil
}
