package load

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseLadder(t *testing.T) {
	t.Parallel()

	got, err := ParseLadder("0.5, 10,20")
	if err != nil || !slices.Equal(got, []float64{0.5, 10, 20}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "10,", "ten", "0", "-1", "20,10", "10,10", "NaN", "+Inf"} {
		if got, err := ParseLadder(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestSaturation(t *testing.T) {
	t.Parallel()

	good := Rung{
		OfferedPerSecond: 100, AchievedPerSecond: 95, Arrivals: 1000, Start: Latency{Count: 1000, P99: 20},
		FirstToken: Latency{Count: 1000, P99: 900},
	}
	for name, each := range map[string]struct {
		change func(r *Rung)
		want   string
	}{
		"held":             {func(*Rung) {}, ""},
		"slower ends":      {func(r *Rung) { r.AchievedPerSecond = 89.9 }, "89.9 of 100 runs per second ended"},
		"just enough ends": {func(r *Rung) { r.AchievedPerSecond = 90 }, ""},
		"a few errors":     {func(r *Rung) { r.Errors = map[string]int{"start: 503 unavailable": 10} }, ""},
		"errors": {
			func(r *Rung) { r.Errors = map[string]int{"start: 429 limit": 9, "run: failed": 2} },
			`11 of 1000 runs failed, most of them with "start: 429 limit"`,
		},
		"slow starts":           {func(r *Rung) { r.Start.P99 = 1001 }, "the 99th percentile of the start is 1001 ms"},
		"slow first tokens":     {func(r *Rung) { r.FirstToken.P99 = 1001 }, "of the first token"},
		"a slow run is allowed": {func(r *Rung) { r.WholeRun = Latency{Count: 1, P99: 60_000} }, ""},
	} {
		r := good
		each.change(&r)
		if got := r.saturation(time.Second); (got == "") != (each.want == "") || !strings.Contains(got, each.want) {
			t.Errorf("%s: got %q, want %q", name, got, each.want)
		}
	}
}

// Ends at a constant rate have that rate, whatever a few slow runs do, and however long a run takes.
func TestEndRate(t *testing.T) {
	t.Parallel()

	ends := []time.Duration{time.Minute, time.Hour} // that hung
	for i := range 100 {
		ends = append(ends, 10*time.Second+time.Duration(i)*100*time.Millisecond)
	}
	if got := endRate(ends, 10*time.Second); got < 9.9 || got > 10.1 {
		t.Errorf("%v ends per second, want 10", got)
	}
	// Runs that had to wait for the same time in the middle lower the rate only by that time.
	for i := 40; i < len(ends); i++ {
		ends[i] += time.Second
	}
	if got := endRate(ends, 10*time.Second); got < 9 || got > 9.2 {
		t.Errorf("%v ends per second, want 9.1", got)
	}
	for _, few := range [][]time.Duration{nil, {time.Second}} {
		if got := endRate(few, 0); got != 0 {
			t.Errorf("%v: %v", few, got)
		}
	}
}

func TestOften(t *testing.T) {
	t.Parallel()

	for share, want := range map[float64]int{0: 0, 0.1: 10, 0.25: 25, 1: 100} {
		got := 0
		for n := range 100 {
			if often(n, share) {
				got++
			}
		}
		if got != want {
			t.Errorf("share %v: %d of 100, want %d", share, got, want)
		}
	}
}
