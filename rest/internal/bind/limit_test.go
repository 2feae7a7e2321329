package bind_test

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/opt"
)

type limited struct {
	Int      int           `maximum:"10"                 minimum:"-2"         query:"int"`
	Small    int8          `exclusiveMaximum:"5"         exclusiveMinimum:"0" query:"small"`
	Even     int64         `multipleOf:"2"               query:"even"`
	Big      int64         `maximum:"9007199254740992"   query:"big"`
	Uint     uint16        `maximum:"9"                  minimum:"1"          multipleOf:"3" query:"uint"`
	Float    float64       `exclusiveMaximum:"1.5"       minimum:"0.5"        query:"float"`
	Cents    float64       `multipleOf:"0.1"             query:"cents"`
	Single   float32       `maximum:"2.5"                query:"single"`
	Wait     time.Duration `maximum:"1h"                 minimum:"1s"         query:"wait"`
	Text     string        `maxLength:"4"                minLength:"2"        query:"text"`
	Code     string        `maxLength:"3"                pattern:"^[A-Z]+$"   query:"code"`
	Color    string        `enum:"red,green"             query:"color"`
	One      int           `enum:"1,2,3"                 query:"one"`
	Day      time.Time     `enum:"2026-01-01,2026-06-01" format:"date"        query:"day"`
	UUID     UUID          `pattern:"^a"                 query:"uuid"`
	List     []int         `maxItems:"3"                 minItems:"2"         minimum:"1"    query:"list" uniqueItems:"true"`
	Words    []string      `enum:"a,b"                   query:"words"`
	Optional opt.Opt[int]  `maximum:"5"                  query:"optional"`
	Pointer  *string       `maxLength:"1"                query:"pointer"`
	Email    string        `format:"email"               query:"email"`
	ID       string        `format:"uuid"                query:"id"`
	Link     string        `format:"uri"                 query:"link"`
	V4       string        `format:"ipv4"                query:"v4"`
	V6       string        `format:"ipv6"                query:"v6"`
	Name     string        `format:"hostname"            query:"name"`
	At       string        `format:"date-time"           query:"at"`
	On       string        `format:"date"                query:"on"`
	Clock    string        `format:"time"                query:"clock"`
	For      string        `format:"duration"            query:"for"`
	Free     string        `format:"password"            query:"free"`
}

func TestLimits(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name string
		good []string
		bad  map[string]string // text to kind
	}{
		{"int", []string{"-2", "0", "10"}, map[string]string{
			"-3": fault.KindGreaterEqual, "11": fault.KindLessEqual,
		}},
		{"small", []string{"1", "4"}, map[string]string{"0": fault.KindGreater, "5": fault.KindLess}},
		{"even", []string{"-4", "0", "2"}, map[string]string{"3": fault.KindMultipleOf, "-1": fault.KindMultipleOf}},
		{"big", []string{"9007199254740992"}, map[string]string{"9007199254740993": fault.KindLessEqual}},
		{
			"uint",
			[]string{"3", "9"},
			map[string]string{"0": fault.KindGreaterEqual, "12": fault.KindLessEqual, "4": fault.KindMultipleOf},
		},
		{"float", []string{"0.5", "1.4999"}, map[string]string{"0.49": fault.KindGreaterEqual, "1.5": fault.KindLess}},
		{"cents", []string{"0.3", "0", "-12.7"}, map[string]string{"0.35": fault.KindMultipleOf}},
		{"single", []string{"2.5"}, map[string]string{"2.6": fault.KindLessEqual}},
		{"wait", []string{"1s", "60m"}, map[string]string{"999ms": fault.KindGreaterEqual, "61m": fault.KindLessEqual}},
		{
			"text",
			[]string{"éé", "éèêë"},
			map[string]string{"é": fault.KindTooShort, "": fault.KindTooShort, "éèêëē": fault.KindTooLong},
		},
		{"code", []string{"ABC"}, map[string]string{"abc": fault.KindPattern, "ABCD": fault.KindTooLong}},
		{"color", []string{"red"}, map[string]string{"Red": fault.KindEnum, "": fault.KindEnum}},
		{"one", []string{"1", "+3", "02"}, map[string]string{"4": fault.KindEnum}},
		{"day", []string{"2026-06-01"}, map[string]string{"2026-06-02": fault.KindEnum}},
		{"uuid", []string{"abcd"}, map[string]string{"bcde": fault.KindPattern}},
		{"optional", []string{"5"}, map[string]string{"6": fault.KindLessEqual}},
		{"pointer", []string{"", "x"}, map[string]string{"xy": fault.KindTooLong}},
		{"email", []string{"a@example.com"}, map[string]string{"a": fault.KindEmail, "A <a@example.com>": fault.KindEmail}},
		{"id", []string{"0123abcd-0123-4567-89ab-0123456789AB"}, map[string]string{
			"0123abcd012345678 9ab0123456789AB": fault.KindUUID, "": fault.KindUUID,
		}},
		{"link", []string{"https://example.com/a"}, map[string]string{"/a": fault.KindURL, "http://[": fault.KindURL}},
		{"v4", []string{"10.0.0.1"}, map[string]string{"::1": fault.KindIPv4, "10.0.0": fault.KindIPv4}},
		{"v6", []string{"::1"}, map[string]string{"10.0.0.1": fault.KindIPv6}},
		{"name", []string{"a-b.example"}, map[string]string{
			"-a": fault.KindHostname, "a..b": fault.KindHostname, "a_b": fault.KindHostname,
			strings.Repeat("a", 64): fault.KindHostname, strings.Repeat("a.", 127): fault.KindHostname,
		}},
		{"at", []string{"2026-01-02T03:04:05+02:00"}, map[string]string{"2026-01-02": fault.KindDateTime}},
		{"on", []string{"2026-01-02"}, map[string]string{"2026-1-2": fault.KindDate}},
		{"clock", []string{"03:04:05", "03:04:05Z", "03:04:05+02:00"}, map[string]string{"3": fault.KindTime}},
		{"for", []string{"1h"}, map[string]string{"1": fault.KindDuration}},
		{"free", []string{"whatever"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			for _, text := range c.good {
				if _, faults := read[limited](t, get(c.name+"="+url.QueryEscape(text))); len(faults) > 0 {
					t.Errorf("%q: %v", text, faults)
				}
			}
			for text, kind := range c.bad {
				_, faults := read[limited](t, get(c.name+"="+url.QueryEscape(text)))
				if diff := cmp.Diff([]string{"query." + c.name + " " + kind}, summary(faults)); diff != "" {
					t.Errorf("%q: %s", text, diff)
				}
			}
		})
	}
}

func TestLimitsOfLists(t *testing.T) {
	t.Parallel()

	for query, want := range map[string][]string{
		"":                                nil,
		"list=1&list=2":                   nil,
		"list=1&list=2&list=3":            nil,
		"list=1":                          {"query.list too_short"},
		"list=1&list=2&list=3&list=4":     {"query.list too_long"},
		"list=1&list=01":                  {"query.list list_not_unique"},
		"list=0&list=1&list=x":            {"query.list[0] greater_than_equal", "query.list[2] int_parsing"},
		"words=a&words=b&words=c&words=a": {"query.words[2] enum"},
	} {
		_, faults := read[limited](t, get(query))
		if diff := cmp.Diff(want, summary(faults)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

// Every size of number is loaded by code of its own.
func TestLimitsOfEverySize(t *testing.T) {
	t.Parallel()

	type in struct {
		Int     int     `maximum:"5" query:"int"`
		Int8    int8    `maximum:"5" query:"int8"`
		Int16   int16   `maximum:"5" query:"int16"`
		Int32   int32   `maximum:"5" query:"int32"`
		Int64   int64   `maximum:"5" query:"int64"`
		Uint    uint    `maximum:"5" query:"uint"`
		Uint8   uint8   `maximum:"5" query:"uint8"`
		Uint16  uint16  `maximum:"5" query:"uint16"`
		Uint32  uint32  `maximum:"5" query:"uint32"`
		Uint64  uint64  `maximum:"5" query:"uint64"`
		Float32 float32 `maximum:"5" query:"float32"`
		Float64 float64 `maximum:"5" query:"float64"`
	}

	var good, bad, want []string
	for _, p := range compile[in](t, bind.Options{}).Params() {
		good = append(good, p.Name+"=5")
		bad = append(bad, p.Name+"=6")
		want = append(want, "query."+p.Name+" less_than_equal")
	}

	if _, faults := read[in](t, get(strings.Join(good, "&"))); len(faults) > 0 {
		t.Error(faults)
	}
	_, faults := read[in](t, get(strings.Join(bad, "&")))
	if diff := cmp.Diff(want, summary(faults)); diff != "" {
		t.Error(diff)
	}
}

// The words of a type's own error may quote what was sent.
func TestMessagesOfUnmarshalers(t *testing.T) {
	t.Parallel()

	type in struct {
		Addr   netip.Addr    `query:"addr"`
		Prefix netip.Prefix  `query:"prefix"`
		Book   opt.Opt[ISBN] `query:"book"`
		UUID   UUID          `query:"uuid"`
	}

	_, faults := read[in](t, get("addr=secret&prefix=secret&book=secret&uuid=secret"))

	var messages []string
	for _, f := range faults {
		messages = append(messages, f.Message)
	}
	want := []string{
		"must be an IP address", "must be an IP network, such as 192.0.2.0/24",
		"must be an isbn", "must be a UUID, such as 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d",
	}
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Error(diff)
	}
}

// ISBN refuses every text.
type ISBN string

func (*ISBN) UnmarshalText(text []byte) error { return errors.New("bad isbn " + string(text)) }

func TestEnumsAndDefaultsAsJSON(t *testing.T) {
	t.Parallel()

	type in struct {
		Word  string   `default:"a,b"       enum:"[\"a,b\",\"c\"]" query:"word"`
		Words []string `default:"[\"x,y\"]" query:"words"`
		Level int      `enum:"[1,2]"        query:"level"`
	}

	got, faults := read[in](t, get("level=2"))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if diff := cmp.Diff(in{"a,b", []string{"x,y"}, 2}, got); diff != "" {
		t.Error(diff)
	}

	_, faults = read[in](t, get("level=3&word=a"))
	want := []fault.Fault{
		fault.Enum("query", []any{"word"}, []any{"a,b", "c"}),
		fault.Enum("query", []any{"level"}, []any{1, 2}),
	}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
}

func TestUniqueTimes(t *testing.T) {
	t.Parallel()

	type in struct {
		At []time.Time `query:"at" uniqueItems:"true"`
	}

	_, faults := read[in](t, get("at=2026-01-01T12:00:00%2B02:00&at=2026-01-01T10:00:00Z"))
	if diff := cmp.Diff([]string{"query.at list_not_unique"}, summary(faults)); diff != "" {
		t.Error(diff)
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()

	type in struct {
		Shop  int    `minimum:"1"    path:"shop"`
		Code  string `maxLength:"3"  pattern:"^[A-Z]+$" query:"code"`
		Max   int    `maximum:"10"   query:"max"`
		Need  string `query:"need"   required:"true"`
		Trace bool   `header:"Trace"`
	}

	r := get("code=abcd&max=11")
	r.SetPathValue("shop", "0")
	r.Header.Set("Trace", "maybe")

	_, faults := read[in](t, r)
	want := []fault.Fault{
		fault.GreaterEqual("path", []any{"shop"}, 1),
		fault.TooLong("query", []any{"code"}, 3),
		fault.Pattern("query", []any{"code"}, "^[A-Z]+$"),
		fault.LessEqual("query", []any{"max"}, 10),
		fault.Missing("query", []any{"need"}),
		fault.BoolParsing("header", []any{"Trace"}),
	}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
}

func TestDurationLimitInWords(t *testing.T) {
	t.Parallel()

	_, faults := read[limited](t, get("wait=0s"))
	want := []fault.Fault{{
		In: "query", Path: []any{"wait"}, Kind: fault.KindGreaterEqual,
		Message: "must be at least 1s", Limits: map[string]any{"ge": "1s"},
	}}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
}

func TestSnakeCase(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"ID": "id", "AuthorID": "author_id", "HTTPServer": "http_server", "MinPrice": "min_price",
		"A": "a", "Line2": "line2", "already_snake": "already_snake", "Price_GTE": "price_gte", "IDs": "ids",
		"URLsSeen": "urls_seen", "AStar": "a_star",
	} {
		if got := bind.SnakeCase(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
