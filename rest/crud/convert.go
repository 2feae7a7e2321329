package crud

import (
	"encoding"
	"reflect"
	"strconv"
)

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

func through(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// convert converts a path parameter, an int64 or a string, to a value of type t. It returns
// false if t cannot hold it; then no row has that key.
func convert(t reflect.Type, from any) (reflect.Value, bool) {
	if t.Kind() == reflect.Pointer {
		inner, ok := convert(t.Elem(), from)
		if !ok {
			return inner, false
		}
		v := reflect.New(t.Elem())
		v.Elem().Set(inner)
		return v, true
	}
	v := reflect.New(t).Elem()
	n, number := from.(int64)
	text, _ := from.(string)
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok && !number {
		return v, u.UnmarshalText([]byte(text)) == nil
	}
	switch {
	case v.CanInt() || v.CanUint():
		if !number {
			parsed, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return v, false
			}
			n = parsed
		}
		return v, setNumber(v, n)
	case v.Kind() == reflect.String && !number:
		v.SetString(text)
		return v, true
	default:
		return v, false
	}
}

func setNumber(v reflect.Value, n int64) bool {
	if v.CanUint() {
		if n < 0 || v.OverflowUint(uint64(n)) {
			return false
		}
		v.SetUint(uint64(n))
		return true
	}
	if v.OverflowInt(n) {
		return false
	}
	v.SetInt(n)
	return true
}

// segmentOf returns the path parameter for a value. It is the opposite of convert.
func segmentOf(v reflect.Value) any {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return int64(v.Uint()) //nolint:gosec // a key beyond int64 has no link: no path can find it
	}
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](v); ok {
		if text, err := m.MarshalText(); err == nil {
			return string(text)
		}
	}
	if v.Kind() == reflect.String {
		return v.String()
	}
	return nil
}
