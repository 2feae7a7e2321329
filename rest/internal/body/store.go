package body

import (
	"reflect"
	"strconv"
	"unsafe"

	"github.com/spoolhq/spool/rest/internal/opt"
)

// Values are stored in memory that reflection allocated for their type, or in the value that Decode got,
// whose type was checked. Pointers are kept only while the document is read.

// open follows pointers, which it allocates, and Opts, which it sets, to the value inside.
func (n *node) open(to unsafe.Pointer) unsafe.Pointer {
	for _, w := range n.wraps {
		if w.optional {
			if o, ok := reflect.TypeAssert[opt.Target](reflect.NewAt(w.typ, to)); ok {
				to = reflect.ValueOf(o.Open()).UnsafePointer()
			}

			continue
		}
		value := reflect.New(w.typ).UnsafePointer()
		*(*unsafe.Pointer)(to) = value
		to = value
	}

	return to
}

// clear stores null: Opts know it, and pointers are nil already.
func (w wrap) clear(to unsafe.Pointer) {
	if !w.optional {
		return
	}
	if o, ok := reflect.TypeAssert[opt.Target](reflect.NewAt(w.typ, to)); ok {
		o.SetNull()
	}
}

// in returns the place of the property in a struct, or nil if it is not stored.
func (p *property) in(object unsafe.Pointer) unsafe.Pointer {
	if object == nil || p.hops == nil {
		return nil
	}

	to := object
	for _, h := range p.hops {
		to = unsafe.Add(to, h.offset)
		if h.elem == nil {
			break
		}
		inner := (*unsafe.Pointer)(to)
		if *inner == nil {
			*inner = reflect.New(h.elem).UnsafePointer()
		}
		to = *inner
	}

	return to
}

// store writes a number that fits.
func (n *numeral) store(to *node, at unsafe.Pointer) {
	switch to.kind {
	case kindInt:
		value := int64(n.digits) //nolint:gosec // the least int64 is its own negative
		if n.neg {
			value = -value
		}
		reflect.NewAt(to.typ, at).Elem().SetInt(value)
	case kindUint:
		reflect.NewAt(to.typ, at).Elem().SetUint(n.digits)
	case kindFloat:
		if to.bits == 32 {
			value, _ := strconv.ParseFloat(view(n.raw), 32)
			*(*float32)(at) = float32(value)

			return
		}
		*(*float64)(at), _ = n.float()
	case kindNumber:
		*(*string)(at) = string(n.raw)
	}
}

// items is a list that is being filled, or nothing.
type items struct {
	list  reflect.Value
	slice bool
}

func (n *node) items(to unsafe.Pointer) items {
	if to == nil {
		return items{}
	}

	return items{list: reflect.NewAt(n.typ, to).Elem(), slice: n.typ.Kind() == reflect.Slice}
}

// at returns the place of the item, or nil if it is not stored.
func (l items) at(i int) unsafe.Pointer {
	const first = 4

	switch {
	case !l.list.IsValid():
		return nil
	case !l.slice:
		if i >= l.list.Len() {
			return nil
		}
	default:
		if i == 0 {
			l.list.Grow(first)
		} else if i == l.list.Cap() {
			l.list.Grow(1)
		}
		l.list.SetLen(i + 1)
	}

	return l.list.Index(i).Addr().UnsafePointer()
}

// end is called when the list is full. A list without items is empty and not nil.
func (l items) end(count int, rule *listRule) {
	if count == 0 && l.slice {
		l.list.Set(rule.empty)
	}
}

// entries is a map that is being filled, or nothing.
type entries struct {
	dict  reflect.Value
	value reflect.Value // of the next entry
}

func (n *node) entries(to unsafe.Pointer) entries {
	if to == nil {
		return entries{}
	}
	dict := reflect.MakeMap(n.typ)
	reflect.NewAt(n.typ, to).Elem().Set(dict)

	return entries{dict: dict, value: reflect.New(n.typ.Elem()).Elem()}
}

// next returns the place of the next value, or nil if it is not stored.
func (e entries) next() unsafe.Pointer {
	if !e.dict.IsValid() {
		return nil
	}
	e.value.SetZero()

	return e.value.Addr().UnsafePointer()
}

// keep adds the value that was stored under the key. A key that does not fit was reported before.
func (s *scanner) keep(e entries, key []byte) bool {
	if e.dict.IsValid() {
		if k := mapKey(e.dict.Type().Key(), view(key)); k.IsValid() {
			e.dict.SetMapIndex(k, e.value)
		}
	}

	return true
}
