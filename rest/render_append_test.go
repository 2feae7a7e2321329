package rest_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

// encoded is a renderer of a program: its bodies pass through the codec.
type encoded struct{ rest.ErrorRenderer }

// oddFaults are hard to write down.
var oddFaults = []rest.Fault{
	{},
	{In: "body"},
	{In: "body", Kind: "k", Message: "plain"},
	{In: "body", Path: []any{"a", 0, "b", 12, ""}, Kind: "k", Message: "a\"b\\c\nd\x00e\x7f\u2028\u00e9\xff<&>"},
	{In: "body", Path: []any{`a"b`, "c/d~e", "f\xff", "\u2029", "<"}, Kind: "k", Message: "m"},
	{In: "query", Path: []any{"\u65e5\u672c", -1}, Kind: "k", Message: "m"},
	{In: "body", Path: []any{int64(7), 1.5, nil}, Kind: "k", Message: "m"},
	{
		In: "body", Kind: "k",
		Limits: map[string]any{"b": 1, "a": "x\ty", "c": 0.5, "d": 1e21, "e": 1e-7, "f": 0.0, "g": math.Copysign(0, -1)},
	},
	{
		In: "body", Kind: "k",
		Limits: map[string]any{"i": int64(math.MinInt64), "u": uint64(math.MaxUint64), "list": []any{1, "x", nil}, "<": true},
	},
	{In: "body", Kind: "k", Limits: map[string]any{"whole": 1e15, "edge": 1 << 53, "far": float64(1 << 53), "neg": -42.0}},
	{In: "body", Kind: "k", Limits: map[string]any{}},
	{In: "", Path: []any{"a"}, Kind: "k", Message: strings.Repeat("long ", 1000)},
}

// TestErrorsAreWrittenAsTheCodecWrites holds the bodies that are written without reflection
// against those of the codec, byte by byte.
func TestErrorsAreWrittenAsTheCodecWrites(t *testing.T) {
	t.Parallel()

	all := []error{
		rest.Invalid(oddFaults...), rest.NotFound(""), rest.NotFound("é \"quoted\" <x>"), errors.New("plain"),
		&rest.Error{Status: 499}, &rest.Error{Status: 422, Code: "c\"d", Detail: "\x01"},
		rest.Invalid(rest.Fault{In: "body", Kind: "k", Limits: map[string]any{"nan": math.NaN()}}),
		rest.Invalid(rest.Fault{In: "body", Kind: "k", Limits: map[string]any{"func": func() {}}}),
	}
	for _, f := range oddFaults {
		all = append(all, rest.Invalid(f))
	}
	for name, renderer := range map[string]rest.ErrorRenderer{"problem": rest.ProblemErrors, "detail": rest.DetailErrors} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var next error
			routes := func(r *rest.Routes) {
				rest.Post(r, "/", func(context.Context, struct{ Body author }) (string, error) { return "", next })
			}
			ours, codec := serve(routes, rest.Errors(renderer)), serve(routes, rest.Errors(encoded{renderer}))
			for _, next = range all {
				body := resttest.Content("application/json", `{"id":1,"name":"x"}`)
				want := resttest.Do[any](t, codec, http.MethodPost, "/", body)
				got := resttest.Do[any](t, ours, http.MethodPost, "/", body)
				wantDiff(t, "body", want.Text, got.Text)
				wantDiff(t, "header", want.Header, got.Header)
				if want.Status != got.Status {
					t.Errorf("status %d, want %d", got.Status, want.Status)
				}
			}
		})
	}
}

// TestAllocationsOfFaults bounds what a client that sends nonsense costs.
func TestAllocationsOfFaults(t *testing.T) { //nolint:paralleltest // what others allocate would be counted
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/", echo[newBook])
	})
	w := &discard{header: http.Header{}}
	send := func() {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"title":1,"price":"x","more":1}`))
		r.Header.Set("Content-Type", "application/json")
		clear(w.header)
		api.ServeHTTP(w, r)
	}
	send()
	const request = 12 // what the request of the test itself allocates
	n := leastOf(func() float64 { return testing.AllocsPerRun(200, send) })
	t.Logf("%v allocations", n)
	if n > request+15 { // 11 without the race detector, which drops what is pooled
		t.Errorf("%v allocations for three faults", n)
	}
}
