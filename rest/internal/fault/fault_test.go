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

func TestMessages(t *testing.T) {
	t.Parallel()

	const in = fault.Body
	for _, tc := range []struct {
		fault         fault.Fault
		kind, message string
		limits        map[string]any
	}{
		{fault.Missing(in, nil), "missing", "Field required", nil},
		{fault.IntParsing(in, nil), "int_parsing", "Input should be a valid integer, unable to parse string as an integer", nil},
		{fault.BoolParsing(in, nil), "bool_parsing", "Input should be a valid boolean, unable to interpret input", nil},
		{fault.TooShort(in, nil, 2), "string_too_short", "String should have at least 2 characters", map[string]any{"min_length": 2}},
		{fault.TooLong(in, nil, 1), "string_too_long", "String should have at most 1 character", map[string]any{"max_length": 1}},
		{fault.Greater(in, nil, 0), "greater_than", "Input should be greater than 0", map[string]any{"gt": 0.0}},
		{fault.GreaterEqual(in, nil, 0.5), "greater_than_equal", "Input should be greater than or equal to 0.5", map[string]any{"ge": 0.5}},
		{fault.Less(in, nil, 1e6), "less_than", "Input should be less than 1000000", map[string]any{"lt": 1e6}},
		{fault.LessEqual(in, nil, -1), "less_than_equal", "Input should be less than or equal to -1", map[string]any{"le": -1.0}},
		{
			fault.ListTooShort(in, nil, 2, 1), "too_short", "List should have at least 2 items after validation, not 1",
			map[string]any{"field_type": "List", "min_length": 2, "actual_length": 1},
		},
		{
			fault.DictTooLong(in, nil, 1, 2), "too_long", "Dictionary should have at most 1 item after validation, not 2",
			map[string]any{"field_type": "Dictionary", "max_length": 1, "actual_length": 2},
		},
		{fault.Enum(in, nil, []any{"a"}), "enum", "Input should be 'a'", map[string]any{"expected": "'a'"}},
		{fault.Enum(in, nil, []any{"a", "b", 3.0}), "enum", "Input should be 'a', 'b' or 3", map[string]any{"expected": "'a', 'b' or 3"}},
		{fault.Format(in, nil, "uuid"), "uuid_parsing", "Input should be a valid UUID", nil},
		{fault.Format(in, nil, "color"), "format_mismatch", "Input should have the format 'color'", map[string]any{"format": "color"}},
		{fault.IntOverflow(in, nil, 8, true), "int_overflow", "Input should fit an unsigned integer of 8 bits", map[string]any{"bits": 8}},
		{fault.JSON(in, 7, "why"), "json_invalid", "Invalid JSON at byte 7: why", map[string]any{"offset": 7}},
	} {
		if tc.fault.Kind != tc.kind || tc.fault.Message != tc.message || tc.fault.In != in {
			t.Errorf("got %+v, want %s %q", tc.fault, tc.kind, tc.message)
		}
		if diff := cmp.Diff(tc.limits, tc.fault.Limits); diff != "" {
			t.Errorf("%s: %s", tc.kind, diff)
		}
	}
}
