package fault

import (
	"fmt"
	"slices"
	"strconv"
)

// python has Pydantic's view of a fault if it does not follow from the kind: Pydantic has other kinds for the
// same rule, or texts with a reason.
type python struct {
	kind   string // empty: as the fault's kind says
	reason string // the text of its parser; empty if it has none
	limits map[string]any
	// missing are the absent fields of a value that is not an object. Django Ninja lists them instead.
	missing []string
}

var stringKinds = map[string]*python{
	KindIntType:   {kind: KindIntParsing},
	KindFloatType: {kind: KindFloatParsing},
	KindBoolType:  {kind: KindBoolParsing},
}

// Parsed says that the value was a string, or a number for a boolean. Pydantic tries to read it, and Go does
// not.
func Parsed(f Fault) Fault {
	f.python = stringKinds[f.Kind]
	return f
}

var formatTypes = map[string]*python{
	KindDateTime: {kind: "datetime_type"},
	KindDate:     {kind: "date_type"},
	KindTime:     {kind: "time_type"},
	KindDuration: {kind: "time_delta_type"},
	KindUUID:     {kind: "uuid_type"},
	KindURL:      {kind: "url_type"},
	KindDecimal:  {kind: "decimal_type"},
	KindIP:       {kind: KindIP},
}

// WithRule names the rule that the value would have to meet if it were a string: Pydantic has a kind for each
// rule.
func WithRule(f, rule Fault) Fault {
	if rule.Kind == KindEnum {
		f.python = &python{kind: KindEnum, limits: rule.Limits}
	} else {
		f.python = formatTypes[rule.Kind]
	}

	return f
}

// WithMissing names the required fields of an object, where the value is something else.
func WithMissing(f Fault, names []string) Fault {
	f.python = &python{missing: names}
	return f
}

// Exclusive says that Pydantic has the inclusive limit of a whole number as an exclusive one: ge 1 as gt 0.
func Exclusive(f Fault) Fault {
	if limit, ok := f.Limits["ge"].(float64); ok && f.Kind == KindGreaterEqual {
		f.python = &python{kind: KindGreater, limits: map[string]any{"gt": limit - 1}}
	}
	if limit, ok := f.Limits["le"].(float64); ok && f.Kind == KindLessEqual {
		f.python = &python{kind: KindLess, limits: map[string]any{"lt": limit + 1}}
	}

	return f
}

// Python returns the faults that Django Ninja would list. For a list with too many items, it leaves out the
// faults of the items. For a list with faulty items, it leaves out that there are too few. For a value that
// is not an object, it lists the missing fields. The body has a name if the route's body has one.
func Python(faults []Fault, named bool) []Fault {
	odd := func(f Fault) bool {
		return f.Kind == KindListTooLong || f.Kind == KindListTooShort || f.python != nil && f.python.missing != nil
	}
	if !slices.ContainsFunc(faults, odd) {
		return faults
	}
	var list []Fault
	for i, f := range faults {
		switch {
		case hidden(faults, i):
		case f.python != nil && f.python.missing != nil && (f.Kind == KindModelType || !named):
			for _, name := range f.python.missing {
				list = append(list, Missing(f.In, append(slices.Clip(f.Path), name)))
			}
		default:
			list = append(list, f)
		}
	}

	return list
}

// hidden reports whether Python stops before it finds a fault.
func hidden(faults []Fault, i int) bool {
	f := &faults[i]
	return slices.ContainsFunc(faults, func(other Fault) bool {
		switch {
		case other.In != f.In:
			return false
		case f.Kind == KindListTooShort:
			return within(other.Path, f.Path)
		default:
			return other.Kind == KindListTooLong && within(f.Path, other.Path)
		}
	})
}

// within reports whether path leads through list.
func within(path, list []any) bool {
	return len(path) > len(list) && slices.Equal(path[:len(list)], list)
}

// Pydantic returns the type, the message and the context that Pydantic, and so Django Ninja, has for such a
// fault. A fault keeps its kind, message and limits if the message is the program's, or if Pydantic does not
// know the kind. A fault of the kind value_error reads like a ValueError.
func (f Fault) Pydantic() (kind, message string, ctx map[string]any) {
	if f.said == "" || f.Message != f.said || f.Kind == KindValue && f.python == nil {
		if f.Kind == KindValue && len(f.Limits) == 0 {
			// As of a ValueError in a validator.
			return f.Kind, "Value error, " + f.Message, map[string]any{"error": f.Message}
		}
		return f.Kind, f.Message, f.Limits
	}

	kind, reason := f.Kind, ""
	if f.python != nil {
		if f.python.kind != "" {
			kind = f.python.kind
		}
		reason = f.python.reason
	}
	limits := f.Limits
	if f.python != nil && f.python.limits != nil {
		limits = f.python.limits
	}

	if say, ok := pydanticRules[kind]; ok {
		return kind, say(limits), limits
	}
	known, ok := pydanticWords[kind]
	if !ok {
		return kind, f.Message, limits
	}
	if known.kind != "" {
		kind = known.kind
	}
	switch {
	case reason == "":
	case f.Kind == KindEmail:
		return kind, known.words + ": " + reason, map[string]any{"reason": reason}
	default:
		return kind, known.words + ", " + reason, map[string]any{"error": reason}
	}

	return kind, known.words, nil
}

// kindInexact is Pydantic's kind for a time where a date is required.
const kindInexact = "date_from_datetime_inexact"

type pydanticWord struct{ kind, words string }

// pydanticWords are for kinds without limits.
var pydanticWords = map[string]pydanticWord{
	KindMissing:      {"", "Field required"},
	KindExtra:        {"", "Extra inputs are not permitted"},
	KindIntType:      {"", "Input should be a valid integer"},
	KindIntParsing:   {"", "Input should be a valid integer, unable to parse string as an integer"},
	KindIntFromFloat: {"", "Input should be a valid integer, got a number with a fractional part"},
	KindIntOverflow:  {"int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size"},
	KindFloatType:    {"", "Input should be a valid number"},
	KindFloatParsing: {"", "Input should be a valid number, unable to parse string as a number"},
	KindNotFinite:    {"", "Input should be a finite number"},
	// Python reads a number that is too large as infinity.
	KindFloatOverflow: {KindNotFinite, "Input should be a finite number"},
	KindBoolType:      {"", "Input should be a valid boolean"},
	KindBoolParsing:   {"", "Input should be a valid boolean, unable to interpret input"},
	KindStringType:    {"", "Input should be a valid string"},
	"string_unicode":  {"", "Input should be a valid string, unable to parse raw data as a unicode string"},
	KindListType:      {"", "Input should be a valid list"},
	KindDictType:      {"", "Input should be a valid dictionary"},
	KindUUID:          {"", "Input should be a valid UUID"},
	KindDateTime:      {"datetime_from_date_parsing", "Input should be a valid datetime or date"},
	KindDate:          {"date_from_datetime_parsing", "Input should be a valid date or datetime"},
	KindTime:          {"", "Input should be in a valid time format"},
	KindDuration:      {"", "Input should be a valid timedelta"},
	KindURL:           {"", "Input should be a valid URL"},
	KindIP:            {"", "value is not a valid IPv4 or IPv6 address"},
	KindIPv4:          {"", "Input is not a valid IPv4 address"},
	KindIPv6:          {"", "Input is not a valid IPv6 address"},
	KindDecimal:       {"", "Input should be a valid decimal"},
	KindEmail:         {KindValue, "value is not a valid email address"},
	kindInexact:       {"", "Datetimes provided to dates should have zero time - e.g. be exact dates"},
	"datetime_type":   {"", "Input should be a valid datetime"},
	"date_type":       {"", "Input should be a valid date"},
	"time_type":       {"", "Input should be a valid time"},
	"time_delta_type": {"", "Input should be a valid timedelta"},
	"uuid_type":       {"", "UUID input should be a string, bytes or UUID object"},
	"url_type":        {"", "URL input should be a string or URL"},
	"decimal_type":    {"", "Decimal input should be an integer, float, string or Decimal object"},
}

// pydanticRules are for kinds with limits.
var pydanticRules = map[string]func(limits map[string]any) string{
	KindTooShort: characters("at least", "min_length"),
	KindTooLong:  characters("at most", "max_length"),
	KindPattern: func(l map[string]any) string {
		return fmt.Sprintf("String should match pattern '%v'", l["pattern"])
	},
	KindGreater:      compared("greater than", "gt"),
	KindGreaterEqual: compared("greater than or equal to", "ge"),
	KindLess:         compared("less than", "lt"),
	KindLessEqual:    compared("less than or equal to", "le"),
	KindMultipleOf:   compared("a multiple of", "multiple_of"),
	KindListTooShort: items("at least", "min_length"),
	KindListTooLong:  items("at most", "max_length"),
	KindEnum:         func(l map[string]any) string { return fmt.Sprintf("Input should be %v", l["expected"]) },
	KindModelType: func(l map[string]any) string {
		class, ok := l["class_name"]
		if !ok {
			return "Input should be a valid dictionary"
		}
		return fmt.Sprintf("Input should be a valid dictionary or instance of %v", class)
	},
}

func characters(bound, name string) func(map[string]any) string {
	return func(l map[string]any) string {
		return "String should have " + bound + " " + counted(l[name], "character")
	}
}

func compared(words, name string) func(map[string]any) string {
	return func(l map[string]any) string {
		if limit, ok := l[name].(float64); ok {
			return "Input should be " + words + " " + number(limit)
		}
		return fmt.Sprintf("Input should be %s %v", words, l[name])
	}
}

func items(bound, name string) func(map[string]any) string {
	return func(l map[string]any) string {
		return fmt.Sprintf("%v should have %s %s after validation, not %v",
			l["field_type"], bound, counted(l[name], "item"), l["actual_length"])
	}
}

func counted(limit any, noun string) string {
	n, _ := limit.(int)
	return strconv.Itoa(n) + " " + noun + map[bool]string{false: "s"}[n == 1]
}
