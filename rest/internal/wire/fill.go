package wire

import (
	"encoding/json"
	"reflect"
)

// filler replaces nil lists and maps by empty ones. Its methods report whether there was
// something to replace; what they return then is a copy, in which all is exported.
type filler struct {
	plan   Plan
	encode Encode
	err    error
	depth  int
	// endless is set for values that are deeper than documents are: they lead back to
	// themselves, and the codec says so.
	endless bool
}

// maxDepth is how deep values are looked into.
const maxDepth = 10_000

// value fills a value, which may have come from an embedded field that is not exported.
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

// next returns the first item from i on that has to be looked into, and the number of items
// when there is none. For rows it is what a page of them costs.
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

// either returns the copy, where one was made.
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

// copyWritten copies the fields of a struct that are written. Others are the program's own:
// it may be writing to them.
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

// settable returns a field of an addressable struct that can be set, although the embedded
// type that it has its name of is not exported.
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

// optional fills what is in an Opt. That a list itself is null is what the program has said.
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
		return v, false // what has methods is written in another way
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

// isScalar reports a kind of which no value has a list in it.
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
