package query

import "time"

// A span is the moments of one year or one day: from its start up to, and without, its end.
type span struct{ start, end time.Time }

var (
	// minTime is the first moment that a list can hold, and maxTime the last.
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

// spans writes a condition on spans of time as conditions on the time, which an index can
// serve, and which are unknown for the same rows.
func (t target) spans(values []any, of func(any) span) Predicate {
	s := of(values[0])
	switch t.lookup {
	case NotEqual:
		return &Negation{t.inside(s, s)}
	case Greater:
		return t.atLeast(s.end)
	case GreaterOrEqual:
		return t.atLeast(s.start)
	case Less:
		return t.before(s.start)
	case LessOrEqual:
		return t.before(s.end)
	case Range:
		return t.inside(s, of(values[1]))
	case In:
		items := make([]Predicate, len(values))
		for i, v := range values {
			items[i] = t.inside(of(v), of(v))
		}
		return joinPredicates(AnyOf, items)
	default:
		return t.inside(s, s)
	}
}

func (t target) inside(first, last span) Predicate {
	return joinPredicates(AllOf, []Predicate{t.atLeast(first.start), t.before(last.end)})
}

func (t target) atLeast(at time.Time) Predicate {
	if at.After(maxTime) {
		return t.compare(Greater, maxTime)
	}
	return t.compare(GreaterOrEqual, at)
}

func (t target) before(at time.Time) Predicate {
	if at.After(maxTime) {
		return t.compare(LessOrEqual, maxTime)
	}
	return t.compare(Less, at)
}

func (t target) compare(lookup Lookup, at time.Time) Predicate {
	return &Test{Column: t.column, Lookup: lookup, Values: []any{at}}
}
