package driver

import (
	"fmt"
	"slices"
	"strings"
)

// Lookup is how a column is compared with a value.
type Lookup string

// The lookups. Those with a leading i ignore case.
const (
	Exact       Lookup = "exact"
	NotEqual    Lookup = "ne"
	IExact      Lookup = "iexact"
	Contains    Lookup = "contains"
	IContains   Lookup = "icontains"
	StartsWith  Lookup = "startswith"
	IStartsWith Lookup = "istartswith"
	EndsWith    Lookup = "endswith"
	IEndsWith   Lookup = "iendswith"
	// In takes a list, which may be empty.
	In             Lookup = "in"
	Greater        Lookup = "gt"
	GreaterOrEqual Lookup = "gte"
	Less           Lookup = "lt"
	LessOrEqual    Lookup = "lte"
	// Range takes a list of two values, both of which are inside.
	Range Lookup = "range"
	// IsNull takes a bool. At the end of a path to many it asks whether there are none.
	IsNull Lookup = "isnull"
	// Regex takes a regular expression of the database, and of Go in memory.
	Regex  Lookup = "regex"
	IRegex Lookup = "iregex"
)

// Part is a number taken from a time, in UTC. A path may name one before its lookup, as in
// published__year__gte. The part date is compared with a time or a text like 2006-01-02.
type Part string

// The parts of a time. Year and date become comparisons of the whole time, so that an index
// serves them, and are not seen by a [Source].
const (
	Whole   Part = ""
	Year    Part = "year"
	Month   Part = "month"
	Day     Part = "day"
	Hour    Part = "hour"
	Minute  Part = "minute"
	Second  Part = "second"
	WeekDay Part = "week_day"
	Date    Part = "date"
)

var (
	equality = []Lookup{Exact, NotEqual, In}
	ordered  = []Lookup{Greater, GreaterOrEqual, Less, LessOrEqual, Range}
	textual  = []Lookup{
		IExact, Contains, IContains, StartsWith, IStartsWith, EndsWith, IEndsWith, Regex, IRegex,
	}
	lookups = slices.Concat(equality, ordered, textual, []Lookup{IsNull})
	parts   = []Part{Year, Month, Day, Hour, Minute, Second, WeekDay, Date}
)

// check says why a column of kind cannot be looked up so.
func (l Lookup) check(f *Field, part Part) error {
	kind := f.Kind
	if part != Whole {
		if kind != Time {
			return fmt.Errorf("part %q is of a time, but %s is %s", part, f.Name, f.Type)
		}
		kind = Int
	}
	var ok bool
	switch {
	case l == IsNull:
		ok = true
	case slices.Contains(equality, l):
		ok = kind != Opaque
	case slices.Contains(ordered, l):
		ok = kind == Int || kind == Float || kind == String || kind == Time || kind == Bytes ||
			kind == Other && f.scalar.ordered()
	case slices.Contains(textual, l):
		ok = kind == String
	default:
		return fmt.Errorf("unknown lookup %q (there are %s)", l, joined(lookups))
	}
	if !ok {
		return fmt.Errorf("lookup %q is not for %s, which is %s", l, f.Name, f.Type)
	}
	return nil
}

// TakesList reports a lookup that takes several values.
func (l Lookup) TakesList() bool { return l == In || l == Range }

// folds reports a lookup that compares without regard to case.
func (l Lookup) folds() bool {
	return l == IExact || l == IContains || l == IStartsWith || l == IEndsWith
}

func joined[S ~string](words []S) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}
