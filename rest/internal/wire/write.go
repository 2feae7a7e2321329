package wire

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/spoolhq/spool/rest/internal/textform"
)

// writer writes a value that has text forms in it. The codec encodes all other parts, so they look as
// everywhere else.
type writer struct {
	encode Encode
	to     []byte
	depth  int
}

func (w *writer) add(text string) { w.to = append(w.to, text...) }

// value writes v, which has an address.
func (w *writer) value(n *node, v reflect.Value) error {
	if w.depth++; w.depth > maxDepth {
		return fmt.Errorf("the value of type %v leads back to itself", n.typ)
	}
	defer func() { w.depth-- }()

	if !n.texts && n.kind != dynamic {
		return w.plain(n, v)
	}
	switch n.kind {
	case text:
		return w.text(n, v)
	case object:
		return w.object(n, v)
	case list, array:
		return w.list(n, v)
	case dictionary:
		return w.dictionary(n, v)
	case pointer, dynamic:
		return w.inner(n, v)
	case optional:
		o, ok := reflect.TypeAssert[interface{ Inside() any }](v.Addr())
		if !ok {
			return w.plain(n, v)
		}
		if inside := reflect.ValueOf(o.Inside()); inside.IsValid() {
			return w.value(n.elem, inside.Elem())
		}
		w.add("null")

		return nil
	}

	return w.plain(n, v)
}

// plain lets the codec write a value.
func (w *writer) plain(n *node, v reflect.Value) error {
	whole := v.Addr().Interface()
	if n.lists {
		f := filler{encode: w.encode}
		filled, changed := f.value(n, v)
		switch {
		case f.err != nil:
			return f.err
		case changed && !f.endless:
			whole = filled.Interface()
		}
	}
	text, err := w.encode(whole)
	w.to = append(w.to, text...)

	return err
}

func (w *writer) text(n *node, v reflect.Value) error {
	text, err := textform.Text(n.form, v.Interface())
	if err != nil {
		return err //nolint:wrapcheck // the caller says what it was writing
	}
	quoted, err := json.Marshal(text)
	w.to = append(w.to, quoted...)

	return err //nolint:wrapcheck // a text can be written
}

// inner writes the value of a pointer or an interface.
func (w *writer) inner(n *node, v reflect.Value) error {
	switch {
	case v.IsNil():
		w.add("null")
		return nil
	case n.kind == pointer:
		return w.value(n.elem, v.Elem())
	}
	held := reflect.New(v.Elem().Type()).Elem()
	held.Set(v.Elem())

	return w.value(nodeOf(held.Type()), held)
}

func (w *writer) list(n *node, v reflect.Value) error {
	w.add("[")
	for i := range v.Len() {
		if i > 0 {
			w.add(",")
		}
		if err := n.check(v.Index(i)); err != nil {
			return err
		}
		if err := w.value(n.elem, v.Index(i)); err != nil {
			return err
		}
	}
	w.add("]")

	return nil
}

func (w *writer) dictionary(n *node, v reflect.Value) error {
	type entry struct {
		key   string
		value reflect.Value
	}
	entries := make([]entry, 0, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		key, err := keyText(iter.Key())
		if err != nil {
			return err
		}
		value := reflect.New(n.elem.typ).Elem()
		value.SetIterValue(iter)
		if err := n.check(value); err != nil {
			return err
		}
		entries = append(entries, entry{key, value})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })

	w.add("{")
	for i, e := range entries {
		if i > 0 {
			w.add(",")
		}
		key, err := w.encode(e.key)
		if err != nil {
			return err
		}
		w.to = append(append(w.to, key...), ':')
		if err := w.value(n.elem, e.value); err != nil {
			return err
		}
	}
	w.add("}")

	return nil
}

// keyText returns a key of a map as encoding/json writes it.
func keyText(key reflect.Value) (string, error) {
	if key.Kind() == reflect.String {
		return key.String(), nil
	}
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](key); ok {
		text, err := m.MarshalText()
		return string(text), err //nolint:wrapcheck // it is the program's own
	}
	switch {
	case key.CanInt():
		return strconv.FormatInt(key.Int(), 10), nil
	case key.CanUint():
		return strconv.FormatUint(key.Uint(), 10), nil
	}

	return "", fmt.Errorf("%v is no key of an object", key.Type())
}

func (w *writer) object(n *node, v reflect.Value) error {
	w.add("{")
	first := true
	for i := range n.named {
		f := &n.named[i]
		field, ok := fieldAt(v, f.Index)
		if !ok || f.OmitEmpty && isEmpty(field) || f.OmitZero && isZero(field) {
			continue
		}
		if !first {
			w.add(",")
		}
		first = false
		w.to = append(w.to, f.key...)
		if err := w.field(f, field); err != nil {
			return err
		}
	}
	w.add("}")

	return nil
}

func (w *writer) field(f *named, v reflect.Value) error {
	if f.Quoted && quotable(v) {
		text, err := w.encode(v.Interface())
		if err == nil {
			text, err = w.encode(string(text))
		}
		w.to = append(w.to, text...)

		return err
	}
	if f.nullable && isNilList(v) {
		w.add("null")
		return nil
	}

	return w.value(f.node, v)
}

// quotable reports whether the option "string" of a json tag applies to a value.
func quotable(v reflect.Value) bool {
	return v.Kind() == reflect.Bool || v.CanInt() || v.CanUint() || v.CanFloat() || v.Kind() == reflect.String
}

// fieldAt returns the field of a struct, and false if it is in an embedded pointer that is nil.
func fieldAt(v reflect.Value, index []int) (reflect.Value, bool) {
	for i, at := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(at)
		// It uses the address, because an embedded type may not be exported.
		v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	}

	return v, true
}

// isEmpty reports whether encoding/json leaves out the value by omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Interface, reflect.Pointer:
		return v.IsZero()
	}

	return false
}
