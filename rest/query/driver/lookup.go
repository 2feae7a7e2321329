package driver

import (
	"fmt"
	"slices"
	"strings"
)

// Lookup is a way to compare a column with a value.
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
	// Range takes a list of two values, both of which are included.
	Range Lookup = "range"
	// IsNull takes a bool. At the end of a to-many path, it asks whether there are no related
	// rows.
	IsNull Lookup = "isnull"
	// Regex takes a regular expression, in the syntax of the database or, in memory, of Go.
	Regex  Lookup = "regex"
	IRegex Lookup = "iregex"
)

// Part is a part of a time, in UTC. A path may have one before its lookup, as in
// published__year__gte. The part date is compared with a time or a text like 2006-01-02, any
// other part with a number.
type Part string

// The parts of a time. Conditions on Year and Date become conditions on the whole time, so
// that an index can serve them. A [Source] never sees these two parts.
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

// TakesList reports whether the lookup takes several values.
func (l Lookup) TakesList() bool { return l == In || l == Range }

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
