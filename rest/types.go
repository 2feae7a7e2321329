package rest

import (
	"reflect"
	"runtime"
	"strings"
	"unicode"
)

// behind returns t without its pointers.
func behind(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func isNil(v any) bool {
	rv := reflect.ValueOf(v)
	switch rv.Kind() { //nolint:exhaustive // the others have no nil
	case reflect.Pointer, reflect.Map, reflect.Interface, reflect.Func:
		return rv.IsNil()
	case reflect.Invalid:
		return true
	default:
		return false
	}
}

func typeWord(v any) string {
	t := reflect.TypeOf(v)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Name() == "" {
		return "Object"
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return strings.ToUpper(name[:1]) + name[1:]
}

// fullName returns the name of a method value or function with its type and its package:
// "example.com/shop.(*Books).list".
func fullName(f any) string {
	v := reflect.ValueOf(f)
	if v.IsNil() {
		return ""
	}
	name := runtime.FuncForPC(v.Pointer()).Name()
	return strings.TrimSuffix(strings.ReplaceAll(name, "[...]", ""), "-fm")
}

// funcName returns the name of a method value or function: "list" for shop.(*Books).list-fm.
func funcName(f any) string {
	name := fullName(f)
	if name == "" {
		return ""
	}
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		name = name[at+1:]
	}
	if strings.Trim(strings.TrimPrefix(name, "func"), "0123456789") == "" {
		return "" // a function literal
	}
	return name
}

// exported returns the words of s as one exported name: "book-shops" becomes BookShops.
func exported(s string) string {
	var b strings.Builder
	up := true
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			up = true
			continue
		}
		if up {
			r = unicode.ToUpper(r)
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}

// words returns a name as a summary: "listBooks" becomes "List books".
func words(name string) string {
	var b strings.Builder
	var before rune
	for i, r := range name {
		switch {
		case i == 0:
			r = unicode.ToUpper(r)
		case r == '_':
			r = ' '
		case unicode.IsUpper(r):
			if unicode.IsLower(before) {
				b.WriteByte(' ')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}
