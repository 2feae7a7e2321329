package body_test

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

// TestText asks that a text which is no Unicode, or holds a NUL, is refused by the name of
// its field, wherever it stands: as a value, in a value of no type, or as a key.
func TestText(t *testing.T) {
	t.Parallel()

	plan := planOf[everything](t)
	for data, want := range map[string]string{
		"{\"long\":\"\xff\"}":                            "string_unicode at body.long",
		"{\"enum\":\"\xff\"}":                            "string_unicode at body.enum",
		"{\"long\":\"\xed\xa0\x80\"}":                    "string_unicode at body.long",
		`{"long":"\ud800"}`:                              "string_unicode at body.long",
		`{"long":"\udc00"}`:                              "string_unicode at body.long",
		`{"long":"\ud800\u0041"}`:                        "string_unicode at body.long",
		`{"long":"\ud800\ud800"}`:                        "string_unicode at body.long",
		`{"long":"\udc00\ud83d\ude00"}`:                  "string_unicode at body.long",
		`{"long":"\ud83d\ude00"}`:                        "",
		`{"long":"\ufffd"}`:                              "",
		"{\"long\":\"\ufffd\"}":                          "",
		`{"long":"\\u0000"}`:                             "string_too_long at body.long",
		`{"long":"\u0000"}`:                              "string_nul at body.long",
		`{"pointer":"a\u0000b"}`:                         "string_nul at body.pointer",
		`{"optStrict":"\u0000"}`:                         "string_nul at body.optStrict",
		`{"bytes":"AQ\u0000="}`:                          "string_nul at body.bytes",
		`{"any":{"a":["\ud800"]}}`:                       "string_unicode at body.any.a[0]",
		"{\"raw\":[\"\xff\"]}":                           "string_unicode at body.raw[0]",
		`{"unique":["\u0000"]}`:                          "string_nul at body.unique[0]",
		`{"map":{"\u0000a":1}}`:                          "string_nul at body.map.\ufffda",
		"{\"map\":{\"a\xff\":1}}":                        "string_unicode at body.map.a\ufffd",
		`{"map":{"\ud800":1,"b":1}}`:                     "string_unicode at body.map.\ufffd",
		`{"any":{"\ud800":1}}`:                           "string_unicode at body.any.\ufffd",
		`{"\u0000":1}`:                                   "string_nul at body.\ufffd",
		"{\"int8\xff\":1}":                               "string_unicode at body.int8\ufffd",
		"{\"z\":\"\xff\"}":                               "extra_forbidden at body.z, string_unicode at body.z",
		"{\"int8\":\"\xff\"}":                            "int_type at body.int8, string_unicode at body.int8",
		"{\"int8\":\"x\",\"long\":\"\xff\"}":             "int_type at body.int8, string_unicode at body.long",
		`{"inners":{"k":[{"a":1,"b":"\ud800","c":""}]}}`: "string_unicode at body.inners.k[0].b",
	} {
		if got := strings.Join(found(plan, data), ", "); got != want {
			t.Errorf("%q\n got %q\nwant %q", data, got, want)
		}
		var dst everything
		if _, faults := plan.Decode([]byte(data), &dst); len(faults) > 0 != (want != "") {
			t.Errorf("decoding %q found %v", data, faults)
		}
	}
}

// TestIntegral asks that a number which is whole is an integer, however it is written.
func TestIntegral(t *testing.T) {
	t.Parallel()

	type numbers struct {
		Int  int64    `json:"int,omitempty"`
		Uint uint64   `json:"uint,omitempty"`
		Big  *big.Int `json:"big,omitempty"`
	}
	plan := planOf[numbers](t)
	for text, want := range map[string]int64{
		"1.0": 1, "1e2": 100, "1E+2": 100, "1.5e1": 15, "-1.0": -1, "100e-2": 1, "-0.0": 0, "0e999999999999": 0, "0.000": 0,
		"9223372036854775807.0": math.MaxInt64, "-9223372036854775808.000000000000000000000000": math.MinInt64,
		"1.00000000000000000000000000000": 1, "0.00000000000000000000001e23": 1, "922337203685477580.7e1": math.MaxInt64,
	} {
		var got numbers
		if _, faults := plan.Decode([]byte(`{"int":`+text+`,"big":`+text+`}`), &got); len(faults) > 0 {
			t.Errorf("%s: %v", text, faults)
			continue
		}
		if got.Int != want || got.Big.Cmp(big.NewInt(want)) != 0 {
			t.Errorf("%s was read as %d and %s, want %d", text, got.Int, got.Big, want)
		}
	}
	for text, want := range map[string]string{
		"1.5": "int_from_float at body.int", "1e-1": "int_from_float at body.int",
		"1.00000000000000000000000000001": "int_from_float at body.int", "1e-999999999999": "int_from_float at body.int",
		"1e400": "int_overflow at body.int", "1e999999999999": "int_overflow at body.int",
		"9223372036854775808.0": "int_overflow at body.int", "1e19": "int_overflow at body.int",
	} {
		if got := strings.Join(found(plan, `{"int":`+text+`}`), ", "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	var got numbers
	if _, faults := plan.Decode([]byte(`{"uint":18446744073709551615.0}`), &got); len(faults) > 0 ||
		got.Uint != math.MaxUint64 {
		t.Errorf("got %d and %v", got.Uint, faults)
	}
	if got := found(plan, `{"uint":18446744073709551616.0}`); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}
