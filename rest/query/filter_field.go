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
	"github.com/spoolhq/spool/rest/query/driver"
)

const (
	// maxIn is the maximum number of values for the lookup in.
	maxIn = 1000
	// maxPattern is the maximum length of a client's regular expression in bytes.
	maxPattern = 256
)

type filterField struct {
	name    string
	index   []int
	targets []driver.Condition
	op      driver.Connector
	// method is the index of the field's FilterX method, or -1.
	method int
	// get is the index of the method Get of an Opt, or -1.
	get     int
	pointer bool
	plain   bool
}

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

// method returns the index of the method FilterX of a field, or -1 if it has none.
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

// filterFormat returns a function for the format of a filter's field: that of the column which
// the field is compared with. So a column of dates takes dates.
func filterFormat(m *driver.Model) func(f reflect.StructField, name string) string {
	return func(f reflect.StructField, name string) string {
		tag, ok := f.Tag.Lookup("filter")
		if !ok {
			tag = name
		}
		for part := range strings.FieldsFuncSeq(tag, func(c rune) bool { return c == '|' || c == '&' }) {
			c, err := conditionOf(m, part, name)
			if err != nil || c.Part != driver.Whole || c.Column.Field == nil ||
				textform.OfField(f.Type, c.Column.Field.Format) == textform.None {
				continue // conditions returns the error
			}
			return c.Column.Field.Format
		}
		return ""
	}
}

// conditionOf returns the condition of one part of the tag filter.
func conditionOf(m *driver.Model, part, name string) (driver.Condition, error) {
	path, lookup, _ := strings.Cut(strings.TrimSpace(part), ",")
	if strings.HasPrefix(path, "__") {
		path = name + path
	}
	return m.Condition(path, driver.Lookup(strings.TrimSpace(lookup)))
}

// conditions reads the tag filter into f.
func (s *filterStage) conditions(f *filterField, p bind.Param, list bool) error {
	tag, ok := p.Field.Tag.Lookup("filter")
	if !ok {
		tag = p.Name
	}
	separator := "|"
	f.op = driver.AnyOf
	if strings.Contains(tag, "&") {
		separator, f.op = "&", driver.AllOf
		if strings.Contains(tag, "|") {
			return errors.New("a tag has both | and &")
		}
	}
	for part := range strings.SplitSeq(tag, separator) {
		c, err := conditionOf(s.model, part, p.Name)
		if err != nil {
			return err
		}
		if err := s.fits(c, p.Type, list); err != nil {
			return err
		}
		f.targets = append(f.targets, c)
	}
	return nil
}

// fits returns an error if a parameter of the type cannot be compared as c says.
func (s *filterStage) fits(c driver.Condition, typ reflect.Type, list bool) error {
	switch {
	case isRegex(c.Lookup) && !s.regex:
		return fmt.Errorf("lookup %q lets a client write patterns: allow it with AllowRegex", c.Lookup)
	case c.Lookup.TakesList() && !list:
		return fmt.Errorf("lookup %q takes a list, and the field is %s", c.Lookup, typ)
	case !c.Lookup.TakesList() && list:
		return fmt.Errorf("lookup %q takes one value, and the field is a list (use the lookup in)", c.Lookup)
	case list:
		typ = typ.Elem()
	}
	return c.Takes(typ)
}

func isRegex(l driver.Lookup) bool { return l == driver.Regex || l == driver.IRegex }

// read returns the field's value, and false if the parameter was not sent.
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

// predicate returns the conditions of the field with the value.
func (f *filterField) predicate(v reflect.Value) (driver.Predicate, []fault.Fault) {
	at := []any{f.name}
	items := make([]driver.Predicate, len(f.targets))
	for i, t := range f.targets {
		if fs := bounds(t.Lookup, at, v); len(fs) > 0 {
			return nil, fs
		}
		values, err := t.Values(v)
		if err != nil {
			return nil, []fault.Fault{fault.Value(fault.Query, at, "cannot be compared: "+err.Error())}
		}
		items[i] = t.Bind(values)
	}
	return driver.Join(f.op, items), nil
}

// bounds returns the faults of a value that exceeds the limits for clients.
func bounds(l driver.Lookup, at []any, v reflect.Value) []fault.Fault {
	switch {
	case l == driver.In && v.Len() > maxIn:
		return []fault.Fault{fault.ListTooLong(fault.Query, at, maxIn, v.Len())}
	case l == driver.Range && v.Len() < 2:
		return []fault.Fault{fault.ListTooShort(fault.Query, at, 2, v.Len())}
	case l == driver.Range && v.Len() > 2:
		return []fault.Fault{fault.ListTooLong(fault.Query, at, 2, v.Len())}
	case isRegex(l):
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
