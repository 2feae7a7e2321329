package driver

import (
	"cmp"
	"database/sql/driver"
	"math"
	"reflect"
	"strings"
	"time"
)

// datum is the value of one column of one row in memory.
type datum struct {
	null bool
	// whole holds Bool, Int, and Time in microseconds. big holds an Int beyond int64.
	whole int64
	big   uint64
	float float64
	// text holds String and Bytes.
	text string
	own  reflect.Value
}

// read returns the datum of f in a struct.
func (f *Field) read(struc reflect.Value) datum {
	v, ok := descend(struc, f.Index)
	for ok && v.Kind() == reflect.Pointer {
		v, ok = v.Elem(), !v.IsNil()
	}
	if !ok || f.zeroNull && v.IsZero() {
		return datum{null: true}
	}
	if f.scalar.inner >= 0 {
		if f.scalar.valid >= 0 && !v.Field(f.scalar.valid).Bool() {
			return datum{null: true}
		}
		v = v.Field(f.scalar.inner)
	}
	return datumOf(f.Kind, v)
}

// descend follows an index through pointers. It returns false at a nil pointer.
func descend(v reflect.Value, index []int) (reflect.Value, bool) {
	for i, at := range index {
		for i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}
	return v, true
}

func datumOf(kind Kind, v reflect.Value) datum {
	switch kind {
	case Bool:
		if v.Bool() {
			return datum{whole: 1}
		}
		return datum{}
	case Int:
		return wholeDatum(v)
	case Float:
		return datum{float: v.Float(), null: math.IsNaN(v.Float())}
	case String:
		return datum{text: v.String()}
	case Time:
		return timeDatum(v)
	case Bytes:
		return datum{text: string(v.Bytes()), null: v.IsNil()}
	case Other:
		return datum{own: v, null: ownNull(v)}
	default:
		return datum{null: nilable(v) && v.IsNil()}
	}
}

func wholeDatum(v reflect.Value) datum {
	if v.CanInt() {
		return datum{whole: v.Int()}
	}
	if n := v.Uint(); n > math.MaxInt64 {
		return datum{whole: math.MaxInt64, big: n}
	}
	return datum{whole: int64(v.Uint())} //nolint:gosec // the bound was just checked
}

func timeDatum(v reflect.Value) datum {
	var at time.Time
	if v.Type() == timeType {
		at, _ = reflect.TypeAssert[time.Time](v)
	} else {
		at, _ = reflect.TypeAssert[time.Time](v.Convert(timeType))
	}
	return datum{whole: at.UnixMicro()}
}

// ownNull reports whether the database form of the value is null.
func ownNull(v reflect.Value) bool {
	valuer, ok := reflect.TypeAssert[driver.Valuer](v)
	if !ok {
		return nilable(v) && v.IsNil()
	}
	form, err := valuer.Value()
	return err == nil && form == nil
}

func nilable(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Interface, reflect.Pointer, reflect.Func, reflect.Chan:
		return true
	default:
		return false
	}
}

// compare orders two data of f; neither may be null.
func (f *Field) compare(a, b *datum) int {
	switch f.Kind {
	case Bool, Int, Time:
		if c := cmp.Compare(a.whole, b.whole); c != 0 {
			return c
		}
		return cmp.Compare(a.big, b.big)
	case Float:
		return cmp.Compare(a.float, b.float)
	case String, Bytes:
		return strings.Compare(a.text, b.text)
	case Other:
		return f.compareOwn(a.own, b.own)
	default:
		return 0
	}
}

func compareBytes(a, b reflect.Value) int {
	for i := range a.Len() {
		if c := cmp.Compare(a.Index(i).Uint(), b.Index(i).Uint()); c != 0 {
			return c
		}
	}
	return 0
}

// compareOwn orders values of a type with its own Compare or of 16 bytes. Values of other
// types are only equal (0) or not (1).
func (f *Field) compareOwn(a, b reflect.Value) int {
	if f.scalar.compare >= 0 {
		return int(a.Method(f.scalar.compare).Call([]reflect.Value{b})[0].Int())
	}
	if f.scalar.bytes {
		return compareBytes(a, b)
	}
	if a.Comparable() && b.Comparable() {
		if a.Equal(b) {
			return 0
		}
		return 1
	}
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return 0
	}
	return 1
}

// sort orders two data; null is the smallest.
func (f *Field) sort(a, b *datum) int {
	switch {
	case a.null && b.null:
		return 0
	case a.null:
		return -1
	case b.null:
		return 1
	default:
		return f.compare(a, b)
	}
}
