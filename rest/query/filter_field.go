package query

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/textform"
)

const (
	// maxIn is how many values the lookup in takes from a client.
	maxIn = 1000
	// maxPattern is how many bytes a client's regular expression may have.
	maxPattern = 256
)

// filterField is one parameter of a filter and its conditions.
type filterField struct {
	name    string
	index   []int
	targets []target
	op      Connector
	// method is the index of the method that makes the condition, or -1.
	method int
	// get is the index of the method Get of an Opt, or -1.
	get     int
	pointer bool
	plain   bool
}

// field compiles the conditions of one parameter.
func (s *filterStage) field(p bind.Param) (filterField, error) {
	f := filterField{name: p.Name, index: p.Index, method: -1, get: -1}
	if p.In != fault.Query {
		return f, fmt.Errorf("a filter reads the query string, not %s", p.In)
	}
	if s.custom {
		return f, nil
	}
	list := p.Type.Kind() == reflect.Slice && (p.Explode || strings.Contains(p.Field.Tag.Get("query"), ",comma"))
	f.pointer = p.Field.Type.Kind() == reflect.Pointer
	if _, ok := opt.ElemOf(p.Field.Type); ok {
		m, _ := p.Field.Type.MethodByName("Get")
		f.get = m.Index
	}
	f.plain = !p.Nullable && p.Type.Kind() != reflect.Slice
	if f.plain && p.Default == nil {
		return f, fmt.Errorf("a value of type %s is always there: make it *%s, Opt[%s] or a list, or give it a default",
			p.Field.Type, p.Field.Type, p.Field.Type)
	}
	method, err := s.method(p)
	if err != nil || method >= 0 {
		f.method = method
		return f, err
	}
	return f, s.conditions(&f, p, list)
}

// method finds the method that makes the condition of a field.
func (s *filterStage) method(p bind.Param) (int, error) {
	name := "Filter" + p.Field.Name
	m, ok := reflect.PointerTo(s.plan.Type()).MethodByName(name)
	if !ok || name == "FilterConnector" && m.Type.NumIn() == 1 {
		return -1, nil
	}
	t := m.Type
	if t.NumIn() != 2 || t.In(1) != p.Type || t.NumOut() != 1 || t.Out(0) != reflect.TypeFor[Expr]() {
		return -1, fmt.Errorf("method %s is %s, and has to be func(%s) query.Expr", name, t, p.Type)
	}
	return m.Index, nil
}

// filterFormat is the format of the column that a field of a filter is compared with: a
// column of dates is asked for by a date.
func (m *Model) filterFormat(f reflect.StructField, name string) string {
	tag, ok := f.Tag.Lookup("filter")
	if !ok {
		tag = name
	}
	for part := range strings.FieldsFuncSeq(tag, func(c rune) bool { return c == '|' || c == '&' }) {
		path, lookup, _ := strings.Cut(strings.TrimSpace(part), ",")
		if strings.HasPrefix(path, "__") {
			path = name + path
		}
		t, err := m.target(path, Lookup(strings.TrimSpace(lookup)))
		if err != nil || t.part != Whole || t.column.Field == nil || textform.OfField(f.Type, t.column.Field.Format) == textform.None {
			continue // what is wrong is said where the conditions are made
		}
		return t.column.Field.Format
	}
	return ""
}

// conditions reads the tag filter.
func (s *filterStage) conditions(f *filterField, p bind.Param, list bool) error {
	tag, ok := p.Field.Tag.Lookup("filter")
	if !ok {
		tag = p.Name
	}
	separator := "|"
	f.op = AnyOf
	if strings.Contains(tag, "&") {
		separator, f.op = "&", AllOf
		if strings.Contains(tag, "|") {
			return errors.New("a tag has both | and &")
		}
	}
	for part := range strings.SplitSeq(tag, separator) {
		path, lookup, _ := strings.Cut(strings.TrimSpace(part), ",")
		if strings.HasPrefix(path, "__") {
			path = p.Name + path
		}
		t, err := s.model.target(path, Lookup(strings.TrimSpace(lookup)))
		if err != nil {
			return err
		}
		if err := s.fits(t, p.Type, list); err != nil {
			return err
		}
		f.targets = append(f.targets, t)
	}
	return nil
}

// fits checks the type of a parameter against what it is compared with.
func (s *filterStage) fits(t target, typ reflect.Type, list bool) error {
	path, value := t.column.Path(), typ
	switch {
	case t.lookup.regex() && !s.config.regex:
		return fmt.Errorf("lookup %q lets a client write patterns: allow it with query.AllowRegex", t.lookup)
	case t.lookup.list() && !list:
		return fmt.Errorf("lookup %q takes a list, and the field is %s", t.lookup, typ)
	case !t.lookup.list() && list:
		return fmt.Errorf("lookup %q takes one value, and the field is a list (use the lookup in)", t.lookup)
	case list:
		value = typ.Elem()
	}
	var ok bool
	switch {
	case t.lookup == IsNull:
		ok = value.Kind() == reflect.Bool
	case t.part == Date:
		ok = value.Kind() == reflect.String || (&Field{Kind: Time}).accepts(value)
	case t.part != Whole:
		ok = isWhole(value)
	default:
		ok = t.column.Field.accepts(value)
	}
	if ok {
		return nil
	}
	if t.lookup == IsNull || t.part != Whole {
		return fmt.Errorf("%s with %q cannot be compared with %s", path, word(t), value)
	}
	return fmt.Errorf("%s is %s, and cannot be compared with %s", path, t.column.Field.Type, value)
}

func word(t target) string {
	if t.part != Whole {
		return string(t.part)
	}
	return string(t.lookup)
}

// read returns the value that was sent, and false when there is none.
func (f *filterField) read(filter reflect.Value) (reflect.Value, bool) {
	v := filter.FieldByIndex(f.index)
	switch {
	case f.get >= 0:
		got := v.Method(f.get).Call(nil)
		return got[0], got[1].Bool()
	case f.pointer:
		return v.Elem(), !v.IsNil()
	case f.plain:
		return v, true
	default:
		return v, !v.IsNil()
	}
}

// predicate binds a value to the conditions.
func (f *filterField) predicate(v reflect.Value) (Predicate, []fault.Fault) {
	at := []any{f.name}
	items := make([]Predicate, len(f.targets))
	for i, t := range f.targets {
		if fs := t.bounds(at, v); len(fs) > 0 {
			return nil, fs
		}
		values, err := t.values(v)
		if err != nil {
			return nil, []fault.Fault{fault.Value(fault.Query, at, "cannot be compared: "+err.Error())}
		}
		items[i] = t.bind(values)
	}
	return joinPredicates(f.op, items), nil
}

// bounds checks what a client may ask for.
func (t target) bounds(at []any, v reflect.Value) []fault.Fault {
	switch {
	case t.lookup == In && v.Len() > maxIn:
		return []fault.Fault{fault.ListTooLong(fault.Query, at, maxIn, v.Len())}
	case t.lookup == Range && v.Len() < 2:
		return []fault.Fault{fault.ListTooShort(fault.Query, at, 2, v.Len())}
	case t.lookup == Range && v.Len() > 2:
		return []fault.Fault{fault.ListTooLong(fault.Query, at, 2, v.Len())}
	case t.lookup.regex():
		return patternFaults(at, v.String())
	default:
		return nil
	}
}

func patternFaults(at []any, text string) []fault.Fault {
	if len(text) > maxPattern {
		return []fault.Fault{fault.TooLong(fault.Query, at, maxPattern)}
	}
	if _, err := regexp.Compile(text); err != nil {
		return []fault.Fault{fault.Value(fault.Query, at, "must be a regular expression")}
	}
	return nil
}
