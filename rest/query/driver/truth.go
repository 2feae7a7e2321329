package driver

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest/query/internal/fold"
)

// truth is a value of three-valued logic. In this order, AND is the minimum and OR the
// maximum.
type truth int8

const (
	no      truth = -1
	unknown truth = 0
	yes     truth = 1
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// matcher returns the truth of a condition for one row, which is a struct.
type matcher func(row reflect.Value) truth

func matcherOf(p Predicate) (matcher, error) {
	switch p := p.(type) {
	case Constant:
		return func(reflect.Value) truth { return truthOf(bool(p)) }, nil
	case *Negation:
		item, err := matcherOf(p.Item)
		return func(row reflect.Value) truth { return -item(row) }, err
	case *Group:
		items := make([]matcher, len(p.Items))
		for i, item := range p.Items {
			m, err := matcherOf(item)
			if err != nil {
				return nil, err
			}
			items[i] = m
		}
		return joinMatchers(p.Op, items), nil
	case *Test:
		return p.matcher()
	default:
		return func(reflect.Value) truth { return yes }, nil
	}
}

func joinMatchers(op Connector, items []matcher) matcher {
	switch op {
	case AllOf:
		return func(row reflect.Value) truth {
			result := yes
			for _, m := range items {
				if result = min(result, m(row)); result == no {
					break
				}
			}
			return result
		}
	case AnyOf:
		return func(row reflect.Value) truth {
			result := no
			for _, m := range items {
				if result = max(result, m(row)); result == yes {
					break
				}
			}
			return result
		}
	default:
		return func(row reflect.Value) truth {
			result := no
			for _, m := range items {
				// Equal truths give no, different ones yes, and an unknown gives unknown,
				// which is 0.
				result = -result * m(row)
			}
			return result
		}
	}
}

func (t *Test) matcher() (matcher, error) {
	steps := t.Column.Steps
	if t.Column.Field == nil {
		last, want := steps[len(steps)-1], t.Values[0] == true
		none := func(row reflect.Value) truth {
			found := false
			each(row, last, func(reflect.Value) bool {
				found = true
				return false
			})
			return truthOf(!found == want)
		}
		return walk(steps[:len(steps)-1], none, truthOf(want)), nil
	}
	check, err := t.check()
	if err != nil {
		return nil, err
	}
	end := func(row reflect.Value) truth { return check(t.Column.Field.read(row)) }
	return walk(steps, end, check(datum{null: true})), nil
}

// walk applies end to the row at the end of the steps. For a to-many step, any related row may
// match. If there is no row for a to-one relation, the result is the argument missing, or no
// if a to-many step follows.
func walk(steps []*Relation, end matcher, missing truth) matcher {
	if len(steps) == 0 {
		return end
	}
	rel, next := steps[0], walk(steps[1:], end, missing)
	if !rel.Many {
		if slices.ContainsFunc(steps[1:], func(r *Relation) bool { return r.Many }) {
			missing = no
		}
		return func(row reflect.Value) truth {
			if one, ok := follow(row, rel); ok {
				return next(one)
			}
			return missing
		}
	}
	return func(row reflect.Value) truth {
		result := no
		each(row, rel, func(item reflect.Value) bool {
			if next(item) == yes {
				result = yes
			}
			return result != yes
		})
		return result
	}
}

// follow returns the struct of a to-one relation, and false if it is missing.
func follow(row reflect.Value, rel *Relation) (reflect.Value, bool) {
	v, ok := descend(row, rel.Index)
	if !ok {
		return v, false
	}
	return settle(v)
}

// each calls f for the structs of a to-many relation until f returns false.
func each(row reflect.Value, rel *Relation, f func(reflect.Value) bool) {
	list, ok := descend(row, rel.Index)
	if !ok {
		return
	}
	if list, ok = settle(list); !ok {
		return
	}
	for i := range list.Len() {
		if item, ok := settle(list.Index(i)); ok && !f(item) {
			return
		}
	}
}

// settle follows pointers. It returns false at a nil pointer.
func settle(v reflect.Value) (reflect.Value, bool) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return v, false
		}
		v = v.Elem()
	}
	return v, true
}

func (t *Test) check() (func(datum) truth, error) {
	if t.Lookup == IsNull {
		want := t.Values[0] == true
		return func(d datum) truth { return truthOf(d.null == want) }, nil
	}
	known, err := t.known()
	if err != nil {
		return nil, err
	}
	return func(d datum) truth {
		if d.null {
			return unknown
		}
		return truthOf(known(d))
	}, nil
}

// known returns a function that tests a datum that is not null.
func (t *Test) known() (func(datum) bool, error) {
	f := t.Column.Field
	if slices.Contains(textual, t.Lookup) {
		return t.text()
	}
	values := make([]datum, len(t.Values))
	for i, v := range t.Values {
		if t.Part != Whole {
			values[i] = wholeDatum(reflect.ValueOf(v))
		} else {
			values[i] = datumOf(f.Kind, reflect.ValueOf(v))
		}
	}
	if t.Part == Whole {
		return ordering(t.Lookup, f, values), nil
	}
	part, known := t.Part, ordering(t.Lookup, wholes, values)
	return func(d datum) bool {
		return known(datum{whole: partOf(part, time.UnixMicro(d.whole).UTC())})
	}, nil
}

// wholes is a field of kind Int, for comparing parts of a time.
var wholes = &Field{Kind: Int}

// orders says for each lookup which results of a comparison with the value match.
var orders = map[Lookup]func(c int) bool{
	Exact: func(c int) bool { return c == 0 }, NotEqual: func(c int) bool { return c != 0 },
	Greater: func(c int) bool { return c > 0 }, GreaterOrEqual: func(c int) bool { return c >= 0 },
	Less: func(c int) bool { return c < 0 }, LessOrEqual: func(c int) bool { return c <= 0 },
}

func ordering(lookup Lookup, f *Field, values []datum) func(datum) bool {
	switch lookup {
	case Range:
		return func(d datum) bool { return f.compare(&d, &values[0]) >= 0 && f.compare(&d, &values[1]) <= 0 }
	case In:
		return func(d datum) bool {
			return slices.ContainsFunc(values, func(v datum) bool { return f.compare(&d, &v) == 0 })
		}
	default:
		holds := orders[lookup]
		return func(d datum) bool { return holds(f.compare(&d, &values[0])) }
	}
}

func partOf(part Part, at time.Time) int64 {
	switch part {
	case Month:
		return int64(at.Month())
	case Day:
		return int64(at.Day())
	case Hour:
		return int64(at.Hour())
	case Minute:
		return int64(at.Minute())
	case Second:
		return int64(at.Second())
	case WeekDay:
		return int64(at.Weekday()) + 1
	default:
		return int64(at.Year())
	}
}

// searches has the functions of the text lookups.
var searches = map[Lookup]func(text, want string) bool{
	IExact: func(text, want string) bool { return text == want }, Contains: strings.Contains, IContains: strings.Contains,
	StartsWith: strings.HasPrefix, IStartsWith: strings.HasPrefix, EndsWith: strings.HasSuffix,
	IEndsWith: strings.HasSuffix,
}

func (t *Test) text() (func(datum) bool, error) {
	want, _ := t.Values[0].(string)
	found, ok := searches[t.Lookup]
	switch {
	case ok && t.Lookup.folds():
		want = fold.String(want)
		return func(d datum) bool { return found(fold.String(d.text), want) }, nil
	case ok:
		return func(d datum) bool { return found(d.text, want) }, nil
	case t.Lookup == IRegex:
		want = "(?i)" + want
	}
	expr, err := regexp.Compile(want)
	if err != nil {
		return nil, err
	}
	return func(d datum) bool { return expr.MatchString(d.text) }, nil
}
