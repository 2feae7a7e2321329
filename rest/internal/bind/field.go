package bind

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// field reads one parameter into one field of a struct.
type field struct {
	name     string
	key      string // the canonical name of a header
	in       string
	offset   uintptr
	required bool
	comma    bool
	json     bool // the program decodes the text; see [Plan.Open]

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

// open returns the place of the value inside the field at a, and makes the value present.
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

// bind reads the parameter into the field at a.
func (f *field) bind(in *Input, a place, faults []fault.Fault) []fault.Fault {
	switch f.in {
	case fault.Path:
		return f.set(a, in.path.PathValue(f.name), faults)
	case fault.Query:
		if in.loose {
			return f.bindLoose(f.looseTexts(in.pairs()), a, faults)
		}
		return f.bindPairs(in.pairs(), a, faults)
	case fault.Form:
		return f.bindForm(in, a, faults)
	case fault.Header:
		lines := headerTexts(in.request, f.key)
		if in.loose && f.list == nil {
			return f.bindLoose(lines, a, faults)
		}
		return f.bindTexts(lines, a, faults)
	case fault.Cookie:
		return f.bindCookies(in.request.CookiesNamed(f.name), a, faults)
	default:
		return f.bindFiles(in.files[f.name], a, faults)
	}
}

// headerTexts returns the lines of a header. It also finds Host, which net/http moves out of the header.
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

	return f.setList(a, f.texts(pairs, n), faults)
}

// bindForm reads a field of a form. A browser sends every input of a form, so an empty number, date or other
// value that is no text counts as absent.
func (f *field) bindForm(in *Input, a place, faults []fault.Fault) []fault.Fault {
	switch {
	case f.json:
		return f.checkPart(in, faults)
	case in.loose:
		return f.bindLoose(f.looseTexts(in.form), a, faults)
	case f.scalar.typ.Kind() == reflect.String:
		return f.bindPairs(in.form, a, faults)
	}

	filled := make([]pair, 0, len(in.form))
	for _, p := range in.form {
		if p.name == f.name && (p.text != "" || p.bad) {
			filled = append(filled, p)
		}
	}

	return f.bindPairs(filled, a, faults)
}

// checkPart checks that a part of JSON is there, once at most.
func (f *field) checkPart(in *Input, faults []fault.Fault) []fault.Fault {
	_, n := find(in.form, f.name)
	switch n += len(in.files[f.name]); {
	case n > 1:
		return append(faults, repeated(f.in, f.name))
	case n == 0 || !in.hasPart(f.name):
		return f.absent(place{}, faults)
	}

	return faults
}

// looseTexts returns the texts of a query parameter in their order. The texts of malformed pairs are empty.
func (f *field) looseTexts(pairs []pair) []string {
	first, n := find(pairs, f.name)
	switch {
	case n == 0:
		return nil
	case f.list == nil:
		return []string{first.text}
	}

	return f.texts(pairs, n)
}

// bindLoose reads the first text, or for a list all texts that are not empty. See [Input.Tolerate].
func (f *field) bindLoose(texts []string, a place, faults []fault.Fault) []fault.Fault {
	if f.list == nil {
		texts = texts[:min(len(texts), 1)]
	}
	var plain []string
	for _, text := range texts {
		if text != "" {
			plain = append(plain, strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD"))
		}
	}

	switch {
	case len(plain) == 0:
		return f.absent(a, faults)
	case f.list == nil:
		return f.set(a, plain[0], faults)
	}

	return f.setList(a, plain, faults)
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

// absent handles a parameter that was not sent.
func (f *field) absent(a place, faults []fault.Fault) []fault.Fault {
	if f.required {
		return append(faults, fault.Missing(f.in, []any{f.name}))
	}
	if f.fallback == nil {
		return faults
	}

	// A default is parsed again for each request, so that requests do not share a list, a pointer or the
	// inside of a program's type. Registration has checked it against its limits.
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
	return f.setScalar(f.wrap.open(a), text, -1, faults)
}

// setScalar stores the i-th item of a list, or for -1 the only value, at a.
func (f *field) setScalar(a place, text string, i int, faults []fault.Fault) []fault.Fault {
	if bad := f.scalar.parse(a, text); bad != nil {
		return append(faults, f.placed(f.scalar.limited(bad, text), i))
	}
	for _, check := range f.scalar.checks {
		if bad := check(a, text); bad != nil {
			faults = append(faults, f.placed(bad, i))
		}
	}

	return faults
}

func (f *field) placed(bad *fault.Fault, i int) fault.Fault {
	if i < 0 {
		return placed(bad, f.in, f.name)
	}

	return placed(bad, f.in, f.name, i)
}
