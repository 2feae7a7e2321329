package maptx

import "reflect"

// clone returns a copy that shares no memory with the value, so that a transition which changes what it has read
// writes nothing by that.
func clone[T any](value T) T {
	own(reflect.ValueOf(&value).Elem())
	return value
}

// own replaces everything that v refers to by copies. It leaves unexported fields alone: those of a [time.Time].
func own(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(v.Elem())
			own(p.Elem())
			v.Set(p)
		}
	case reflect.Slice:
		if !v.IsNil() {
			s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(s, v)
			v.Set(s)
			for i := 0; i < v.Len() && holdsMore(v.Type().Elem()); i++ {
				own(v.Index(i))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			m := reflect.MakeMap(v.Type())
			for _, key := range v.MapKeys() {
				m.SetMapIndex(key, v.MapIndex(key))
			}
			v.Set(m)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				own(field)
			}
		}
	default:
	}
}

// holdsMore reports whether a value of the type may refer to memory outside of itself.
func holdsMore(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Struct:
		return true
	default:
		return false
	}
}
