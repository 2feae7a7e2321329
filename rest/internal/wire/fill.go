package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// filler replaces nil lists and maps by empty ones. Its methods report whether they replaced something. If
// they did, they return a copy whose fields are all exported.
type filler struct {
	plan   Plan
	encode Encode
	err    error
	depth  int
	// endless is set for values deeper than any document: they refer to themselves, and the codec reports
	// that.
	endless bool
}

// maxDepth is the maximum depth of values.
const maxDepth = 10_000

// value fills a value, which may come from an embedded field that is not exported.
func (f *filler) value(n *node, v reflect.Value) (reflect.Value, bool) {
	if !n.lists {
		return v, false
	}
	if f.depth++; f.depth > maxDepth {
		f.endless = true
	}
	filled, changed := v, false
	if !f.endless {
		filled, changed = f.filled(n, v)
	}
	f.depth--

	return filled, changed
}

func (f *filler) filled(n *node, v reflect.Value) (reflect.Value, bool) {
	switch n.kind {
	case list:
		return f.list(n, v)
	case dictionary:
		return f.entries(n, v)
	case object:
		return f.object(n, v)
	case array:
		return f.array(n, v)
	case pointer:
		return f.pointer(n, v)
	case optional:
		return f.optional(n, v)
	case dynamic:
		return f.dynamic(n, v)
	}

	return v, false
}

func (f *filler) list(n *node, v reflect.Value) (reflect.Value, bool) {
	if v.IsNil() {
		return n.empty, true
	}
	if n.strict {
		for i := range v.Len() {
			f.check(n, v.Index(i))
		}
	}
	if n.elem == nil || !n.elem.lists {
		return v, false
	}

	var copied reflect.Value
	for i := n.elem.next(v, 0); i < v.Len(); i = n.elem.next(v, i+1) {
		item, changed := f.value(n.elem, v.Index(i))
		if !changed {
			continue
		}
		if !copied.IsValid() {
			copied = reflect.MakeSlice(n.typ, v.Len(), v.Len())
			reflect.Copy(copied, v)
		}
		copied.Index(i).Set(item)
	}

	return either(copied, v)
}

// next returns the index of the first item from i on that may need a change, or the number of items if there
// is none. For rows, this is the cost of a page.
func (n *node) next(items reflect.Value, i int) int {
	if n.flat == nil {
		return i
	}
	for ; i < items.Len(); i++ {
		row := items.Index(i)
		if n.kind == pointer {
			if row.IsNil() {
				continue
			}
			row = row.Elem()
		}
		for _, at := range n.flat {
			if row.Field(at).IsNil() {
				return i
			}
		}
	}

	return i
}

// either returns the copy if there is one, and the original otherwise.
func either(copied, v reflect.Value) (reflect.Value, bool) {
	if copied.IsValid() {
		return copied, true
	}

	return v, false
}

func (f *filler) array(n *node, v reflect.Value) (reflect.Value, bool) {
	var copied reflect.Value
	for i := range v.Len() {
		item, changed := f.value(n.elem, v.Index(i))
		if !changed {
			continue
		}
		if !copied.IsValid() {
			copied = reflect.New(n.typ).Elem()
			copied.Set(v)
		}
		copied.Index(i).Set(item)
	}

	return either(copied, v)
}

func (f *filler) entries(n *node, v reflect.Value) (reflect.Value, bool) {
	if v.IsNil() {
		return n.empty, true
	}
	if n.strict {
		for iter := v.MapRange(); iter.Next(); {
			f.check(n, iter.Value())
		}
	}
	if !n.elem.lists {
		return v, false
	}

	var copied reflect.Value
	entry := reflect.New(n.elem.typ).Elem()
	for iter := v.MapRange(); iter.Next(); {
		entry.SetIterValue(iter)
		filled, changed := f.value(n.elem, entry)
		if !changed {
			continue
		}
		if !copied.IsValid() {
			copied = reflect.MakeMapWithSize(n.typ, v.Len())
			for all := v.MapRange(); all.Next(); {
				copied.SetMapIndex(all.Key(), all.Value())
			}
		}
		copied.SetMapIndex(iter.Key(), filled)
	}

	return either(copied, v)
}

// check refuses a nil pointer as an item of a strict list or map.
func (f *filler) check(n *node, item reflect.Value) {
	if f.err == nil {
		f.err = n.check(item)
	}
}

func (n *node) check(item reflect.Value) error {
	if n.strict && item.IsNil() {
		return fmt.Errorf("a nil %v is in a %v, whose items are objects in the document", n.elem.typ, n.typ)
	}

	return nil
}

func (f *filler) object(n *node, v reflect.Value) (reflect.Value, bool) {
	var copied reflect.Value
	for i := range n.fields {
		field := &n.fields[i]
		inner := v.Field(field.index)
		if field.keepsNil && (isNilList(inner) || field.omitsZero && isZero(inner)) {
			continue
		}
		filled, changed := f.value(field.node, inner)
		if !changed {
			continue
		}
		if !copied.IsValid() {
			copied = reflect.New(n.typ).Elem()
			copyWritten(copied, v)
		}
		settable(copied.Field(field.index)).Set(filled)
	}

	return either(copied, v)
}

// copyWritten copies the fields of a struct that are written to JSON. The program may be changing the others.
func copyWritten(to, from reflect.Value) {
	for i := range from.NumField() {
		switch f := from.Type().Field(i); {
		case f.IsExported():
			to.Field(i).Set(from.Field(i))
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			copyWritten(settable(to.Field(i)), from.Field(i))
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			settable(to.Field(i)).Set(reflect.NewAt(f.Type.Elem(), from.Field(i).UnsafePointer()))
		}
	}
}

// settable returns a field of an addressable struct that can be set, even if the embedded type that names it
// is not exported.
func settable(v reflect.Value) reflect.Value {
	if v.CanSet() {
		return v
	}

	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}

func (f *filler) pointer(n *node, v reflect.Value) (reflect.Value, bool) {
	if v.IsNil() {
		return v, false
	}
	filled, changed := f.value(n.elem, v.Elem())
	if !changed {
		return v, false
	}
	to := reflect.New(n.elem.typ)
	to.Elem().Set(filled)

	return to, true
}

// optional fills the value in an Opt. An Opt whose list is null stays null, because the program has said so.
func (f *filler) optional(n *node, v reflect.Value) (reflect.Value, bool) {
	from := reflect.New(n.typ)
	from.Elem().Set(v)
	o, ok := reflect.TypeAssert[interface{ Inside() any }](from)
	if !ok {
		return v, false
	}
	inside := reflect.ValueOf(o.Inside())
	if !inside.IsValid() || isNilList(inside.Elem()) {
		return v, false
	}
	filled, changed := f.value(n.elem, inside.Elem())
	if !changed {
		return v, false
	}
	inside.Elem().Set(filled)

	return from.Elem(), true
}

func (f *filler) dynamic(n *node, v reflect.Value) (reflect.Value, bool) {
	if v.IsNil() || n.typ.NumMethod() > 0 {
		return v, false // types with methods write themselves
	}
	held := v.Elem()
	if isScalar(held.Kind()) {
		return v, false
	}
	inner := f.plan.nodeOf(held.Type())
	if inner.texts {
		return reflect.ValueOf(f.written(held.Interface())), true
	}

	return f.value(inner, held)
}

// isScalar reports whether values of the kind have no lists in them.
func isScalar(k reflect.Kind) bool {
	return k <= reflect.Complex128 || k == reflect.String
}

// written is the text of a value that a codec could not write.
func (f *filler) written(v any) any {
	_, text, err := Prepare(v, f.encode)
	if err != nil && f.err == nil {
		f.err = err
	}

	return json.RawMessage(text)
}

// isNilList reports a list or map that is nil.
func isNilList(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.IsNil()
}

type zeroer interface{ IsZero() bool }

// isZero reports a value that is left out by omitzero, as encoding/json has it.
func isZero(v reflect.Value) bool {
	switch {
	case v.IsZero():
		return true
	case !v.CanInterface():
		return false
	}
	if z, ok := reflect.TypeAssert[zeroer](v); ok {
		return z.IsZero()
	}
	if !reflect.PointerTo(v.Type()).Implements(reflect.TypeFor[zeroer]()) {
		return false
	}
	held := reflect.New(v.Type())
	held.Elem().Set(v)
	z, ok := reflect.TypeAssert[zeroer](held)

	return ok && z.IsZero()
}
