package driver

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Resolve checks e against m and returns the predicate for a source. A nil e is true.
func (m *Model) Resolve(e Expr) (Predicate, error) {
	if e == nil {
		return Constant(true), nil
	}
	return e.Resolve(m)
}

// Condition is a path with its part and lookup, resolved for a model: a [Test] without values.
type Condition struct {
	Column *Column
	Part   Part
	Lookup Lookup
}

// On returns an expression that compares the column at the end of a path with a value. The
// path may end in a part of a time. If lookup is empty, the path may also end in a lookup.
func On(path string, lookup Lookup, value any) Expr { return cond{path, lookup, value} }

type cond struct {
	path   string
	lookup Lookup
	value  any
}

func (c cond) Resolve(m *Model) (Predicate, error) {
	found, err := m.Condition(c.path, c.lookup)
	if err != nil {
		return nil, err
	}
	return found.test(c.value)
}

// Join joins predicates. None of them may be nil.
func Join(op Connector, items []Predicate) Predicate {
	switch len(items) {
	case 0:
		return Constant(op == AllOf)
	case 1:
		return items[0]
	default:
		return &Group{Op: op, Items: items}
	}
}

// Condition resolves a path. The lookup is the given one, or that at the end of the path, or
// [Exact].
func (m *Model) Condition(path string, lookup Lookup) (Condition, error) {
	column, rest, err := m.column(path)
	if err != nil {
		return Condition{}, err
	}
	c := Condition{Column: column, Lookup: lookup}
	if len(rest) > 0 && slices.Contains(parts, Part(rest[0])) {
		c.Part, rest = Part(rest[0]), rest[1:]
	}
	if len(rest) > 0 && lookup == "" {
		c.Lookup, rest = Lookup(rest[0]), rest[1:]
	}
	if c.Lookup == "" {
		c.Lookup = Exact
	}
	switch {
	case len(rest) > 0:
		return Condition{}, fmt.Errorf("%q goes below %s, which is a column", path, column.Path())
	case column.Field == nil && (c.Lookup != IsNull || !column.Steps[len(column.Steps)-1].Many):
		return Condition{}, fmt.Errorf("%q ends in a relation without a key of one field: only isnull is possible", path)
	case column.Field == nil:
		return c, nil
	case !slices.Contains(lookups, c.Lookup):
		return Condition{}, fmt.Errorf("%s is a column, and %q is no lookup of it (there are %s)", column.Path(), c.Lookup,
			joined(lookups))
	}
	return c, c.Lookup.check(column.Field, c.Part)
}

// column follows a path through relations to a field. It returns the column and the rest of
// the path.
func (m *Model) column(path string) (*Column, []string, error) {
	names := strings.Split(strings.ReplaceAll(path, ".", "__"), "__")
	c := &Column{Model: m}
	at := m
	for len(names) > 0 {
		if f := at.Field(names[0]); f != nil {
			c.Field = f
			return c, names[1:], nil
		}
		rel := at.Relation(names[0])
		if rel == nil {
			break
		}
		c.Steps = append(c.Steps, rel)
		at, names = rel.Model(), names[1:]
	}
	if len(c.Steps) == 0 || len(names) > 0 && !slices.Contains(lookups, Lookup(names[0])) {
		name := ""
		if len(names) > 0 {
			name = names[0]
		}
		return nil, nil, fmt.Errorf("%s has no field %q (there are %s)", at, name, strings.Join(at.Names(), ", "))
	}
	c.Field = c.endKey(at, len(names) > 0 && Lookup(names[0]) == IsNull)
	return c, names, nil
}

// endKey returns the key field for a path that ends in a relation, or nil if there is no
// single key. Whether a to-many relation is null does not depend on a column, so that is nil
// too.
func (c *Column) endKey(at *Model, isNull bool) *Field {
	key, many := at.Key(), c.Steps[len(c.Steps)-1].Many
	if isNull && many || len(key) == 0 || len(key) > 1 && !isNull {
		return nil
	}
	return key[0]
}

// test returns the condition with a value.
func (c Condition) test(value any) (Predicate, error) {
	values, err := c.Values(reflect.ValueOf(value))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Column.Path(), err)
	}
	return c.Bind(values), nil
}

// Takes returns an error unless values of type t can be compared with the column.
func (c Condition) Takes(t reflect.Type) error {
	path := c.Column.Path()
	var ok bool
	word := string(c.Part)
	switch {
	case c.Lookup == IsNull:
		ok = t.Kind() == reflect.Bool
		if c.Part == Whole {
			word = string(IsNull)
		}
	case c.Part == Whole:
		if !c.Column.Field.accepts(t) {
			return fmt.Errorf("%s is %s, and cannot be compared with %s", path, c.Column.Field.Type, t)
		}
		return nil
	case c.Part == Date:
		ok = t.Kind() == reflect.String || (&Field{Kind: Time}).accepts(t)
	default:
		ok = isWhole(t)
	}
	if !ok {
		return fmt.Errorf("%s with %q cannot be compared with %s", path, word, t)
	}
	return nil
}

// Values converts a value to the forms of [Test.Values].
func (c Condition) Values(value reflect.Value) ([]any, error) {
	convert := func(v reflect.Value) (any, error) {
		v, err := concrete(v)
		if err != nil {
			return nil, err
		}
		return c.convert(v)
	}
	if !c.Lookup.TakesList() {
		v, err := convert(value)
		if err != nil {
			return nil, err
		}
		return []any{v}, nil
	}
	list, err := concrete(value)
	if err != nil {
		return nil, err
	}
	if list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
		return nil, fmt.Errorf("lookup %q takes a list, not %s", c.Lookup, list.Type())
	}
	if c.Lookup == Range && list.Len() != 2 {
		return nil, fmt.Errorf("lookup %q takes two values, not %d", c.Lookup, list.Len())
	}
	values := make([]any, list.Len())
	for i := range values {
		v, err := convert(list.Index(i))
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

func (c Condition) convert(v reflect.Value) (any, error) {
	switch {
	case c.Lookup == IsNull:
		return toBool(v)
	case c.Lookup.folds():
		return toFolded(v)
	case c.Part == Whole:
		return c.Column.Field.value(v)
	case c.Part == Date:
		return toDate(v)
	default:
		return toInt(v)
	}
}

// Bind returns the condition with values. A condition on a year or date becomes one on the
// time.
func (c Condition) Bind(values []any) Predicate {
	switch {
	case c.Lookup == In && len(values) == 0:
		return Constant(false)
	case c.Lookup == IsNull:
		return &Test{Column: c.Column, Lookup: IsNull, Values: values}
	case c.Part == Year:
		return c.spans(values, yearSpan)
	case c.Part == Date:
		return c.spans(values, dateSpan)
	default:
		return &Test{Column: c.Column, Part: c.Part, Lookup: c.Lookup, Values: values}
	}
}

func foreign(have, want *Model) error {
	return fmt.Errorf("the expression is about %s, the list has %s", have, want)
}
