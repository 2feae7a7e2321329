package wire_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/wire"
)

type colour string

type origin struct {
	From string    `json:"from"`
	At   time.Time `json:"at"`
}

type origins struct {
	Left  *int     `json:"left"`
	Names []string `json:"names"`
}

// flat has all that [wire.Plan.Append] writes.
type flat struct {
	origin
	*origins

	Text     string          `json:"text"`
	Colour   colour          `json:"farbeÄ,omitempty"`
	Flag     bool            `json:"flag,omitempty"`
	Small    int8            `json:"small"`
	Whole    int64           `json:"whole,omitempty"`
	Count    uint16          `json:"count"`
	Wait     time.Duration   `json:"wait"`
	Float    float64         `json:"float"`
	Short    float32         `json:"short"`
	Until    time.Time       `json:"until,omitzero"`
	Next     *flat           `json:"next"`
	Parts    []flat          `json:"parts,omitempty"`
	Pointers []*int64        `json:"pointers"`
	Lists    [][]string      `json:"lists"`
	Null     []string        `json:"null"              nullable:"true"`
	Pair     [2]float64      `json:"pair"`
	Any      any             `json:"any"`
	Empty    struct{}        `json:"empty"`
	Hidden   map[string]bool `json:"-"`
}

// standard is what the standard codec writes for a value, and false if it writes nothing.
func standard(v any) (string, bool) {
	value, text, err := wire.Prepare(v, json.Marshal)
	if err != nil || text != nil {
		return "", false
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", false
	}

	return b.String(), true
}

// FuzzAppend compares with encoding/json.
func FuzzAppend(f *testing.F) {
	f.Add("", int64(0), 0.0, false)
	f.Add("plain", int64(-7), 0.5, true)
	f.Add("\x00\x1f\b\t\n\v\f\r\"\\/<>&\x7f\u0080ä\u2027\u2028\u2029\u202a\ufffd😀\xff\xc3(\xed\xa0\x80", int64(1), 1e-6, true)
	for _, number := range []float64{
		math.Copysign(0, -1), 1e-7, 9.9999e-7, 1e20, 1e21, 1e-100, -1e-9, 1e100, 16777217, 3.4e38, 3e-45, math.MaxFloat64,
		math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1),
	} {
		f.Add("number", int64(math.MaxInt64), number, false)
	}
	for _, second := range []int64{-62135596801, 253402300799, 253402300800, 1e15, math.MinInt64} {
		f.Add("time", second, 1.0, true)
	}
	f.Fuzz(func(t *testing.T, text string, whole int64, number float64, flag bool) {
		v := flat{
			origin: origin{From: text, At: time.Unix(whole, whole).UTC()}, Text: text + text, Colour: colour(text), Flag: flag,
			Small: int8(whole), Whole: whole, Count: uint16(whole), Wait: time.Duration(whole), Float: number,
			Short: float32(number), Pair: [2]float64{-number, float64(whole)}, Any: []flat{{Any: &whole}, {Any: text}},
		}
		if flag {
			inner := v
			inner.Any = origin{From: text}
			v.origins = &origins{Names: []string{text, ""}}
			v.Until, v.Next = v.At.In(time.FixedZone(text, int(int32(whole)))), &inner
			v.Parts, v.Pointers = []flat{inner, {}}, []*int64{nil, &whole}
			v.Lists, v.Null = [][]string{nil, {text}}, []string{}
		}
		for _, value := range []any{v, &v, []*flat{&v}, text, number, &whole, []any{text, nil, flag}} {
			got, ok := wire.PlanOf(reflect.TypeOf(value)).Append([]byte("x"), value)
			want, wantOK := standard(value)
			if ok != wantOK || ok && string(got)+"\n" != "x"+want {
				t.Errorf("%T: got %v %s\nwant %v %s", value, ok, got, wantOK, want)
			}
		}
	})
}

// asks says itself whether it is zero.
type asks struct{ zero bool }

func (a asks) IsZero() bool { return a.zero }

func TestAppendLeavesToTheCodec(t *testing.T) {
	t.Parallel()

	loop := &flat{}
	loop.Next = loop
	for name, v := range map[string]any{
		"Nil":       nil,
		"Map":       map[string]int{},
		"Bytes":     struct{ B []byte }{},
		"Opt":       struct{ O opt.Opt[int] }{},
		"Number":    json.Number("1"),
		"Marshaler": []json.RawMessage{},
		"Method":    struct{ E error }{},
		"InAny":     []any{1, map[string]int{}},
		"Quoted": struct {
			N int `json:"n,string"`
		}{},
		"Zero": struct {
			A asks `json:"a,omitzero"`
		}{},
		"Form": struct {
			D time.Duration `format:"duration"`
		}{},
		"Name": struct {
			N int `json:"<b>"`
		}{},
		"NilPointer": []*origin{nil},
		"Loop":       loop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if text, ok := (wire.Plan{}).Append(nil, v); ok {
				t.Errorf("appended %s", text)
			}
		})
	}
}

func TestAppendNeedsNoMemory(t *testing.T) { //nolint:paralleltest // what others allocate would be counted
	v := []flat{{Text: "a\nb", Lists: [][]string{{"a"}}, Float: 2.5, Any: "x"}}
	plan, room := wire.PlanOf(reflect.TypeOf(v)), make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { _, _ = plan.Append(room, &v) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if diff := cmp.Diff("[]", write(t, []flat(nil))); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkAppend(b *testing.B) {
	v := []flat{{origin: origin{"Ada", time.Unix(1, 2).UTC()}, Text: "Ships within a week", Float: 19.9}}
	plan := wire.PlanOf(reflect.TypeOf(v))
	b.Run("Append", func(b *testing.B) {
		var to []byte
		for b.Loop() {
			to, _ = plan.Append(to[:0], &v)
		}
	})
	b.Run("Encoder", func(b *testing.B) {
		var to bytes.Buffer
		encoder := json.NewEncoder(&to)
		for b.Loop() {
			to.Reset()
			_ = encoder.Encode(&v)
		}
	})
}
