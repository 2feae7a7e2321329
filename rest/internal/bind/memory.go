package bind

import (
	"reflect"
	"unsafe"
)

// place is the memory of one value. It is the only use of unsafe in this package, and it
// is sound because of how places come to be:
//
//   - [placeOf] starts from a pointer whose type was compared with the one that the plan
//     fills. The value is a whole struct on the heap, and the place keeps it alive as any
//     pointer does.
//   - at adds the offset that reflection gives for a field of that very type, or of one that
//     differs in its tags alone, which lies in memory in the same way: so the result lies
//     inside the same value and is aligned for the field.
//   - item does so for an element of a slice that was just made with the length.
//   - load and store name a type with the layout of what lies there: scalars are compiled
//     per [reflect.Kind], and a named type has the layout of its kind.
//   - pointers are stored as [unsafe.Pointer], and everything else that may hold pointers
//     through its own type or through reflection, so the garbage collector sees each write.
type place struct{ p unsafe.Pointer }

// placeOf is what dst points to, and false when dst is no pointer of that type or nil.
func placeOf(dst any, pointer reflect.Type) (place, bool) {
	if reflect.TypeOf(dst) != pointer {
		return place{}, false
	}
	p := reflect.ValueOf(dst).UnsafePointer()

	return place{p}, p != nil
}

// at is the field at the offset of the struct that lies at a.
func (a place) at(offset uintptr) place { return place{unsafe.Add(a.p, offset)} }

// item is the i-th element, of the size, of the array whose first element lies at a.
func (a place) item(i int, size uintptr) place {
	return place{unsafe.Add(a.p, uintptr(i)*size)}
}

// pointer is a pointer of type *t to what lies at a.
func (a place) pointer(t reflect.Type) reflect.Value { return reflect.NewAt(t, a.p) }

// value is what lies at a, and may be set.
func (a place) value(t reflect.Type) reflect.Value { return reflect.NewAt(t, a.p).Elem() }

// allocate makes a zero t, lets the pointer at a point to it and returns its place.
func (a place) allocate(t reflect.Type) place {
	p := reflect.New(t).UnsafePointer()
	*(*unsafe.Pointer)(a.p) = p

	return place{p}
}

// grow makes the slice of type t that lies at a one of n zero items, which is not nil also
// when n is 0, and returns the place of the first.
func (a place) grow(t reflect.Type, n int) place {
	list := a.value(t)
	list.SetZero()
	list.Grow(n)
	list.SetLen(n)
	if n == 0 {
		list.Set(reflect.MakeSlice(t, 0, 0))
	}

	return place{list.UnsafePointer()}
}

func load[T any](a place) T { return *(*T)(a.p) }

func store[T any](a place, value T) { *(*T)(a.p) = value }
