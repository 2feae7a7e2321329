package fault

import (
	"fmt"
	"strconv"
)

// python is how Pydantic sees a fault when that does not follow from its kind: it has other
// kinds for the same rule, or words that name the reason.
type python struct {
	kind   string // empty: as the fault's kind says
	reason string // what its parser says of the text; empty when there are no such words
}

// Pydantic returns the type, the words and the context that Pydantic, and so Django Ninja,
// gives such a fault. A fault with words of the program keeps its kind, words and limits, as
// does one that Pydantic does not know.
func (f Fault) Pydantic() (kind, message string, ctx map[string]any) {
	if f.said == "" || f.Message != f.said {
		return f.Kind, f.Message, f.Limits
	}

	kind, reason := f.Kind, ""
	if f.python != nil {
		if f.python.kind != "" {
			kind = f.python.kind
		}
		reason = f.python.reason
	}

	if say, ok := pydanticRules[kind]; ok {
		return kind, say(f.Limits), f.Limits
	}
	known, ok := pydanticWords[kind]
	if !ok {
		return kind, f.Message, f.Limits
	}
	if known.kind != "" {
		kind = known.kind
	}
	if reason != "" {
		return kind, known.words + ", " + reason, map[string]any{"error": reason}
	}

	return kind, known.words, nil
}

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
	KindTooShort:     characters("at least", "min_length"),
	KindTooLong:      characters("at most", "max_length"),
	KindPattern:      func(l map[string]any) string { return fmt.Sprintf("String should match pattern '%v'", l["pattern"]) },
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
