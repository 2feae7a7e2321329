package body_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/spoolhq/spool/rest/internal/body"
)

// compare reads data as a T, by a plan and by encoding/json, and returns whether the plan takes
// it. Defaults are left to [TestDefaults]: encoding/json knows none.
func compare[T any](tb testing.TB, plan *body.Plan, data []byte) bool {
	tb.Helper()

	var got, want T
	if _, faults := plan.Decode(data, &got); len(faults) > 0 {
		return false
	}
	plain := plainly(data)
	if err := json.Unmarshal(plain, &want); err != nil {
		tb.Fatalf("%T of %q is taken, and encoding/json refuses it: %v", got, data, err)
	}
	if bytes.Equal(plain, data) && !reflect.DeepEqual(got, want) {
		tb.Fatalf("%T of %q is %+v, and %+v to encoding/json", got, data, got, want)
	}

	return true
}

const goodEverything = `{"bool":true,"int8":-128,"uint8":255,"int64":-9223372036854775808,"uint64":18446744073709551615,` +
	`"float":-0.1e-3,"float32":1.1,"min":2,"short":"\u00e9\ud83d\ude00","list":[1,2],"unique":[1,"1"],"array":[1,2],` +
	`"map":{"a":1},"intKeys":{"-5":true},"uintKeys":{"5":false},"textKeys":{"::1":true},"inner":{"a":1},` +
	`"inners":{"k":[{"a":1,"b":"x","c":"y"}]},"bytes":"AQID","time":"2026-01-02T03:04:05.5+01:00","addr":"127.0.0.1",` +
	`"big":12345678901234567890123,"number":-1.50e3,"any":{"a":[null,1.5,{}]},"raw":[ 1 ],"opt":5,"optStrict":"x",` +
	`"optInner":{"a":0},"pointer":"","nested":{"n":{"int8":1,"nested":{}}}}`

func TestAsEncodingJSON(t *testing.T) {
	t.Parallel()

	plan := planOf[everything](t)
	if !compare[everything](t, plan, []byte(goodEverything)) {
		t.Fatal("the good document is refused")
	}

	r := rand.New(rand.NewPCG(3, 4))
	rounds := 20000
	if testing.Short() {
		rounds = 2000
	}
	for range rounds {
		compare[everything](t, plan, []byte(mutate(r, mutate(r, goodEverything))))
	}
}

func FuzzAsEncodingJSON(f *testing.F) {
	plan := planOf[everything](f)
	f.Add([]byte(goodEverything))

	f.Fuzz(func(t *testing.T, data []byte) { compare[everything](t, plan, data) })
}
