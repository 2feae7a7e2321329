package valid

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/union"
)

var (
	validator       = reflect.TypeFor[Validator]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// compiler remembers the nodes that it has begun, as types may contain themselves.
type compiler struct {
	done map[reflect.Type]*node
	all  []*node
}

func (c *compiler) node(t reflect.Type) (*node, error) {
	if n, ok := c.done[t]; ok {
		return n, nil
	}
	n := &node{typ: t}
	c.done[t] = n
	c.all = append(c.all, n)

	if t.Kind() == reflect.Pointer {
		return n, c.inside(n, pointer, t.Elem())
	}
	if elem, ok := opt.ElemOf(t); ok {
		return n, c.inside(n, optional, elem)
	}
	if of, ok := union.Of(t); ok {
		return n, c.variants(n, of)
	}
	if err := c.own(n); err != nil {
		return nil, err
	}
	if p := reflect.PointerTo(t); p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler) {
		return n, nil // its parts have no places in a document
	}

	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return n, c.inside(n, list, t.Elem())
	case reflect.Map:
		if _, has := method(t.Key()); has {
			return nil, fmt.Errorf(
				"the keys of %v have a method Validate, which is never called: check them in a Validate of the map's own type", t,
			)
		}

		return n, c.inside(n, dictionary, t.Elem())
	case reflect.Struct:
		n.kind = object
		names := map[string]string{}
		for _, f := range body.Fields(t) {
			names[fmt.Sprint(f.Index)] = f.Name
		}

		return n, c.fields(n, t, nil, func(index []int) (Place, bool) {
			name, ok := names[fmt.Sprint(index)]
			return Place{Path: []any{name}}, ok
		})
	}

	return n, nil
}

// variants compiles a rest.OneOf. A variant has the place of the union.
func (c *compiler) variants(n *node, of reflect.Type) error {
	inner := &node{typ: of, kind: object}
	c.all = append(c.all, inner)
	n.kind, n.fields = object, []field{{node: inner, embedded: true}}
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Type.Kind() != reflect.Pointer {
			continue
		}
		variant, err := c.node(f.Type)
		if err != nil {
			return err
		}
		inner.fields = append(inner.fields, field{index: i, node: variant, embedded: true})
	}

	return nil
}

func (c *compiler) inside(n *node, k kind, elem reflect.Type) (err error) {
	n.kind = k
	n.elem, err = c.node(elem)

	return err
}

// fields compiles the fields of t, which is the type of n or a struct that is embedded in it.
func (c *compiler) fields(n *node, t reflect.Type, index []int, places func([]int) (Place, bool)) error {
	for i := range t.NumField() {
		f := t.Field(i)
		way := append(slices.Clone(index), i)

		if place, ok := places(way); ok {
			inner, err := c.node(f.Type)
			if err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
			n.fields = append(n.fields, field{index: i, node: inner, place: place, embedded: len(place.Path) == 0})

			continue
		}
		struc := f.Type
		if struc.Kind() == reflect.Pointer {
			struc = struc.Elem()
		}
		if !f.Anonymous || struc.Kind() != reflect.Struct || f.Tag.Get("json") == "-" {
			continue
		}

		// The fields of an embedded struct belong to the struct around it, which decides which of them are
		// shadowed.
		inner := &node{typ: struc, kind: object}
		c.all = append(c.all, inner)
		if len(way) > maxEmbedded {
			continue
		}
		if err := c.own(inner); err != nil {
			return err
		}
		if err := c.fields(inner, struc, way, places); err != nil {
			return err
		}
		if f.Type.Kind() == reflect.Pointer {
			inner = &node{typ: f.Type, kind: pointer, elem: inner}
			c.all = append(c.all, inner)
		}
		n.fields = append(n.fields, field{index: i, node: inner, embedded: true})
	}

	return nil
}

// maxEmbedded is the depth of embedded structs at which a pointer must lead back.
const maxEmbedded = 10

// own finds the method of a type itself.
func (c *compiler) own(n *node) error {
	m, has := method(n.typ)
	if !has || promoted(n.typ, m) {
		return nil // an embedded struct's method is called at that struct
	}
	if !reflect.PointerTo(n.typ).Implements(validator) {
		return misdeclared(n.typ, m)
	}
	n.called = true

	return nil
}

// method returns the method Validate of a type, or of pointers to it.
func method(t reflect.Type) (reflect.Method, bool) {
	if m, ok := t.MethodByName("Validate"); ok || t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return m, ok && t.Kind() != reflect.Interface
	}

	return reflect.PointerTo(t).MethodByName("Validate")
}

// promoted reports whether the method belongs to an embedded field of t. Reflection does not distinguish such
// a method from one that t declares. The compiler generates promoted methods, so they have no file.
func promoted(t reflect.Type, m reflect.Method) bool {
	if t.Kind() != reflect.Struct || !embedsMethod(t) {
		return false
	}
	f := runtime.FuncForPC(m.Func.Pointer())
	if f == nil {
		return false
	}
	file, _ := f.FileLine(f.Entry())

	// If the method of the field is inlined into that of t, the name is the field's.
	name, _, _ := strings.Cut(t.Name(), "[")
	own := strings.Contains(f.Name(), "."+name+".") || strings.Contains(f.Name(), "(*"+name+")") ||
		strings.Contains(f.Name(), name+"[")

	return file == "<autogenerated>" || !own
}

func embedsMethod(t reflect.Type) bool {
	for f := range t.Fields() {
		if _, has := method(f.Type); f.Anonymous && has {
			return true
		}
	}

	return false
}

// signature returns the declaration of the method, without its receiver.
func signature(m reflect.Method) string {
	t := m.Type
	in := make([]string, 0, t.NumIn())
	for i := 1; i < t.NumIn(); i++ {
		in = append(in, t.In(i).String())
	}
	out := make([]string, 0, t.NumOut())
	for o := range t.Outs() {
		out = append(out, o.String())
	}
	text := "Validate(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return text
	case 1:
		return text + " " + out[0]
	}

	return text + " (" + strings.Join(out, ", ") + ")"
}
