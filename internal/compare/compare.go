// Package compare compares two values of package spool and prints them. It is for tests, but does not
// import package testing.
package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

var (
	timeType = reflect.TypeFor[time.Time]()
	jsonType = reflect.TypeFor[json.RawMessage]()
)

// Equal reports whether a store returned the value that it was given. A time equals the same instant in
// another time zone, JSON equals the same JSON with another formatting, and an empty slice equals a nil
// slice.
func Equal(a, b any) bool { return equalValues(reflect.ValueOf(a), reflect.ValueOf(b)) }

func equalValues(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	if !a.IsValid() {
		return true
	}
	switch a.Type() {
	case timeType:
		return asTime(a).Equal(asTime(b))
	case jsonType:
		return bytes.Equal(Canonical(a.Bytes()), Canonical(b.Bytes()))
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equalValues(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equalValues(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for _, key := range a.MapKeys() {
			if !b.MapIndex(key).IsValid() || !equalValues(a.MapIndex(key), b.MapIndex(key)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if !equalValues(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	default:
		return a.Equal(b)
	}
}

// Joined returns the names of elements in one string. It is for tests in which each name is one letter.
func Joined[T any, S ~string](all []T, name func(T) S) string {
	var b strings.Builder
	for _, v := range all {
		b.WriteString(string(name(v)))
	}
	return b.String()
}

// Spaced returns the names of elements, separated by spaces.
func Spaced[T any, S ~string](all []T, name func(T) S) string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = string(name(v))
	}
	return strings.Join(names, " ")
}

func asTime(v reflect.Value) time.Time {
	t, _ := reflect.TypeAssert[time.Time](v)
	return t
}

// Canonical returns JSON in a canonical form: equal JSON has equal bytes.
func Canonical(b []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return b
	}
	out, err := json.Marshal(v)
	if err != nil {
		return b
	}
	return out
}

// Dump prints a value including the values behind its pointers, with a line for each field or element
// that is not zero.
func Dump(v any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(v), "\n")
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value, indent string) {
	switch {
	case !v.IsValid():
		b.WriteString("nil")
	case v.Type() == timeType, v.Type() == jsonType:
		fmt.Fprintf(b, "%s", v.Interface())
	case v.Kind() == reflect.Pointer && !v.IsNil():
		dumpValue(b, v.Elem(), indent)
	case v.Kind() == reflect.Slice:
		fmt.Fprintf(b, "%d elements", v.Len())
		for i := range v.Len() {
			fmt.Fprintf(b, "%s  %d ", indent, i)
			dumpValue(b, v.Index(i), indent+"  ")
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				fmt.Fprintf(b, "%s  %s ", indent, v.Type().Field(i).Name)
				dumpValue(b, v.Field(i), indent+"  ")
			}
		}
	default:
		fmt.Fprintf(b, "%v", v.Interface())
	}
}
