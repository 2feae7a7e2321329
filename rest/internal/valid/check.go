package valid

import (
	"cmp"
	"context"
	"encoding"
	"fmt"
	"reflect"
	"slices"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// check is one call of [Tree.Check].
type check struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the call
	of     Faults
	faults []fault.Fault
	first  error
}

// walk checks the value v, which has an address.
func (c *check) walk(n *node, v reflect.Value, at Place) error {
	if !n.needed || len(c.faults) > MaxFaults {
		return nil
	}
	before := len(c.faults)
	if err := c.below(n, v, at); err != nil {
		return err
	}
	if !n.called || len(c.faults) > before {
		return nil
	}

	return c.call(v, at)
}

func (c *check) below(n *node, v reflect.Value, at Place) error {
	switch n.kind {
	case pointer:
		if v.IsNil() {
			return nil
		}

		return c.walk(n.elem, v.Elem(), at)
	case optional:
		o, ok := reflect.TypeAssert[interface{ Inside() any }](v.Addr())
		if !ok {
			return nil
		}
		if inside := reflect.ValueOf(o.Inside()); inside.IsValid() {
			return c.walk(n.elem, inside.Elem(), at)
		}
	case list:
		for i := range v.Len() {
			if err := c.walk(n.elem, v.Index(i), at.below(i)); err != nil {
				return err
			}
		}
	case dictionary:
		return c.entries(n, v, at)
	case object:
		for i := range n.fields {
			f := &n.fields[i]
			if !f.node.needed {
				continue
			}
			// It uses the address, because the field may be an embedded type that is not exported.
			inner := v.Field(f.index)
			inner = reflect.NewAt(inner.Type(), inner.Addr().UnsafePointer()).Elem()
			if err := c.walk(f.node, inner, f.at(at)); err != nil {
				return err
			}
		}
	}

	return nil
}

// entries checks the values of a map in the order of its keys. Such values have no address, so it checks a
// copy of each and stores the copy.
func (c *check) entries(n *node, v reflect.Value, at Place) error {
	if !n.elem.needed {
		return nil
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(text(a), text(b)) })
	for _, key := range keys {
		entry := reflect.New(n.elem.typ).Elem()
		entry.Set(v.MapIndex(key))
		if err := c.walk(n.elem, entry, at.below(text(key))); err != nil {
			return err
		}
		v.SetMapIndex(key, entry)
	}

	return nil
}

// text returns a key in the form of a document.
func text(key reflect.Value) string {
	if key.Kind() == reflect.String {
		return key.String()
	}
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](key); ok {
		if b, err := m.MarshalText(); err == nil {
			return string(b)
		}
	}

	return fmt.Sprint(key.Interface())
}

func (c *check) call(v reflect.Value, at Place) error {
	own, ok := reflect.TypeAssert[Validator](v.Addr())
	if !ok {
		return nil
	}
	err := own.Validate(c.ctx)
	if err == nil {
		return nil
	}
	faults, ok := c.of(err)
	if !ok {
		return err //nolint:wrapcheck // it is the program's own
	}
	if c.first == nil {
		c.first = err
	}
	for _, f := range faults {
		c.faults = append(c.faults, at.locate(f))
	}

	return nil
}
