package body

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/textform"
)

type nodeKey struct {
	typ    reflect.Type
	schema *Schema
	format string
}

// compiler remembers the nodes that it has begun, so that types can be recursive.
type compiler struct {
	done          map[nodeKey]*node
	loose, absent bool
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	numberType      = reflect.TypeFor[json.Number]()
)

// node compiles one place of a document. t is nil if no Go type is known. The format is the tag of the
// place's field.
func (c *compiler) node(t reflect.Type, s *Schema, format string) (*node, error) {
	key := nodeKey{typ: t, schema: s, format: format}
	if n, ok := c.done[key]; ok {
		return n, nil
	}
	n := &node{}
	c.done[key] = n

	if s == nil {
		n.null = t == nil || nilable(t)
	} else {
		n.null = s.Nullable || s.resolve().Nullable
	}

	n.typ, n.wraps = unwrap(t)
	n.foreign = n.typ != nil && isForeign(n.typ)
	if n.typ != nil {
		n.form = textform.Of(n.typ, format)
	}

	s = s.resolve()
	if s == nil {
		s = &Schema{}
	}
	n.validate = s.Validate

	name := s.Type
	if n.form != textform.None {
		name, n.foreign = "string", true
	}
	if name == "" {
		inferred, err := typeName(n.typ, n.foreign)
		if err != nil {
			return nil, err
		}
		name = inferred
		n.null = n.null || name == ""
	}

	if err := c.shape(n, name, s, format); err != nil {
		return nil, err
	}
	n.direct = n.isDirect()

	return n, nil
}

// isDirect reports whether values can be stored by their kind alone.
func (n *node) isDirect() bool {
	if n.typ == nil || n.foreign {
		return false
	}
	k := n.typ.Kind()

	switch n.kind {
	case kindBool:
		return k == reflect.Bool
	case kindInt, kindUint, kindFloat, kindBytes:
		return true // the kind was chosen by the type
	case kindNumber:
		return n.typ == numberType
	case kindString:
		return k == reflect.String
	case kindList:
		return k == reflect.Slice || k == reflect.Array
	case kindObject:
		return k == reflect.Struct
	case kindDict:
		return k == reflect.Map
	}

	return false
}

// shape adds the rules of the JSON type.
func (c *compiler) shape(n *node, name string, s *Schema, format string) error {
	switch name {
	case "":
		n.kind, n.use = kindAny, decoded
		if c.loose || n.foreign {
			n.use = kept
		}

		return nil
	case "boolean":
		n.kind = kindBool
		n.flags, _ = enumOf[bool](s)

		return nil
	case "integer", "number":
		n.kind, n.bits = numberKind(name, n.typ, n.foreign)
		n.number = newNumberRule(s)

		return nil
	case "string":
		n.kind = kindString
		switch {
		case n.typ == numberType:
			n.kind = kindNumber
		case n.typ != nil && isBytes(n.typ) && !n.foreign:
			n.kind = kindBytes
		}

		rule, err := newTextRule(s)
		if rule != nil && s.Format == "date" && (n.typ == nil || n.form == textform.Date) {
			rule.format = isDay
		}
		n.text = rule

		return err
	case "array":
		n.kind = kindList
		return c.list(n, s, format)
	case "object":
		if n.typ != nil && n.typ.Kind() == reflect.Struct && !n.foreign || s.Properties != nil {
			n.kind = kindObject
			return c.object(n, s)
		}
		n.kind = kindDict

		return c.dictionary(n, s)
	}

	return fmt.Errorf("unknown JSON type %q", name)
}

func (c *compiler) list(n *node, s *Schema, format string) error {
	var elem reflect.Type
	if n.typ != nil && !n.foreign && (n.typ.Kind() == reflect.Slice || n.typ.Kind() == reflect.Array) {
		elem = n.typ.Elem()
	}

	items, err := c.node(elem, s.Items, format)
	n.list = &listRule{items: items, min: orNone(s.MinItems), max: orNone(s.MaxItems), unique: s.UniqueItems}
	if elem != nil && n.typ.Kind() == reflect.Slice {
		n.list.empty = reflect.MakeSlice(n.typ, 0, 0)
	}

	return err
}

func (c *compiler) dictionary(n *node, s *Schema) error {
	rule := &dictRule{min: orNone(s.MinProperties), max: orNone(s.MaxProperties), keyKind: reflect.String}
	n.dict = rule

	var elem reflect.Type
	if n.typ != nil && !n.foreign && n.typ.Kind() == reflect.Map {
		elem = n.typ.Elem()
		rule.key = n.typ.Key()

		switch kind := rule.key.Kind(); {
		case reflect.PointerTo(rule.key).Implements(textUnmarshaler):
			rule.keyKind = reflect.Invalid
		case kind == reflect.String || isInt(kind) || isUint(kind):
			rule.keyKind = kind
		default:
			return fmt.Errorf("%s has keys that JSON cannot hold", n.typ)
		}
	}

	values, err := c.node(elem, s.Values, "")
	rule.values = values

	return err
}

// typeName returns the JSON type that a Go type is read from, or "" for any.
func typeName(t reflect.Type, foreign bool) (string, error) {
	if t == nil || foreign {
		return "", nil
	}

	switch kind := t.Kind(); {
	case t == numberType, kind == reflect.Float32, kind == reflect.Float64:
		return "number", nil
	case kind == reflect.Bool:
		return "boolean", nil
	case isInt(kind), isUint(kind):
		return "integer", nil
	case kind == reflect.String, isBytes(t):
		return "string", nil
	case kind == reflect.Slice, kind == reflect.Array:
		return "array", nil
	case kind == reflect.Map, kind == reflect.Struct:
		return "object", nil
	case kind == reflect.Interface && t.NumMethod() == 0:
		return "", nil
	}

	return "", fmt.Errorf("%s cannot be read from JSON", t)
}

func numberKind(name string, t reflect.Type, foreign bool) (kind, int) {
	if t != nil && !foreign {
		switch k := t.Kind(); {
		case isInt(k):
			return kindInt, t.Bits()
		case isUint(k):
			return kindUint, t.Bits()
		case (k == reflect.Float32 || k == reflect.Float64) && name == "number":
			return kindFloat, t.Bits()
		}
	}
	if name == "integer" {
		return kindInteger, 64
	}

	return kindNumber, 64
}

// unwrap removes pointers and Opt from a type.
func unwrap(t reflect.Type) (reflect.Type, []wrap) {
	var wraps []wrap

	for t != nil {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
			wraps = append(wraps, wrap{typ: t})

			continue
		}
		elem, ok := opt.ElemOf(t)
		if !ok {
			break
		}
		wraps = append(wraps, wrap{typ: t, optional: true})
		t = elem
	}

	return t, wraps
}

// hasOpt reports whether a type can tell null from a value by itself.
func hasOpt(t reflect.Type) bool {
	_, wraps := unwrap(t)

	return slices.ContainsFunc(wraps, func(w wrap) bool { return w.optional })
}

func isForeign(t reflect.Type) bool {
	p := reflect.PointerTo(t)

	return p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler)
}

func nilable(t reflect.Type) bool {
	k := t.Kind()

	return hasOpt(t) || k == reflect.Pointer || k == reflect.Map || k == reflect.Slice || k == reflect.Interface
}

// isBytes reports whether encoding/json writes t as base64.
func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !isForeign(t.Elem())
}

func isInt(k reflect.Kind) bool  { return k >= reflect.Int && k <= reflect.Int64 }
func isUint(k reflect.Kind) bool { return k >= reflect.Uint && k <= reflect.Uintptr }

func orNone(limit *int) int {
	if limit == nil {
		return -1
	}

	return *limit
}

// className returns the name of an object in messages: the schema's name, or the Go type's without its
// package and type arguments.
func className(t reflect.Type, s *Schema) string {
	if s.Name != "" || t == nil {
		return s.Name
	}
	name, _, _ := strings.Cut(t.Name(), "[")

	return name
}
