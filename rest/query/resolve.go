package query

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Resolve checks e against m, and returns what a source evaluates.
func (m *Model) Resolve(e Expr) (Predicate, error) {
	if e == nil {
		return Constant(true), nil
	}
	return e.resolve(m)
}

// target is what a path with its part and lookup means for a model.
type target struct {
	column *Column
	part   Part
	lookup Lookup
}

func (c cond) resolve(m *Model) (Predicate, error) {
	t, err := m.target(c.path, c.lookup)
	if err != nil {
		return nil, err
	}
	return t.test(c.value)
}

func (g group) resolve(m *Model) (Predicate, error) {
	items := make([]Predicate, 0, len(g.exprs))
	for _, e := range g.exprs {
		if e == nil {
			continue
		}
		p, err := e.resolve(m)
		if err != nil {
			return nil, err
		}
		items = append(items, p)
	}
	return joinPredicates(g.op, items), nil
}

func (n negated) resolve(m *Model) (Predicate, error) {
	p, err := m.Resolve(n.expr)
	if err != nil {
		return nil, err
	}
	return &Negation{p}, nil
}

func joinPredicates(op Connector, items []Predicate) Predicate {
	switch len(items) {
	case 0:
		return Constant(op == AllOf)
	case 1:
		return items[0]
	default:
		return &Group{Op: op, Items: items}
	}
}

// target walks a path. The lookup is the one given, or the end of the path, or Exact.
func (m *Model) target(path string, lookup Lookup) (target, error) {
	column, rest, err := m.column(path)
	if err != nil {
		return target{}, err
	}
	t := target{column: column, lookup: lookup}
	if len(rest) > 0 && slices.Contains(parts, Part(rest[0])) {
		t.part, rest = Part(rest[0]), rest[1:]
	}
	if len(rest) > 0 && lookup == "" {
		t.lookup, rest = Lookup(rest[0]), rest[1:]
	}
	if t.lookup == "" {
		t.lookup = Exact
	}
	switch {
	case len(rest) > 0:
		return target{}, fmt.Errorf("%q goes below %s, which is a column", path, column.Path())
	case column.Field == nil && (t.lookup != IsNull || !column.Steps[len(column.Steps)-1].Many):
		return target{}, fmt.Errorf("%q ends in a relation without a key of one field: only isnull is possible", path)
	case column.Field == nil:
		return t, nil
	case !slices.Contains(lookups, t.lookup):
		return target{}, fmt.Errorf("%s is a column, and %q is no lookup of it (there are %s)", column.Path(), t.lookup, joined(lookups))
	}
	return t, t.lookup.check(column.Field, t.part)
}

// column follows path through relations to a field, and returns what is left of it.
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

// endKey is the column that stands for the relation at the end of a path. Whether a relation
// to many is null is not asked of a column.
func (c *Column) endKey(at *Model, isNull bool) *Field {
	key, many := at.Key(), c.Steps[len(c.Steps)-1].Many
	if isNull && many || len(key) == 0 || len(key) > 1 && !isNull {
		return nil
	}
	return key[0]
}

// test binds a value.
func (t target) test(value any) (Predicate, error) {
	values, err := t.values(reflect.ValueOf(value))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.column.Path(), err)
	}
	return t.bind(values), nil
}

// values converts what was given to the forms of [Test.Values].
func (t target) values(value reflect.Value) ([]any, error) {
	convert := t.converter()
	if !t.lookup.list() {
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
		return nil, fmt.Errorf("lookup %q takes a list, not %s", t.lookup, list.Type())
	}
	if t.lookup == Range && list.Len() != 2 {
		return nil, fmt.Errorf("lookup %q takes two values, not %d", t.lookup, list.Len())
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

func (t target) converter() func(reflect.Value) (any, error) {
	switch {
	case t.lookup == IsNull:
		return toBool
	case t.lookup.folds():
		return toFolded
	case t.part == Whole:
		return t.column.Field.value
	case t.part == Date:
		return toDate
	default:
		return toInt
	}
}

// bind makes the predicate: a condition on a year or a date becomes one on the time.
func (t target) bind(values []any) Predicate {
	switch {
	case t.lookup == In && len(values) == 0:
		return Constant(false)
	case t.lookup == IsNull:
		return &Test{Column: t.column, Lookup: IsNull, Values: values}
	case t.part == Year:
		return t.spans(values, yearSpan)
	case t.part == Date:
		return t.spans(values, dateSpan)
	default:
		return &Test{Column: t.column, Part: t.part, Lookup: t.lookup, Values: values}
	}
}

func foreign(have, want *Model) error {
	return fmt.Errorf("the expression is about %s, the list has %s", have, want)
}
