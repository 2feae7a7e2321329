package spooltest

import (
	"reflect"
	"slices"
	"time"
)

// full reports each field of a value that is zero, except those that are named: a field that a round trip does not
// fill could be lost by a store without a failure. It looks into structs and pointers to them, not into lists.
func (s *storeTest) full(value any, except ...string) {
	s.Helper()
	for _, path := range emptyFields(reflect.ValueOf(value), "") {
		if !slices.Contains(except, path) {
			s.Errorf("the test gives %T no %s: add it", value, path)
		}
	}
}

// emptyFields returns the paths of the fields that are zero, without those below a field that is zero itself. The
// fields of an embedded struct have no path of their own.
func emptyFields(v reflect.Value, at string) (paths []string) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() {
		return nil
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		path := at + "." + field.Name
		switch {
		case field.Anonymous:
			path = at
		case !field.IsExported():
			continue
		}
		if v.Field(i).IsZero() {
			paths = append(paths, path)
			continue
		}
		paths = append(paths, emptyFields(v.Field(i), path)...)
	}
	return paths
}
