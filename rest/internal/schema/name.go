package schema

import (
	"fmt"
	"path"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// namer gives each type its own valid component name. The names are the same whenever the same types are
// described in the same order.
type namer struct {
	given  map[reflect.Type]string
	choose func(name string, t reflect.Type) string
	names  map[reflect.Type]string
	usual  map[reflect.Type]string // the names without choose
	made   map[string]string       // the names of components without a type, by their usual ones
	taken  map[string]bool
}

func newNamer() *namer {
	return &namer{
		names: map[reflect.Type]string{}, usual: map[reflect.Type]string{}, made: map[string]string{},
		taken: map[string]bool{},
	}
}

// NameBy sets the function that chooses names, by the usual name and the type, which is nil for a component
// that was made by hand. Call it before any type is described.
func (r *Registry) NameBy(choose func(name string, t reflect.Type) string) { r.namer.choose = choose }

// chosen returns the name for a component that is usually called name. It panics if the program chooses a
// name that is not valid, or that of another component.
func (n *namer) chosen(name string, t reflect.Type) string {
	if n.choose == nil {
		return name
	}
	own := n.choose(name, t)
	switch {
	case own == "" || own == name:
		return name
	case title(own) != strings.ToUpper(own[:1])+own[1:]:
		panic(mistake{
			fmt.Errorf(
				"schema: %q, for %s, is no name of a component: it has characters other than letters, digits, '.', '-' and '_'",
				own, name,
			),
		})
	case n.taken[own]:
		panic(mistake{fmt.Errorf("schema: the name %q, for %s, is that of another component", own, name)})
	}

	return own
}

// NameTypes sets the component names of types. Call it before any type is described.
func (r *Registry) NameTypes(names map[reflect.Type]string) { r.namer.given = names }

// name returns the name of a struct type. hint names a type without a name.
//
// The first type with a name gets the bare name. For the next type, the name of its package comes first,
// which is mostly enough to tell them apart, and then more of its path.
func (n *namer) name(t reflect.Type, hint string) string {
	if name, ok := n.names[t]; ok {
		return name
	}

	usual := n.free(t, hint)
	name := usual
	if n.given[t] != usual {
		name = n.chosen(usual, t)
	}
	n.names[t], n.taken[name] = name, true
	n.usual[t] = usual

	return name
}

func (n *namer) free(t reflect.Type, hint string) string {
	if name := n.given[t]; name != "" && !n.taken[name] {
		return name
	}
	full := t.Name()
	if full == "" {
		full = hint
	}

	base := readable(full, func(string) string { return "" })
	if base == "" {
		base = "Anonymous"
	}
	if t.Name() != "" {
		last := func(pkg string) string { return title(path.Base(pkg)) }
		whole := func(pkg string) string { return readable(strings.ReplaceAll(pkg, "/", "["), nil) }

		for _, name := range []string{
			base,
			readable(full, last),
			readable(t.PkgPath()+"."+full, last),
			readable(t.PkgPath()+"."+full, whole),
		} {
			if !n.taken[name] {
				return name
			}
		}
	}

	for name, i := base, 1; ; i++ {
		if !n.taken[name] {
			return name
		}
		name = base + strconv.Itoa(i+1)
	}
}

// readable turns a type's name into a component name: Page[example.com/shop.Book] becomes PageBook, with the
// text of prefix for each package before its type.
func readable(name string, prefix func(pkg string) string) string {
	name = strings.ReplaceAll(name, "[]", "List[")

	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(c rune) bool { return strings.ContainsRune("[]*,{}; \"", c) }) {
		slash := strings.LastIndexByte(part, '/') + 1
		if dot := strings.LastIndexByte(part[slash:], '.'); dot >= 0 && prefix != nil {
			_, _ = b.WriteString(prefix(part[:slash+dot]))
			part = part[slash+dot+1:]
		}
		_, _ = b.WriteString(title(part))
	}

	return b.String()
}

// title returns a word with an upper case first letter, and without characters that a name may not have.
func title(word string) string {
	word = strings.Map(func(c rune) rune {
		switch {
		case c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)) || c == '_' || c == '-' || c == '.':
			return c
		case c == '·':
			return -1
		}

		return '_'
	}, word)
	if word == "" {
		return ""
	}

	return strings.ToUpper(word[:1]) + word[1:]
}
