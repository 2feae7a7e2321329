package wire

import (
	"encoding/json"
	"reflect"
	"unsafe"
)

// filler replaces nil lists and maps by empty ones. Its methods return the address that they
// got when there is nothing to replace, and that of a copy when there is. Pointers are never
// kept for longer than a value is prepared.
type filler struct {
	encode Encode
	err    error
	depth  int
	// endless is set for values that are deeper than documents are: they lead back to
	// themselves, and the codec says so.
	endless bool
}

// maxDepth is how deep values are looked into.
const maxDepth = 10_000

// any fills what is in an interface, and reports whether there was something to fill.
func (f *filler) any(n *node, v any) (any, bool) {
	if n.texts {
		return f.written(v), true
	}
	if !n.lists {
		return v, false
	}

	var at unsafe.Pointer
	switch {
	case n.kind == pointer:
		// It is the value itself, which needs no copy to have an address.
		if at = reflect.ValueOf(v).UnsafePointer(); at == nil {
			return v, false
		}
		filled := f.value(n.elem, at)
		if filled == at {
			return v, false
		}

		return reflect.NewAt(n.elem.typ, filled).Interface(), true
	case n.typ.Size() > unsafe.Sizeof(at):
		// An interface has the address of a value that is larger than a pointer.
		at = (*held)(unsafe.Pointer(&v)).data
	default:
		to := reflect.New(n.typ)
		to.Elem().Set(reflect.ValueOf(v))
		at = to.UnsafePointer()
	}
	filled := f.value(n, at)
	if filled == at {
		return v, false
	}

	return reflect.NewAt(n.typ, filled).Elem().Interface(), true
}

// held is an interface without methods as it lies in memory.
type held struct{ typ, data unsafe.Pointer }

// written is the text of a value that a codec could not write.
func (f *filler) written(v any) any {
	_, text, err := Prepare(v, f.encode)
	if err != nil && f.err == nil {
		f.err = err
	}

	return json.RawMessage(text)
}

// value fills the value at an address.
func (f *filler) value(n *node, at unsafe.Pointer) unsafe.Pointer {
	if f.depth++; f.depth > maxDepth {
		f.endless = true
	}
	filled := at
	if !f.endless {
		filled = f.filled(n, at)
	}
	f.depth--
	if f.endless {
		return at
	}

	return filled
}

func (f *filler) filled(n *node, at unsafe.Pointer) unsafe.Pointer {
	switch n.kind {
	case list:
		return f.list(n, at)
	case dictionary:
		return f.entries(n, at)
	case object:
		return f.object(n, at)
	case array:
		return f.array(n, at)
	case pointer:
		inner := *(*unsafe.Pointer)(at)
		if inner == nil {
			return at
		}
		filled := f.value(n.elem, inner)
		if filled == inner {
			return at
		}
		to := reflect.New(n.typ).UnsafePointer()
		*(*unsafe.Pointer)(to) = filled

		return to
	case optional:
		return f.optional(n, at)
	case dynamic:
		return f.dynamic(n, at)
	}

	return at
}

func (f *filler) list(n *node, at unsafe.Pointer) unsafe.Pointer {
	items := (*[]byte)(at) // the length is at the same place, whatever the items are
	base := unsafe.Pointer(unsafe.SliceData(*items))
	if *items == nil {
		return n.empty
	}
	if n.elem == nil || !n.elem.lists {
		return at
	}

	var copied reflect.Value
	for i := range len(*items) {
		item := unsafe.Add(base, uintptr(i)*n.size)
		filled := f.value(n.elem, item)
		if filled == item {
			continue
		}
		if !copied.IsValid() {
			from := reflect.NewAt(n.typ, at).Elem()
			copied = reflect.New(n.typ).Elem()
			copied.Set(reflect.MakeSlice(n.typ, from.Len(), from.Len()))
			reflect.Copy(copied, from)
		}
		copied.Index(i).Set(reflect.NewAt(n.elem.typ, filled).Elem())
	}
	if !copied.IsValid() {
		return at
	}

	return copied.Addr().UnsafePointer()
}

func (f *filler) array(n *node, at unsafe.Pointer) unsafe.Pointer {
	var copied reflect.Value
	for i := range n.typ.Len() {
		item := unsafe.Add(at, uintptr(i)*n.size)
		filled := f.value(n.elem, item)
		if filled == item {
			continue
		}
		if !copied.IsValid() {
			copied = reflect.New(n.typ).Elem()
			copied.Set(reflect.NewAt(n.typ, at).Elem())
		}
		copied.Index(i).Set(reflect.NewAt(n.elem.typ, filled).Elem())
	}
	if !copied.IsValid() {
		return at
	}

	return copied.Addr().UnsafePointer()
}

func (f *filler) entries(n *node, at unsafe.Pointer) unsafe.Pointer {
	from := reflect.NewAt(n.typ, at).Elem()
	if from.IsNil() {
		return n.empty
	}
	if !n.elem.lists {
		return at
	}

	var copied reflect.Value
	entry := reflect.New(n.elem.typ)
	for iter := from.MapRange(); iter.Next(); {
		entry.Elem().SetIterValue(iter)
		filled := f.value(n.elem, entry.UnsafePointer())
		if filled == entry.UnsafePointer() {
			continue
		}
		if !copied.IsValid() {
			copied = reflect.New(n.typ).Elem()
			copied.Set(reflect.MakeMapWithSize(n.typ, from.Len()))
			for all := from.MapRange(); all.Next(); {
				copied.SetMapIndex(all.Key(), all.Value())
			}
		}
		copied.SetMapIndex(iter.Key(), reflect.NewAt(n.elem.typ, filled).Elem())
	}
	if !copied.IsValid() {
		return at
	}

	return copied.Addr().UnsafePointer()
}

func (f *filler) object(n *node, at unsafe.Pointer) unsafe.Pointer {
	copied := at
	for i := range n.fields {
		field := &n.fields[i]
		inner := unsafe.Add(at, field.offset)
		if field.keepsNil && (isNil(field.node, inner) || field.omitsZero && isZero(field.node.typ, inner)) {
			continue
		}
		filled := f.value(field.node, inner)
		if filled == inner {
			continue
		}
		if copied == at {
			copied = n.copy(at)
		}
		move(field.node.typ, unsafe.Add(copied, field.offset), filled)
	}

	return copied
}

// copy copies the fields of a struct that are written. Others are the program's own: it may
// be writing to them.
func (n *node) copy(at unsafe.Pointer) unsafe.Pointer {
	to := reflect.New(n.typ).UnsafePointer()
	for f := range n.typ.Fields() {
		if f.IsExported() || f.Anonymous {
			move(f.Type, unsafe.Add(to, f.Offset), unsafe.Add(at, f.Offset))
		}
	}

	return to
}

func move(t reflect.Type, to, from unsafe.Pointer) {
	reflect.NewAt(t, to).Elem().Set(reflect.NewAt(t, from).Elem())
}

// isNil reports a list or map that is nil.
func isNil(n *node, at unsafe.Pointer) bool {
	return (n.kind == list || n.kind == dictionary) && *(*unsafe.Pointer)(at) == nil
}

// isZero reports a value that is left out by omitzero.
func isZero(t reflect.Type, at unsafe.Pointer) bool {
	v := reflect.NewAt(t, at)
	if z, ok := reflect.TypeAssert[interface{ IsZero() bool }](v); ok && (t.Kind() != reflect.Pointer || !v.Elem().IsNil()) {
		return z.IsZero()
	}

	return v.Elem().IsZero()
}

// optional fills what is in an Opt. That a list itself is null is what the program has said.
func (f *filler) optional(n *node, at unsafe.Pointer) unsafe.Pointer {
	o, ok := reflect.TypeAssert[interface{ Inside() any }](reflect.NewAt(n.typ, at))
	if !ok {
		return at
	}
	inside := reflect.ValueOf(o.Inside())
	if !inside.IsValid() || isNil(n.elem, inside.UnsafePointer()) {
		return at
	}
	filled := f.value(n.elem, inside.UnsafePointer())
	if filled == inside.UnsafePointer() {
		return at
	}
	to := reflect.New(n.typ)
	if made, ok := reflect.TypeAssert[interface{ Open() any }](to); ok {
		move(n.elem.typ, reflect.ValueOf(made.Open()).UnsafePointer(), filled)
	}

	return to.UnsafePointer()
}

func (f *filler) dynamic(n *node, at unsafe.Pointer) unsafe.Pointer {
	if n.typ.NumMethod() > 0 {
		return at // what has one is written in another way
	}
	before := *(*any)(at)
	switch before.(type) {
	case nil, string, bool, float64, int, int64:
		return at
	}
	after, changed := f.any(nodeOf(reflect.TypeOf(before)), before)
	if !changed {
		return at
	}
	to := reflect.New(n.typ)
	to.Elem().Set(reflect.ValueOf(after))

	return to.UnsafePointer()
}
