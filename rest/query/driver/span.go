package driver

import "time"

// span is the time of one year or one day: from start, up to but not including end.
type span struct{ start, end time.Time }

var (
	// minTime is the first time that a list can hold, and maxTime the last.
	minTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
)

func yearSpan(v any) span {
	n, ok := v.(int64)
	switch {
	case !ok || n > 9999:
		return span{start: maxTime.Add(time.Microsecond), end: maxTime.Add(time.Microsecond)}
	case n < 1:
		return span{start: minTime, end: minTime}
	}
	return span{
		start: time.Date(int(n), 1, 1, 0, 0, 0, 0, time.UTC),
		end:   time.Date(int(n)+1, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

func dateSpan(v any) span {
	day, _ := v.(time.Time)
	return span{start: day, end: day.AddDate(0, 0, 1)}
}

// spans turns a condition on years or dates into conditions on times. An index can serve
// those, and they are unknown for the same rows.
func (c Condition) spans(values []any, of func(any) span) Predicate {
	s := of(values[0])
	switch c.Lookup {
	case NotEqual:
		return &Negation{c.inside(s, s)}
	case Greater:
		return c.atLeast(s.end)
	case GreaterOrEqual:
		return c.atLeast(s.start)
	case Less:
		return c.before(s.start)
	case LessOrEqual:
		return c.before(s.end)
	case Range:
		return c.inside(s, of(values[1]))
	case In:
		items := make([]Predicate, len(values))
		for i, v := range values {
			items[i] = c.inside(of(v), of(v))
		}
		return Join(AnyOf, items)
	default:
		return c.inside(s, s)
	}
}

func (c Condition) inside(first, last span) Predicate {
	return Join(AllOf, []Predicate{c.atLeast(first.start), c.before(last.end)})
}

func (c Condition) atLeast(at time.Time) Predicate {
	if at.After(maxTime) {
		return c.compare(Greater, maxTime)
	}
	return c.compare(GreaterOrEqual, at)
}

func (c Condition) before(at time.Time) Predicate {
	if at.After(maxTime) {
		return c.compare(LessOrEqual, maxTime)
	}
	return c.compare(Less, at)
}

func (c Condition) compare(lookup Lookup, at time.Time) Predicate {
	return &Test{Column: c.Column, Lookup: lookup, Values: []any{at}}
}
