package body_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/spoolhq/spool/rest/internal/body"
)

// modes reads documents into a T by itself, and with the codec for all.
type modes[T any] struct{ plan, after *body.Plan }

func newModes[T any](tb testing.TB) modes[T] {
	tb.Helper()

	return modes[T]{plan: planOf[T](tb), after: planWith[T](tb, body.Options{CodecOnly: true})}
}

// compare reads data in both ways, and returns whether it was good.
func (m modes[T]) compare(tb testing.TB, data []byte) bool {
	tb.Helper()

	var got, want T
	gotKeys, faults := m.plan.Decode(data, &got)
	wantKeys, late := m.after.Decode(data, &want)
	if len(faults) > 0 != (len(late) > 0) {
		tb.Fatalf("%T of %q has the faults %v, and %v with the codec", got, data, faults, late)
	}
	if len(faults) > 0 {
		return false
	}

	if !reflect.DeepEqual(got, want) {
		tb.Fatalf("%T of %q is %+v, and %+v with the codec", got, data, got, want)
	}
	if !reflect.DeepEqual(gotKeys.Names(), wantKeys.Names()) {
		tb.Fatalf("%T of %q had the keys %v, and %v with the codec", got, data, gotKeys.Names(), wantKeys.Names())
	}

	return true
}

const (
	goodEverything = `{"bool":true,"int8":-128,"uint8":255,"int64":-9223372036854775808,"uint64":18446744073709551615,` +
		`"float":-0.1e-3,"float32":1.1,"min":2,"short":"\u00e9\ud83d\ude00","list":[1,2],"unique":[1,"1"],"array":[1,2],` +
		`"map":{"a":1},"intKeys":{"-5":true},"uintKeys":{"5":false},"textKeys":{"::1":true},"inner":{"a":1},` +
		`"inners":{"k":[{"a":1,"b":"x","c":"y"}]},"bytes":"AQID","time":"2026-01-02T03:04:05.5+01:00","addr":"127.0.0.1",` +
		`"big":12345678901234567890123,"number":-1.50e3,"any":{"a":[null,1.5,{}]},"raw":[ 1 ],"opt":5,"optStrict":"x",` +
		`"optInner":{"a":0},"pointer":"","nested":{"n":{"int8":1,"nested":{}}}}`
	goodDefaulted = `{"express":false,"limit":0,"children":[{"name":""},{"children":[{}]}],"byName":{"a":{"byName":{"b":{}}}},` +
		`"byPtr":{"-1":{"tags":[]}},"fixed":[{}],"one":{"one":{}},"maybe":{},"color":"blue"}`
)

func TestModes(t *testing.T) {
	t.Parallel()

	a, b := newModes[everything](t), newModes[defaulted](t)
	if !a.compare(t, []byte(goodEverything)) || !b.compare(t, []byte(goodDefaulted)) {
		t.Fatal("the good documents are refused")
	}

	r := rand.New(rand.NewPCG(3, 4))
	rounds := 20000
	if testing.Short() {
		rounds = 2000
	}
	for range rounds {
		a.compare(t, []byte(mutate(r, mutate(r, goodEverything))))
		b.compare(t, []byte(mutate(r, mutate(r, goodDefaulted))))
	}
}

func FuzzModes(f *testing.F) {
	a, b := newModes[everything](f), newModes[defaulted](f)
	f.Add([]byte(goodEverything))
	f.Add([]byte(goodDefaulted))

	f.Fuzz(func(t *testing.T, data []byte) {
		a.compare(t, data)
		b.compare(t, data)
	})
}
