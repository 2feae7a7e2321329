package comment

import (
	"reflect"
	"strings"
)

// OfField is the tag with the [Key] of the field whose comment describes this one.
const OfField = "docOf"

// Key is the name of a field in a table: "example.com/shop.Book.Title". It is empty for a struct without a name,
// unless the field has the tag [OfField].
func Key(in reflect.Type, f reflect.StructField) string {
	if of, ok := f.Tag.Lookup(OfField); ok {
		return of
	}
	if in == nil || in.Name() == "" {
		return ""
	}
	name, _, _ := strings.Cut(in.Name(), "[")
	return in.PkgPath() + "." + name + "." + f.Name
}

// Owner returns the struct that declares the field of t at the index: t, or a struct that it embeds.
func Owner(t reflect.Type, index []int) reflect.Type {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	return t
}
