package bind_test

import (
	"errors"
	"math/big"
	"net/http"
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

type (
	color  string
	level  int8
	ratio  float32
	toggle bool
)

// UUID stands for the types of that name in the libraries that have one.
type UUID [4]byte

func (u *UUID) UnmarshalText(text []byte) error {
	if len(text) != len(u) {
		return errors.New("bad uuid " + string(text))
	}
	copy(u[:], text)

	return nil
}

type scalars struct {
	String   string        `query:"string"`
	Color    color         `query:"color"`
	Bool     bool          `query:"bool"`
	Toggle   toggle        `query:"toggle"`
	Int      int           `query:"int"`
	Int8     int8          `query:"int8"`
	Int16    int16         `query:"int16"`
	Int32    int32         `query:"int32"`
	Int64    int64         `query:"int64"`
	Level    level         `query:"level"`
	Uint     uint          `query:"uint"`
	Uint8    uint8         `query:"uint8"`
	Uint16   uint16        `query:"uint16"`
	Uint32   uint32        `query:"uint32"`
	Uint64   uint64        `query:"uint64"`
	Float32  float32       `query:"float32"`
	Float64  float64       `query:"float64"`
	Ratio    ratio         `query:"ratio"`
	Time     time.Time     `query:"time"`
	Date     time.Time     `format:"date"    query:"date"`
	Duration time.Duration `query:"duration"`
	Addr     netip.Addr    `query:"addr"`
	UUID     UUID          `query:"uuid"`
	Big      big.Int       `query:"big"`
}

func TestScalars(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name, text string
		get        func(s *scalars) any
		want       any
	}{
		{"string", "a b", func(s *scalars) any { return s.String }, "a b"},
		{"string", "", func(s *scalars) any { return s.String }, ""},
		{"color", "héllo", func(s *scalars) any { return s.Color }, color("héllo")},
		{"bool", "YES", func(s *scalars) any { return s.Bool }, true},
		{"toggle", "on", func(s *scalars) any { return s.Toggle }, toggle(true)},
		{"int", "-7", func(s *scalars) any { return s.Int }, -7},
		{"int8", "-128", func(s *scalars) any { return s.Int8 }, int8(-128)},
		{"int16", "32767", func(s *scalars) any { return s.Int16 }, int16(32767)},
		{"int32", "-2147483648", func(s *scalars) any { return s.Int32 }, int32(-2147483648)},
		{"int64", "9223372036854775807", func(s *scalars) any { return s.Int64 }, int64(9223372036854775807)},
		{"level", "3", func(s *scalars) any { return s.Level }, level(3)},
		{"uint", "7", func(s *scalars) any { return s.Uint }, uint(7)},
		{"uint8", "255", func(s *scalars) any { return s.Uint8 }, uint8(255)},
		{"uint16", "65535", func(s *scalars) any { return s.Uint16 }, uint16(65535)},
		{"uint32", "4294967295", func(s *scalars) any { return s.Uint32 }, uint32(4294967295)},
		{"uint64", "18446744073709551615", func(s *scalars) any { return s.Uint64 }, uint64(18446744073709551615)},
		{"float32", "1.5", func(s *scalars) any { return s.Float32 }, float32(1.5)},
		{"float64", "-1e300", func(s *scalars) any { return s.Float64 }, -1e300},
		{"ratio", "0.25", func(s *scalars) any { return s.Ratio }, ratio(0.25)},
		{
			"time", "2026-02-28T10:00:00.5Z",
			func(s *scalars) any { return s.Time },
			time.Date(2026, 2, 28, 10, 0, 0, 5e8, time.UTC),
		},
		{"date", "2026-02-28", func(s *scalars) any { return s.Date }, time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)},
		{"duration", "1h30m", func(s *scalars) any { return s.Duration }, 90 * time.Minute},
		{"addr", "::1", func(s *scalars) any { return s.Addr.String() }, "::1"},
		{"uuid", "abcd", func(s *scalars) any { return s.UUID }, UUID{'a', 'b', 'c', 'd'}},
		{"big", "99999999999999999999", func(s *scalars) any { return s.Big.String() }, "99999999999999999999"},
	} {
		t.Run(c.name+"="+c.text, func(t *testing.T) {
			t.Parallel()

			got, faults := read[scalars](t, get(c.name+"="+url.QueryEscape(c.text)))
			if len(faults) > 0 {
				t.Fatalf("faults: %v", faults)
			}
			if diff := cmp.Diff(c.want, c.get(&got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScalarsRefuse(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ name, text, kind string }{
		{"string", "secret\x00", fault.KindNUL},
		{"string", "secret\xff", fault.KindUnicode},
		{"addr", "secret\x00", fault.KindNUL},
		{"bool", "secret", fault.KindBoolParsing},
		{"bool", "", fault.KindBoolParsing},
		{"bool", "2", fault.KindBoolParsing},
		{"int", "secret", fault.KindIntParsing},
		{"int", "", fault.KindIntParsing},
		{"int", "1.0", fault.KindIntParsing},
		{"int", "1_000", fault.KindIntParsing},
		{"int", "0x10", fault.KindIntParsing},
		{"int", " 1", fault.KindIntParsing},
		{"int8", "128", fault.KindIntOverflow},
		{"int16", "-32769", fault.KindIntOverflow},
		{"int32", "4294967297", fault.KindIntOverflow},
		{"int64", "9223372036854775808", fault.KindIntOverflow},
		{"level", "-129", fault.KindIntOverflow},
		{"uint", "-1", fault.KindIntOverflow},
		{"uint", "-", fault.KindIntParsing},
		{"uint", "-secret", fault.KindIntParsing},
		{"uint8", "256", fault.KindIntOverflow},
		{"uint16", "65536", fault.KindIntOverflow},
		{"uint32", "4294967296", fault.KindIntOverflow},
		{"uint64", "18446744073709551616", fault.KindIntOverflow},
		{"float32", "1e39", fault.KindFloatOverflow},
		{"float64", "1e400", fault.KindFloatOverflow},
		{"float64", "NaN", fault.KindNotFinite},
		{"float64", "-Inf", fault.KindNotFinite},
		{"float64", "0x1p4", fault.KindFloatParsing},
		{"float64", "secret", fault.KindFloatParsing},
		{"time", "2026-02-28", fault.KindDateTime},
		{"time", "2026-02-30T00:00:00Z", fault.KindDateTime},
		{"time", "2026-02-28T10:00:00,5Z", fault.KindDateTime},
		{"time", "2026-02-28T1:00:00Z", fault.KindDateTime},
		{"time", "2026-02-28T10:00:00+24:00", fault.KindDateTime},
		{"time", "2026-02-28T10:00:00+01:60", fault.KindDateTime},
		{"date", "2026-02-28T00:00:01Z", fault.KindDate},
		{"date", "2026-02-30", fault.KindDate},
		{"duration", "secret", fault.KindDuration},
		{"duration", "90", fault.KindDuration},
		{"addr", "secret", fault.KindValue},
		{"uuid", "secret", fault.KindUUID},
		{"big", "secret", fault.KindValue},
	} {
		t.Run(c.name+"="+c.text, func(t *testing.T) {
			t.Parallel()

			_, faults := read[scalars](t, get(c.name+"="+url.QueryEscape(c.text)))
			want := []string{"query." + c.name + " " + c.kind}
			if diff := cmp.Diff(want, summary(faults)); diff != "" {
				t.Fatal(diff)
			}
			if message := faults[0].Message; message == "" || strings.Contains(message, "secret") {
				t.Errorf("message %q", message)
			}
		})
	}
}

func TestBoolWords(t *testing.T) {
	t.Parallel()

	for value, words := range map[bool]string{
		true:  "true TRUE True 1 yes Yes on ON t T y Y",
		false: "false FALSE False 0 no No off OFF f F n N",
	} {
		for word := range strings.FieldsSeq(words) {
			got, faults := read[struct {
				Bool *bool `query:"b"`
			}](t, get("b="+word))
			if len(faults) > 0 || got.Bool == nil || *got.Bool != value {
				t.Errorf("%s: got %v, %v, want %v", word, got.Bool, faults, value)
			}
		}
	}
}

type wrapped struct {
	Pointer *int                   `query:"pointer"`
	Text    *string                `query:"text"`
	Addr    *netip.Addr            `query:"addr"`
	Big     *big.Int               `query:"big"`
	List    *[]int                 `query:"plist"`
	Int     opt.Opt[int]           `query:"int"`
	String  opt.Opt[string]        `query:"string"`
	Time    opt.Opt[time.Time]     `query:"time"`
	Small   opt.Opt[uint8]         `query:"small"`
	Ints    opt.Opt[[]int]         `query:"ints"`
	Wait    opt.Opt[time.Duration] `query:"wait"`
}

func TestPresence(t *testing.T) {
	t.Parallel()

	t.Run("Absent", func(t *testing.T) {
		t.Parallel()

		got, faults := read[wrapped](t, get("other=1"))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		if got.Pointer != nil || got.Text != nil || got.Addr != nil || got.Big != nil || got.List != nil {
			t.Errorf("a pointer is set: %+v", got)
		}
		if !got.Int.IsAbsent() || !got.String.IsAbsent() || !got.Time.IsAbsent() || !got.Ints.IsAbsent() {
			t.Errorf("an Opt is there: %+v", got)
		}
	})

	t.Run("Set", func(t *testing.T) {
		t.Parallel()

		got, faults := read[wrapped](t, get("pointer=0&text=&addr=10.0.0.1&big=5&plist=1&plist=2"+
			"&int=0&string=&time=2026-01-02T03:04:05Z&small=9&ints=4&ints=5&wait=3s"))
		if len(faults) > 0 {
			t.Fatal(faults)
		}

		pointers := []any{*got.Pointer, *got.Text, got.Addr.String(), got.Big.String(), *got.List}
		if diff := cmp.Diff([]any{0, "", "10.0.0.1", "5", []int{1, 2}}, pointers); diff != "" {
			t.Error(diff)
		}
		if value, ok := got.Int.Get(); !ok || value != 0 {
			t.Errorf("int: %v, %v", value, ok)
		}
		if value, ok := got.String.Get(); !ok || value != "" {
			t.Errorf("string: %q, %v", value, ok)
		}
		if value, ok := got.Time.Get(); !ok || !value.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
			t.Errorf("time: %v, %v", value, ok)
		}
		if value, ok := got.Small.Get(); !ok || value != 9 {
			t.Errorf("small: %v, %v", value, ok)
		}
		if value, ok := got.Ints.Get(); !ok || !cmp.Equal(value, []int{4, 5}) {
			t.Errorf("ints: %v, %v", value, ok)
		}
		if value, ok := got.Wait.Get(); !ok || value != 3*time.Second {
			t.Errorf("wait: %v, %v", value, ok)
		}
	})

	t.Run("EmptyIsNoInteger", func(t *testing.T) {
		t.Parallel()

		_, faults := read[wrapped](t, get("int=&pointer="))
		want := []string{"query.pointer int_parsing", "query.int int_parsing"}
		if diff := cmp.Diff(want, summary(faults)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPointersAreNotShared(t *testing.T) {
	t.Parallel()

	type in struct {
		Limit *int     `default:"5"   query:"limit"`
		Tags  []string `default:"a,b" query:"tag"`
	}
	plan := compile[in](t, bind.Options{})

	var one, two in
	plan.Bind(bind.NewInput(get(""), nil), &one)
	plan.Bind(bind.NewInput(get(""), nil), &two)
	*one.Limit, one.Tags[0] = 9, "z"

	if *two.Limit != 5 || two.Tags[0] != "a" {
		t.Errorf("a default is shared: %d, %v", *two.Limit, two.Tags)
	}
}

func TestEverySource(t *testing.T) {
	t.Parallel()

	type in struct {
		ID      int64    `path:"id"`
		Rest    string   `path:"rest"`
		Q       string   `query:"q"`
		Trace   string   `header:"x-trace-id"` //nolint:tagliatelle // its case does not matter
		Langs   []string `header:"Accept-Language,comma"`
		Lines   []string `header:"X-Line"`
		Host    string   `header:"Host"`
		Session string   `cookie:"session"`
		Seen    []int    `cookie:"seen"`
		Body    struct{ Title string }
	}

	r := get("q=hello")
	r.SetPathValue("id", "42")
	r.Header = http.Header{
		"X-Trace-Id":      {"abc"},
		"Accept-Language": {"de, en", "fr"},
		"X-Line":          {"a, b", "c"},
		"Cookie":          {`session="s 1"; seen=1`, "seen=2"},
	}

	got, faults := read[in](t, r)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	want := in{
		ID: 42, Q: "hello", Trace: "abc", Langs: []string{"de", "en", "fr"}, Lines: []string{"a, b", "c"},
		Host: "example.com", Session: "s 1", Seen: []int{1, 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

type wildcards map[string]string

func (w wildcards) PathValue(name string) string { return w[name] }

func TestPathValues(t *testing.T) {
	t.Parallel()

	type in struct {
		Shop int `path:"shop"`
	}
	plan := compile[in](t, bind.Options{})

	values := wildcards{"shop": "7"}
	input := bind.NewInput(get(""), values)

	var got in
	if faults := plan.Bind(input, &got); len(faults) > 0 || got.Shop != 7 {
		t.Errorf("got %+v, %v", got, faults)
	}

	values["shop"] = "abc"
	if diff := cmp.Diff([]string{"path.shop int_parsing"}, summary(plan.Bind(input, &got))); diff != "" {
		t.Error(diff)
	}
}
