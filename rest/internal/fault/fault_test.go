package fault_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/fault"
)

func TestPlaces(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		path              []any
		location, pointer string
	}{
		{nil, "body", ""},
		{[]any{"tags", 1}, "body.tags[1]", "/tags/1"},
		{[]any{0, "a"}, "body[0].a", "/0/a"},
		{[]any{"a/b", "c~d", ""}, "body.a/b.c~d.", "/a~1b/c~0d/"},
	} {
		f := fault.Fault{In: fault.Body, Path: tc.path}
		if got := f.Location(); got != tc.location {
			t.Errorf("%v: location %q, want %q", tc.path, got, tc.location)
		}
		if got := f.Pointer(); got != tc.pointer {
			t.Errorf("%v: pointer %q, want %q", tc.path, got, tc.pointer)
		}
	}
}

// TestMessages holds each fault against our words and against Pydantic's.
func TestMessages(t *testing.T) {
	t.Parallel()

	const in = fault.Body
	type limits = map[string]any
	for _, tc := range []struct {
		fault         fault.Fault
		kind, message string
		limits        limits
		python        string
	}{
		{fault.Missing(in, nil), "missing", "is required", nil, "missing: Field required"},
		{
			fault.Extra(in, nil), "extra_forbidden", "is not a known field", nil,
			"extra_forbidden: Extra inputs are not permitted",
		},
		{
			fault.Extra(fault.Query, nil), "extra_forbidden", "is not a known parameter", nil,
			"extra_forbidden: Extra inputs are not permitted",
		},
		{fault.IntType(in, nil), "int_type", "must be a whole number", nil, "int_type: Input should be a valid integer"},
		{
			fault.IntParsing(in, nil), "int_parsing", "must be a whole number", nil,
			"int_parsing: Input should be a valid integer, unable to parse string as an integer",
		},
		{
			fault.IntFromFloat(in, nil), "int_from_float", "must be a whole number, without a fraction", nil,
			"int_from_float: Input should be a valid integer, got a number with a fractional part",
		},
		{
			fault.IntOverflow(in, nil, 8, true), "int_overflow", "must be a whole number from 0 to 255",
			limits{"bits": 8},
			"int_parsing_size: Unable to parse input string as an integer, exceeded maximum size",
		},
		{
			fault.IntOverflow(in, nil, 8, false), "int_overflow", "must be a whole number from -128 to 127",
			limits{"bits": 8},
			"int_parsing_size: Unable to parse input string as an integer, exceeded maximum size",
		},
		{
			fault.IntOverflow(in, nil, 64, true), "int_overflow", "must be a whole number from 0 to 18446744073709551615",
			limits{"bits": 64},
			"int_parsing_size: Unable to parse input string as an integer, exceeded maximum size",
		},
		{
			fault.IntOverflow(in, nil, 64, false), "int_overflow",
			"must be a whole number from -9223372036854775808 to 9223372036854775807",
			limits{"bits": 64},
			"int_parsing_size: Unable to parse input string as an integer, exceeded maximum size",
		},
		{fault.FloatType(in, nil), "float_type", "must be a number", nil, "float_type: Input should be a valid number"},
		{
			fault.FloatParsing(in, nil), "float_parsing", "must be a number", nil,
			"float_parsing: Input should be a valid number, unable to parse string as a number",
		},
		{
			fault.NotFinite(in, nil), "finite_number", "must be a finite number", nil,
			"finite_number: Input should be a finite number",
		},
		{fault.BoolType(in, nil), "bool_type", "must be true or false", nil, "bool_type: Input should be a valid boolean"},
		{
			fault.BoolParsing(in, nil), "bool_parsing", "must be true or false", nil,
			"bool_parsing: Input should be a valid boolean, unable to interpret input",
		},
		{fault.StringType(in, nil), "string_type", "must be a string", nil, "string_type: Input should be a valid string"},
		{
			fault.TooShort(in, nil, 2), "string_too_short", "must be at least 2 characters",
			limits{"min_length": 2},
			"string_too_short: String should have at least 2 characters",
		},
		{
			fault.TooLong(in, nil, 1), "string_too_long", "must be at most 1 character",
			limits{"max_length": 1},
			"string_too_long: String should have at most 1 character",
		},
		{
			fault.Pattern(in, nil, "^a$"), "string_pattern_mismatch", "must match the pattern ^a$",
			limits{"pattern": "^a$"},
			"string_pattern_mismatch: String should match pattern '^a$'",
		},
		{
			fault.Greater(in, nil, 0), "greater_than", "must be greater than 0",
			limits{"gt": 0.0},
			"greater_than: Input should be greater than 0",
		},
		{
			fault.GreaterEqual(in, nil, 0.5), "greater_than_equal", "must be at least 0.5",
			limits{"ge": 0.5},
			"greater_than_equal: Input should be greater than or equal to 0.5",
		},
		{
			fault.Less(in, nil, 1e6), "less_than", "must be less than 1000000",
			limits{"lt": 1e6},
			"less_than: Input should be less than 1000000",
		},
		{
			fault.LessEqual(in, nil, -1), "less_than_equal", "must be at most -1",
			limits{"le": -1.0},
			"less_than_equal: Input should be less than or equal to -1",
		},
		{
			fault.MultipleOf(in, nil, 0.5), "multiple_of", "must be a multiple of 0.5",
			limits{"multiple_of": 0.5},
			"multiple_of: Input should be a multiple of 0.5",
		},
		{
			fault.ListTooShort(in, nil, 2, 1), "too_short", "must have at least 2 items, not 1",
			limits{"field_type": "List", "min_length": 2, "actual_length": 1},
			"too_short: List should have at least 2 items after validation, not 1",
		},
		{
			fault.DictTooLong(in, nil, 1, 2), "too_long", "must have at most 1 entry, not 2",
			limits{"field_type": "Dictionary", "max_length": 1, "actual_length": 2},
			"too_long: Dictionary should have at most 1 item after validation, not 2",
		},
		{fault.ListType(in, nil), "list_type", "must be a list", nil, "list_type: Input should be a valid list"},
		{fault.DictType(in, nil), "dict_type", "must be an object", nil, "dict_type: Input should be a valid dictionary"},
		{fault.Enum(in, nil, []any{"a"}), "enum", "must be 'a'", limits{"expected": "'a'"}, "enum: Input should be 'a'"},
		{
			fault.Enum(in, nil, []any{"a", "b", 3.0}), "enum", "must be 'a', 'b' or 3",
			limits{"expected": "'a', 'b' or 3"},
			"enum: Input should be 'a', 'b' or 3",
		},
		{
			fault.Format(in, nil, "uuid"), "uuid_parsing", "must be a UUID, such as 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", nil,
			"uuid_parsing: Input should be a valid UUID",
		},
		{
			fault.Format(in, nil, "color"), "format_mismatch", "must have the format 'color'",
			limits{"format": "color"},
			"format_mismatch: must have the format 'color'",
		},
		{
			fault.JSON(in, 7, "why"), "json_invalid", "is not valid JSON: why at byte 7",
			limits{"offset": 7},
			"json_invalid: is not valid JSON: why at byte 7",
		},
		// Words of the program stay as they are.
		{
			fault.Fault{In: in, Kind: "missing", Message: "Say who you are."},
			"missing", "Say who you are.", nil,
			"missing: Say who you are.",
		},
		{reworded(fault.Missing(in, nil)), "missing", "fehlt", nil, "missing: fehlt"},
	} {
		if tc.fault.Kind != tc.kind || tc.fault.Message != tc.message || tc.fault.In != in && tc.fault.In != fault.Query {
			t.Errorf("got %+v, want %s %q", tc.fault, tc.kind, tc.message)
		}
		if diff := cmp.Diff(tc.limits, tc.fault.Limits); diff != "" {
			t.Errorf("%s: %s", tc.kind, diff)
		}
		kind, message, _ := tc.fault.Pydantic()
		if got := kind + ": " + message; got != tc.python {
			t.Errorf("in Python: got %q, want %q", got, tc.python)
		}
	}
}

func reworded(f fault.Fault) fault.Fault {
	f.Message = "fehlt"
	return f
}

func TestEqual(t *testing.T) {
	t.Parallel()

	made := fault.TooShort(fault.Body, []any{"tags", 1}, 2)
	written := fault.Fault{
		In: "body", Path: []any{"tags", 1}, Kind: "string_too_short",
		Message: "must be at least 2 characters", Limits: map[string]any{"min_length": 2},
	}
	if diff := cmp.Diff(written, made); diff != "" {
		t.Errorf("a fault that is written out differs from the one that was made: %s", diff)
	}
	for _, other := range []fault.Fault{
		fault.TooShort(fault.Body, []any{"tags", 1}, 3), fault.TooShort(fault.Body, []any{"tags"}, 2),
		fault.TooShort(fault.Form, []any{"tags", 1}, 2), fault.TooLong(fault.Body, []any{"tags", 1}, 2),
	} {
		if made.Equal(other) {
			t.Errorf("%+v equals %+v", made, other)
		}
	}
}
