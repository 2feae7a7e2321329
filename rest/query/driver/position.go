package driver

import (
	"encoding"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

var errPosition = errors.New("the position is not one of this order")

// Position returns the values of the order's columns for the i-th of items, a []T, as texts
// for [List.After]; nil means null. It returns an error if a column belongs to a relation that
// was not loaded.
func (l *List) Position(items any, i int) ([]*string, error) {
	if l.err != nil {
		return nil, l.err
	}
	row, ok := settle(reflect.ValueOf(items).Index(i))
	if !ok {
		return nil, errors.New("a nil row has no position")
	}
	position := make([]*string, len(l.order))
	for k, key := range l.order {
		if err := key.Column.loaded(row); err != nil {
			return nil, err
		}
		d := key.Column.read(row)
		if d.null {
			continue
		}
		text, err := key.Column.Field.format(d)
		if err != nil {
			return nil, err
		}
		position[k] = &text
	}
	return position, nil
}

// loaded returns an error if a relation of the path was not loaded: it is nil, but the field
// with its foreign key, such as author_id, is not zero.
func (c *Column) loaded(row reflect.Value) error {
	m := c.Model
	for _, step := range c.Steps {
		next, ok := follow(row, step)
		if !ok {
			if f := m.Field(step.Name + "_id"); f != nil {
				if v, ok := descend(row, f.Index); ok && !v.IsZero() {
					return fmt.Errorf("relation %s was not loaded, and the list is ordered by it", step.Name)
				}
			}
			return nil
		}
		row, m = next, step.Model()
	}
	return nil
}

// After returns the rows after the position in the list's order. It returns an error if the
// position does not fit this order, for example because a client made it up.
func (l *List) After(position []*string) (*List, error) {
	if l.err != nil {
		return nil, l.err
	}
	if len(position) != len(l.order) || len(position) == 0 {
		return nil, errPosition
	}
	values := make([]any, len(position))
	for i, text := range position {
		if text == nil {
			continue
		}
		v, err := l.order[i].Column.Field.parse(*text)
		if err != nil {
			return nil, errPosition
		}
		values[i] = v
	}
	return l.Where(after(l.order, values)), nil
}

// after returns the condition for the rows after values: one column of the order is beyond its
// value, and all columns before it are equal to theirs. The condition on the first column
// alone is added, because an index can use it.
func after(order []Key, values []any) Predicate {
	ways := make([]Predicate, 0, len(order))
	for i, key := range order {
		way := make([]Predicate, 0, i+1)
		for j := range i {
			way = append(way, order[j].equal(values[j]))
		}
		ways = append(ways, Join(AllOf, append(way, key.beyond(values[i]))))
	}
	behind := Join(AnyOf, ways)
	first, v := order[0], values[0]
	switch {
	case len(order) == 1 || v == nil:
		return behind
	case !first.Desc:
		return Join(AllOf, []Predicate{first.test(GreaterOrEqual, v), behind})
	case !first.Column.Nullable():
		return Join(AllOf, []Predicate{first.test(LessOrEqual, v), behind})
	default:
		return behind
	}
}

func (k Key) test(lookup Lookup, v any) Predicate {
	return &Test{Column: k.Column, Lookup: lookup, Values: []any{v}}
}

func (k Key) equal(v any) Predicate {
	if v == nil {
		return k.test(IsNull, true)
	}
	return k.test(Exact, v)
}

// beyond returns the condition for values after v; null is the smallest.
func (k Key) beyond(v any) Predicate {
	switch {
	case v == nil && k.Desc:
		return Constant(false)
	case v == nil:
		return k.test(IsNull, false)
	case !k.Desc:
		return k.test(Greater, v)
	case k.Column.Nullable():
		return Join(AnyOf, []Predicate{k.test(Less, v), k.test(IsNull, true)})
	default:
		return k.test(Less, v)
	}
}

// format returns the text of a datum, for parse. The datum must not be null.
func (f *Field) format(d datum) (string, error) {
	switch f.Kind {
	case Bool:
		return strconv.FormatBool(d.whole == 1), nil
	case Int:
		if d.big > 0 {
			return strconv.FormatUint(d.big, 10), nil
		}
		return strconv.FormatInt(d.whole, 10), nil
	case Float:
		return strconv.FormatFloat(d.float, 'g', -1, 64), nil
	case String:
		return d.text, nil
	case Time:
		return time.UnixMicro(d.whole).UTC().Format(time.RFC3339Nano), nil
	case Bytes:
		return base64.RawURLEncoding.EncodeToString([]byte(d.text)), nil
	default:
		text := textOf(d.own)
		if text == nil {
			return "", fmt.Errorf("%s has no text form", f.Type)
		}
		return string(text), nil
	}
}

// parse parses a text of format into a value of [Test].
func (f *Field) parse(text string) (any, error) {
	var v any
	var err error
	switch f.Kind {
	case Bool:
		v, err = strconv.ParseBool(text)
	case Int:
		v, err = strconv.ParseInt(text, 10, 64)
		if err != nil {
			v, err = strconv.ParseUint(text, 10, 64)
		}
	case Float:
		v, err = strconv.ParseFloat(text, 64)
	case Time:
		v, err = time.Parse(time.RFC3339Nano, text)
	case Bytes:
		v, err = base64.RawURLEncoding.DecodeString(text)
	default:
		v = text
	}
	if err != nil {
		return nil, err
	}
	return f.value(reflect.ValueOf(v))
}

// textOf returns the text form of a value of kind [Other], or nil.
func textOf(v reflect.Value) []byte {
	m, ok := reflect.TypeAssert[encoding.TextMarshaler](v)
	if !ok && v.CanAddr() {
		m, ok = reflect.TypeAssert[encoding.TextMarshaler](v.Addr())
	}
	if !ok {
		return nil
	}
	text, err := m.MarshalText()
	if err != nil {
		return nil
	}
	return text
}
