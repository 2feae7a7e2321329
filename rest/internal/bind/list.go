package bind

import (
	"reflect"
	"strings"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// list has the rules of a list as a whole.
type list struct {
	typ      reflect.Type
	size     uintptr // of an item
	min, max int     // -1 when there is none
	unique   bool
}

// texts returns the texts of a list from n pairs.
func (f *field) texts(pairs []pair, n int) []string {
	texts := make([]string, 0, n)
	for i := range pairs {
		if pairs[i].name == f.name && !pairs[i].bad {
			texts = f.split(texts, &pairs[i])
		}
	}

	return texts
}

// split appends the items of one pair. It splits before it decodes, because an escaped comma belongs to its
// item.
func (f *field) split(texts []string, p *pair) []string {
	if !f.comma {
		return append(texts, p.text)
	}
	if p.raw == "" {
		return splitCommas(texts, p.text)
	}

	start := len(texts)
	texts = splitCommas(texts, p.raw)
	for i := start; i < len(texts); i++ {
		texts[i] = unescape(texts[i])
	}

	return texts
}

// splitCommas appends the items of a comma-separated text. An empty text has none.
func splitCommas(texts []string, text string) []string {
	if text == "" {
		return texts
	}

	for item := range strings.SplitSeq(text, ",") {
		texts = append(texts, item)
	}

	return texts
}

// setList stores texts in the list at a.
func (f *field) setList(a place, texts []string, faults []fault.Fault) []fault.Fault {
	before := len(faults)
	a = f.wrap.open(a)

	switch n := len(texts); {
	case f.list.min >= 0 && n < f.list.min:
		faults = append(faults, fault.ListTooShort(f.in, []any{f.name}, f.list.min, n))
	case f.list.max >= 0 && n > f.list.max:
		return append(faults, fault.ListTooLong(f.in, []any{f.name}, f.list.max, n))
	}

	items := a.grow(f.list.typ, len(texts))
	for i, text := range texts {
		if len(faults) >= maxFaults {
			return faults
		}
		faults = f.setScalar(items.item(i, f.list.size), text, i, faults)
	}

	if f.list.unique && len(faults) == before && !distinct(a.value(f.list.typ)) {
		faults = append(faults, fault.ListUnique(f.in, []any{f.name}))
	}

	return faults
}

// distinct reports whether no two items of the list are equal.
func distinct(items reflect.Value) bool {
	seen := make(map[any]struct{}, items.Len())

	for i := range items.Len() {
		k := key(items.Index(i))
		if _, again := seen[k]; again {
			return false
		}
		seen[k] = struct{}{}
	}

	return true
}
