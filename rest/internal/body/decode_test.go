package body_test

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/opt"
)

// everything has a field for each thing that can be wrong with a value.
type everything struct {
	Bool      bool                   `json:"bool,omitempty"`
	Yes       bool                   `enum:"true"               json:"yes,omitempty"`
	Int8      int8                   `json:"int8,omitempty"`
	Uint8     uint8                  `json:"uint8,omitempty"`
	Int64     int64                  `json:"int64,omitempty"`
	Uint64    uint64                 `json:"uint64,omitempty"`
	Float     float64                `json:"float,omitempty"`
	Float32   float32                `json:"float32,omitempty"`
	Min       int                    `json:"min,omitempty"      minimum:"2"`
	Above     int                    `exclusiveMinimum:"2"      json:"above,omitempty"`
	Max       int                    `json:"max,omitempty"      maximum:"2"`
	Below     float64                `exclusiveMaximum:"0.5"    json:"below,omitempty"`
	Step      float64                `json:"step,omitempty"     multipleOf:"0.1"`
	Level     int                    `enum:"1,2"                json:"level,omitempty"`
	Short     string                 `json:"short,omitempty"    minLength:"2"`
	Long      string                 `json:"long,omitempty"     maxLength:"2"`
	Pattern   string                 `json:"pattern,omitempty"  pattern:"^a+$"`
	Enum      string                 `enum:"a,b,c"              json:"enum,omitempty"`
	List      []int                  `json:"list,omitempty"     maxItems:"2"           minItems:"1"`
	Unique    []any                  `json:"unique,omitempty"   uniqueItems:"true"`
	Array     [2]int                 `json:"array,omitempty"`
	Map       map[string]int         `json:"map,omitempty"      maxProperties:"2"      minProperties:"1"`
	IntKeys   map[int8]bool          `json:"intKeys,omitempty"`
	UintKeys  map[uint8]bool         `json:"uintKeys,omitempty"`
	TextKeys  map[netip.Addr]bool    `json:"textKeys,omitempty"`
	Inner     inner                  `json:"inner,omitzero"`
	Inners    map[string][]inner     `json:"inners,omitempty"`
	Bytes     []byte                 `json:"bytes,omitempty"`
	Time      time.Time              `json:"time,omitzero"`
	Addr      netip.Addr             `json:"addr,omitzero"`
	Big       *big.Int               `json:"big,omitempty"`
	Number    json.Number            `json:"number,omitempty"`
	Any       any                    `json:"any,omitempty"`
	Raw       json.RawMessage        `json:"raw,omitempty"`
	Opt       opt.Opt[int8]          `json:"opt,omitzero"       maximum:"5"`
	OptStrict opt.Opt[string]        `json:"optStrict,omitzero" nullable:"false"`
	OptInner  opt.Opt[inner]         `json:"optInner,omitzero"`
	Pointer   *string                `json:"pointer,omitempty"`
	Nested    map[string]*everything `json:"nested,omitempty"`
	Date      string                 `format:"date"             json:"date,omitempty"`
	Clock     string                 `format:"time"             json:"clock,omitempty"`
	Email     string                 `format:"email"            json:"email,omitempty"`
	UUID      string                 `format:"uuid"             json:"uuid,omitempty"`
	URI       string                 `format:"uri"              json:"uri,omitempty"`
	IPv4      string                 `format:"ipv4"             json:"ipv4,omitempty"`
	IPv6      string                 `format:"ipv6"             json:"ipv6,omitempty"`
	Host      string                 `format:"hostname"         json:"host,omitempty"`
	Regex     string                 `format:"regex"            json:"regex,omitempty"`
}

type inner struct {
	A int    `json:"a"`
	B string `json:"b,omitempty" dependentRequired:"c"`
	C string `json:"c,omitempty"`
}

// found lists what a plan finds in a document, as "kind at location".
func found(plan *body.Plan, data string) []string {
	words := []string{}
	_, faults := plan.Decode([]byte(data), reflect.New(plan.Type()).Interface())
	for _, f := range faults {
		words = append(words, f.Kind+" at "+f.Location())
	}

	return words
}

func TestFaults(t *testing.T) {
	t.Parallel()

	plan := planOf[everything](t)
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)

	for _, tc := range []struct {
		data string
		want string // kinds and locations, empty when the document is good
	}{
		{`{}`, ""},
		{` { } `, ""},
		{`null`, "model_type at body"},
		{`[]`, "model_type at body"},
		{``, "missing at body"},
		{" \n", "missing at body"},

		{`{"bool":1}`, "bool_type at body.bool"},
		{`{"bool":null}`, ""},
		{`{"yes":true}`, ""},
		{`{"yes":false}`, "enum at body.yes"},
		{`{"int8":127}`, ""},
		{`{"int8":128}`, "int_overflow at body.int8"},
		{`{"int8":-128}`, ""},
		{`{"int8":-129}`, "int_overflow at body.int8"},
		{`{"int8":1.5}`, "int_from_float at body.int8"},
		{`{"int8":1e-1}`, "int_from_float at body.int8"},
		{`{"int8":128.0}`, "int_overflow at body.int8"},
		{`{"int8":1e400}`, "int_overflow at body.int8"},
		{`{"uint8":-1.0}`, "greater_than_equal at body.uint8"},
		{`{"level":1.5}`, "int_from_float at body.level"},
		{`{"level":3.0}`, "enum at body.level"},
		{`{"int8":"1"}`, "int_type at body.int8"},
		{`{"uint8":255}`, ""},
		{`{"uint8":256}`, "int_overflow at body.uint8"},
		{`{"uint8":-1}`, "greater_than_equal at body.uint8"},
		{`{"int64":9223372036854775807}`, ""},
		{`{"int64":9223372036854775808}`, "int_overflow at body.int64"},
		{`{"int64":-9223372036854775808}`, ""},
		{`{"uint64":18446744073709551615}`, ""},
		{`{"uint64":18446744073709551616}`, "int_overflow at body.uint64"},
		{`{"float":1e308}`, ""},
		{`{"float":1e309}`, "float_overflow at body.float"},
		{`{"float":"x"}`, "float_type at body.float"},
		{`{"float32":3.4e38}`, ""},
		{`{"float32":3.5e38}`, "float_overflow at body.float32"},
		{`{"min":1}`, "greater_than_equal at body.min"},
		{`{"min":2}`, ""},
		{`{"above":2}`, "greater_than at body.above"},
		{`{"max":3}`, "less_than_equal at body.max"},
		{`{"below":0.5}`, "less_than at body.below"},
		{`{"below":0.49}`, ""},
		{`{"step":0.3}`, ""},
		{`{"step":0.25}`, "multiple_of at body.step"},
		{`{"level":3}`, "enum at body.level"},
		{`{"level":2}`, ""},

		{`{"short":"é"}`, "string_too_short at body.short"},
		{`{"short":"\u00e9é"}`, ""},
		{`{"short":5}`, "string_type at body.short"},
		{`{"long":"éé"}`, ""},
		{`{"long":"abc"}`, "string_too_long at body.long"},
		{`{"pattern":"\u0061a"}`, ""},
		{`{"pattern":"ab"}`, "string_pattern_mismatch at body.pattern"},
		{`{"enum":"d"}`, "enum at body.enum"},
		{`{"enum":"\u0061"}`, ""},

		{`{"list":[]}`, "too_short at body.list"},
		{`{"list":[1,2,3]}`, "too_long at body.list"},
		{`{"list":{}}`, "list_type at body.list"},
		{`{"list":[1,"x"]}`, "int_type at body.list[1]"},
		{`{"list":[null]}`, "int_type at body.list[0]"},
		{`{"unique":[1,"1",true,null,{"a":1},{"a":2}]}`, ""},
		{`{"unique":[1,2,1]}`, "list_not_unique at body.unique"},
		{`{"unique":["a","\u0061"]}`, "list_not_unique at body.unique"},
		{`{"unique":[1,1.0]}`, "list_not_unique at body.unique"},
		{`{"unique":[{"a":1,"b":2},{"b":2,"a":1}]}`, "list_not_unique at body.unique"},
		{`{"array":[1]}`, "too_short at body.array"},
		{`{"array":[1,2]}`, ""},

		{`{"map":{}}`, "too_short at body.map"},
		{`{"map":{"a":1,"b":2,"c":3}}`, "too_long at body.map"},
		{`{"map":{"a":"x"}}`, "int_type at body.map.a"},
		{`{"map":[1]}`, "dict_type at body.map"},
		{`{"map":{"a":1,"\u0061":2}}`, "duplicate_key at body.map.a"},
		{`{"map":{"a":1,"A":2}}`, ""},
		{`{"intKeys":{"-128":true}}`, ""},
		{`{"intKeys":{"128":true}}`, "int_parsing at body.intKeys.128"},
		{`{"uintKeys":{"x":true}}`, "int_parsing at body.uintKeys.x"},

		{`{"inner":{"a":1}}`, ""},
		{`{"inner":{}}`, "missing at body.inner.a"},
		{`{"inner":{"a":null}}`, "int_type at body.inner.a"},
		{`{"inner":{"a":1,"b":"x"}}`, "missing at body.inner.c"},
		{`{"inner":{"a":1,"z":1}}`, "extra_forbidden at body.inner.z"},
		{`{"inner":{"a":1,"a":2}}`, "duplicate_key at body.inner.a"},
		{`{"inner":{"a":1,"A":2}}`, "key_case_mismatch at body.inner.A"},
		{`{"ſhort":"xx"}`, "key_case_mismatch at body.ſhort"},
		{`{"inners":{"k":[{"a":1},{"a":"x"}]}}`, "int_type at body.inners.k[1].a"},
		{`{"nested":{"x":{"nested":{"y":{"int8":300}}}}}`, "int_overflow at body.nested.x.nested.y.int8"},

		{`{"bytes":"AQI="}`, ""},
		{`{"bytes":"AQI"}`, "bytes_invalid_encoding at body.bytes"},
		{`{"bytes":"AQ\nI\u003d"}`, ""},
		{`{"bytes":"AQI=\u003d"}`, "bytes_invalid_encoding at body.bytes"},
		{`{"time":"2026-01-02T03:04:05+01:00"}`, ""},
		{`{"time":"2026-01-02"}`, "datetime_parsing at body.time"},
		{`{"number":1e999}`, "float_overflow at body.number"},
		{`{"number":"1"}`, "float_type at body.number"},
		{`{"any":{"a":{"b":1,"b":2}}}`, "duplicate_key at body.any.a.b"},
		{`{"any":[1,1e999]}`, "float_overflow at body.any[1]"},
		{`{"raw":[1,1e999]}`, ""},

		{`{"raw":null,"time":null,"addr":null,"big":null,"any":null,"bytes":null,"list":null,"map":null}`, ""},
		{`{"big":123456789012345678901234567890,"addr":"::1","textKeys":{"::2":true},"number":-1.50e3}`, ""},
		{`{"bytes":"","list":[1],"inners":{"":[]},"nested":{"m":{}},"any":[{"x":[]}]}`, ""},
		{`{"opt":-3,"optStrict":"\u00e9","optInner":{"a":1},"pointer":"p\ud83d\ude00"}`, ""},
		{`{"opt":null}`, ""},
		{`{"opt":128}`, "less_than_equal at body.opt"},
		{`{"opt":6}`, "less_than_equal at body.opt"},
		{`{"optStrict":null}`, "string_type at body.optStrict"},
		{`{"optInner":{"a":"x"}}`, "int_type at body.optInner.a"},
		{`{"optInner":null}`, ""},
		{`{"pointer":null}`, ""},

		{`{"date":"2026-02-30"}`, "date_parsing at body.date"},
		{`{"clock":"25:00:00"}`, "time_parsing at body.clock"},
		{`{"email":"a b"}`, "email_parsing at body.email"},
		{`{"uuid":"6ba7b810-9dad-11d1-80b4-00c04fd430c8"}`, ""},
		{`{"uuid":"urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8"}`, ""},
		{`{"uuid":"{6ba7b810-9dad-11d1-80b4-00c04fd430c8}"}`, ""},
		{`{"uuid":"6ba7b8109dad11d180b400c04fd430c8"}`, ""},
		{`{"uuid":"6ba7b810x9dad-11d1-80b4-00c04fd430c8"}`, "uuid_parsing at body.uuid"},
		{`{"uri":"%zz"}`, "url_parsing at body.uri"},
		{`{"ipv4":"::1"}`, "ip_v4_address at body.ipv4"},
		{`{"ipv6":"127.0.0.1"}`, "ip_v6_address at body.ipv6"},
		{`{"host":"-a.org"}`, "hostname_parsing at body.host"},
		{`{"regex":"("}`, "format_mismatch at body.regex"},

		{`{"any":` + deep + `}`, "recursion_limit at body.any" + strings.Repeat("[0]", 63)},
		{`{"int8":"x","bool":1,"z":1}`, "int_type at body.int8, bool_type at body.bool, extra_forbidden at body.z"},
	} {
		t.Run(tc.data, func(t *testing.T) {
			t.Parallel()

			if got := strings.Join(found(plan, tc.data), ", "); got != tc.want {
				t.Errorf("%s\n got %q\nwant %q", tc.data, got, tc.want)
			}

			if tc.want != "" {
				return
			}
			var got, want everything
			if _, faults := plan.Decode([]byte(tc.data), &got); len(faults) > 0 {
				t.Fatalf("decoding found %v", faults)
			}
			if err := json.Unmarshal([]byte(tc.data), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Errorf("read %+v, want %+v", got, want)
			}
		})
	}
}

func TestSyntax(t *testing.T) {
	t.Parallel()

	plan := planOf[everything](t)
	for data, want := range map[string]string{
		`{`:                        "is not valid JSON: unexpected end of the text at byte 1",
		`{"int8"`:                  "is not valid JSON: unexpected end of the text at byte 7",
		`{"int8"1}`:                "is not valid JSON: expected a colon after a key at byte 7",
		`{"int8":`:                 "is not valid JSON: unexpected end of the text at byte 8",
		`{"int8":1`:                "is not valid JSON: unexpected end of the text at byte 9",
		`{"int8":1,`:               "is not valid JSON: unexpected end of the text at byte 10",
		`{"int8":1,}`:              "is not valid JSON: unexpected comma at byte 10",
		`{,}`:                      "is not valid JSON: expected a key in quotes at byte 1",
		`{"list":[1 2]}`:           "is not valid JSON: expected a comma or the end of the list or object at byte 11",
		`{"list":[1,]}`:            "is not valid JSON: unexpected comma at byte 11",
		`{"list":[,1]}`:            "is not valid JSON: expected a value at byte 9",
		`{} {}`:                    "is not valid JSON: unexpected text after the value at byte 3",
		`{"int8":01}`:              "is not valid JSON: invalid number at byte 10",
		`{"int8":-}`:               "is not valid JSON: invalid number at byte 9",
		`{"float":1.}`:             "is not valid JSON: invalid number at byte 11",
		`{"float":1e+}`:            "is not valid JSON: invalid number at byte 12",
		`{"bool":tru}`:             "is not valid JSON: expected true at byte 11",
		`{"bool":nul`:              "is not valid JSON: unexpected end of the text at byte 11",
		`{"long":"\x"}`:            "is not valid JSON: invalid escape in a string at byte 9",
		`{"long":"\u12"}`:          "is not valid JSON: invalid escape in a string at byte 9",
		"{\"long\":\"a\nb\"}":      "is not valid JSON: control character in a string at byte 10",
		`{"long":"abc`:             "is not valid JSON: unexpected end of the text at byte 12",
		"\ufeff{}":                 "is not valid JSON: expected a value at byte 0",
		`{"int8":"wrong","bool":x`: "is not valid JSON: expected a value at byte 23",
		`{'int8':1}`:               "is not valid JSON: expected a key in quotes at byte 1",
	} {
		t.Run(data, func(t *testing.T) {
			t.Parallel()

			_, faults := plan.Decode([]byte(data), new(everything))
			if len(faults) != 1 || faults[0].Kind != fault.KindJSON || faults[0].Message != want {
				t.Errorf("%q: got %v, want %s", data, faults, want)
			}
			if json.Valid([]byte(data)) {
				t.Errorf("%q is JSON", data)
			}
		})
	}
}

// TestNoEcho sends a secret in every place that a fault is about.
func TestNoEcho(t *testing.T) {
	t.Parallel()

	plan := planOf[everything](t)
	for _, field := range Fields(t) {
		data := `{"` + field + `":"s3cr3t-é"}`
		_, faults := plan.Decode([]byte(data), new(everything))
		text, err := json.Marshal(faults)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text)+faultText(faults), "s3cr3t") {
			t.Errorf("%s: %s", data, text)
		}
	}
}

func faultText(faults []fault.Fault) string {
	var b strings.Builder
	for _, f := range faults {
		_, _ = b.WriteString(f.Location() + " " + f.Message + "\n")
	}

	return b.String()
}

// Fields are the names of the fields of everything.
func Fields(t *testing.T) []string {
	t.Helper()

	var names []string
	for _, f := range body.Fields(reflect.TypeFor[everything]()) {
		names = append(names, f.Name)
	}
	if len(names) < 40 {
		t.Fatalf("only %d fields", len(names))
	}

	return names
}

func TestForeignTypes(t *testing.T) {
	t.Parallel()

	plan := planOf[everything](t)
	for data, want := range map[string]string{
		`{"addr":"nowhere"}`:                     "ip_any_address at body.addr",
		`{"textKeys":{"nowhere":true}}`:          "value_error at body.textKeys.nowhere",
		`{"nested":{"x":{"addr":"nowhere"}}}`:    "ip_any_address at body.nested.x.addr",
		`{"addr":"::1","textKeys":{"::2":true}}`: "",
	} {
		t.Run(data, func(t *testing.T) {
			t.Parallel()

			if got := strings.Join(found(plan, data), ", "); got != want {
				t.Errorf("%s: got %q, want %q", data, got, want)
			}
		})
	}
}

func TestFaultLimit(t *testing.T) {
	t.Parallel()

	plan, err := body.Compile(reflect.TypeFor[[]int](), nil, body.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := found(plan, "["+strings.Repeat(`"a",`, 101))
	if len(got) != 101 || got[99] != "int_type at body[99]" || got[100] != "too_many_errors at body" {
		t.Errorf("got %d faults: %q", len(got), got)
	}
}

func TestCodec(t *testing.T) {
	t.Parallel()

	plan := planWith[everything](t, body.Options{Codec: refusing{}})
	_, faults := plan.Decode([]byte(`{"big":1}`), new(everything))
	want := []fault.Fault{{In: fault.Body, Path: []any{"big"}, Kind: fault.KindValue, Message: "cannot be read"}}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
}

// refusing is a codec that takes nothing, and would tell secrets about it.
type refusing struct{}

func (refusing) Unmarshal(data []byte, _ any) error {
	return &json.UnmarshalTypeError{Value: string(data), Type: reflect.TypeFor[int]()}
}
