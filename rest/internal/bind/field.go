package bind

import (
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// field reads one parameter into one field of a struct.
type field struct {
	name     string
	in       string
	offset   uintptr
	required bool
	comma    bool

	wrap     wrapper
	list     *list  // nil when the value is one scalar
	scalar   scalar // of the value, or of each item
	file     *fileRule
	fallback []string // the texts of the default; nil when there is none
}

// wrapper is how a field holds its value.
type wrapper struct {
	elem   reflect.Type  // what a pointer points to; nil when the field is no pointer
	some   reflect.Value // an Opt that is set to the zero value; invalid when it is no Opt
	offset uintptr       // of the value inside that Opt
}

// open is the place of the value inside the field at a, which from then on is present.
func (w *wrapper) open(a place) place {
	switch {
	case w.elem != nil:
		return a.allocate(w.elem)
	case w.some.IsValid():
		a.value(w.some.Type()).Set(w.some)
		return a.at(w.offset)
	default:
		return a
	}
}

// list is what is known of a list as a whole.
type list struct {
	typ      reflect.Type
	size     uintptr // of an item
	min, max int     // -1 when there is none
	unique   bool
}

// bind reads the parameter into the field at a.
func (f *field) bind(in *Input, a place, faults []fault.Fault) []fault.Fault {
	switch f.in {
	case fault.Path:
		return f.set(a, in.path.PathValue(f.name), faults)
	case fault.Query:
		return f.bindPairs(in.pairs(), a, faults)
	case fault.Form:
		return f.bindPairs(in.form, a, faults)
	case fault.Header:
		return f.bindTexts(headerTexts(in.request, f.name), a, faults)
	case fault.Cookie:
		return f.bindCookies(in.request.CookiesNamed(f.name), a, faults)
	default:
		return f.bindFiles(in.files[f.name], a, faults)
	}
}

// headerTexts are the lines of a header. The host is moved out of the header by net/http.
func headerTexts(r *http.Request, name string) []string {
	if name == "Host" && r.Host != "" {
		return []string{r.Host}
	}

	return r.Header[name]
}

func (f *field) bindPairs(pairs []pair, a place, faults []fault.Fault) []fault.Fault {
	first, n := find(pairs, f.name)

	switch {
	case n == 0:
		return f.absent(a, faults)
	case f.list == nil && n > 1:
		return append(faults, repeated(f.in, f.name))
	case f.list == nil && first.bad:
		return faults // reported with the query string
	case f.list == nil:
		return f.set(a, first.text, faults)
	}

	texts := make([]string, 0, n)
	for i := range pairs {
		if pairs[i].name == f.name && !pairs[i].bad {
			texts = f.split(texts, &pairs[i])
		}
	}

	return f.setList(a, texts, faults)
}

// split appends the items of one pair. A comma that was sent as an escape belongs to its
// item, so what was sent is split before it is decoded.
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

// bindTexts reads lines of a header.
func (f *field) bindTexts(lines []string, a place, faults []fault.Fault) []fault.Fault {
	switch {
	case len(lines) == 0:
		return f.absent(a, faults)
	case f.list == nil && len(lines) > 1:
		return append(faults, repeated(f.in, f.name))
	case f.list == nil:
		return f.set(a, lines[0], faults)
	case !f.comma:
		return f.setList(a, lines, faults)
	}

	var texts []string
	for _, line := range lines {
		texts = splitCommas(texts, strings.TrimSpace(line))
	}
	for i, text := range texts {
		texts[i] = strings.TrimSpace(text)
	}

	return f.setList(a, texts, faults)
}

func (f *field) bindCookies(cookies []*http.Cookie, a place, faults []fault.Fault) []fault.Fault {
	texts := make([]string, len(cookies))
	for i, cookie := range cookies {
		texts[i] = cookie.Value
	}

	return f.bindTexts(texts, a, faults)
}

// absent is a parameter that was not sent.
func (f *field) absent(a place, faults []fault.Fault) []fault.Fault {
	if f.required {
		return append(faults, fault.Missing(f.in, []any{f.name}))
	}
	if f.fallback == nil {
		return faults
	}

	// A default is parsed anew for each request, so that no two requests share a list, a
	// pointer or what a type of the program keeps inside. It met its limits at registration.
	a = f.wrap.open(a)
	if f.list == nil {
		f.scalar.parse(a, f.fallback[0])
		return faults
	}

	items := a.grow(f.list.typ, len(f.fallback))
	for i, text := range f.fallback {
		f.scalar.parse(items.item(i, f.list.size), text)
	}

	return faults
}

// set stores one text in the field at a.
func (f *field) set(a place, text string, faults []fault.Fault) []fault.Fault {
	a = f.wrap.open(a)

	if bad := f.scalar.parse(a, text); bad != nil {
		return append(faults, placed(bad, f.in, f.name))
	}
	for _, check := range f.scalar.checks {
		if bad := check(a, text); bad != nil {
			faults = append(faults, placed(bad, f.in, f.name))
		}
	}

	return faults
}

// setList stores texts in the list at a.
func (f *field) setList(a place, texts []string, faults []fault.Fault) []fault.Fault {
	before := len(faults)
	a = f.wrap.open(a)

	switch n := len(texts); {
	case f.list.min >= 0 && n < f.list.min:
		return append(faults, fault.ListTooShort(f.in, []any{f.name}, f.list.min, n))
	case f.list.max >= 0 && n > f.list.max:
		return append(faults, fault.ListTooLong(f.in, []any{f.name}, f.list.max, n))
	}

	items := a.grow(f.list.typ, len(texts))
	for i, text := range texts {
		if len(faults) >= maxFaults {
			return faults
		}
		faults = f.setItem(items.item(i, f.list.size), text, i, faults)
	}

	if f.list.unique && len(faults) == before && !distinct(a.value(f.list.typ)) {
		faults = append(faults, fault.ListUnique(f.in, []any{f.name}))
	}

	return faults
}

func (f *field) setItem(a place, text string, i int, faults []fault.Fault) []fault.Fault {
	if bad := f.scalar.parse(a, text); bad != nil {
		return append(faults, placed(bad, f.in, f.name, i))
	}
	for _, check := range f.scalar.checks {
		if bad := check(a, text); bad != nil {
			faults = append(faults, placed(bad, f.in, f.name, i))
		}
	}

	return faults
}

// distinct reports whether no two items of the list are equal. Times are equal when they
// are the same instant.
func distinct(items reflect.Value) bool {
	seen := make(map[any]struct{}, items.Len())

	for _, item := range items.Seq2() {
		key := item.Interface()
		if moment, ok := key.(time.Time); ok {
			key = moment.UTC()
		}
		if _, again := seen[key]; again {
			return false
		}
		seen[key] = struct{}{}
	}

	return true
}
