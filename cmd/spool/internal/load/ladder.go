package load

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ParseLadder reads rates that are separated by commas, such as "10,20,50".
func ParseLadder(text string) ([]float64, error) {
	var ladder []float64
	for each := range strings.SplitSeq(text, ",") {
		rate, err := strconv.ParseFloat(strings.TrimSpace(each), 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number of runs per second", strings.TrimSpace(each))
		}
		ladder = append(ladder, rate)
	}
	return ladder, checkLadder(ladder)
}

func checkLadder(ladder []float64) error {
	switch {
	case len(ladder) == 0:
		return errors.New("the ladder is empty")
	case slices.ContainsFunc(ladder, func(rate float64) bool { return !(rate > 0) || math.IsInf(rate, 0) }):
		return errors.New("a rate must be greater than 0")
	}
	for i, rate := range ladder[1:] {
		if rate <= ladder[i] {
			return errors.New("the rates must ascend")
		}
	}
	return nil
}

const (
	// heldShare is the least share of the offered rate at which runs must end.
	heldShare = 0.9
	// heldErrors is the largest share of arrivals that may fail.
	heldErrors = 0.01
)

// saturation says why the server does not hold the rate of a rung, or "" if it does.
func (r *Rung) saturation(maxP99 time.Duration) string {
	failed := 0
	for _, n := range r.Errors {
		failed += n
	}
	switch {
	case failed > 0 && float64(failed) > heldErrors*float64(r.Arrivals):
		return fmt.Sprintf("%d of %d runs failed, most of them with %q", failed, r.Arrivals, mostFrequent(r.Errors))
	case r.AchievedPerSecond < heldShare*r.OfferedPerSecond:
		return fmt.Sprintf("%s of %s runs per second ended, less than %.0f %%", rate(r.AchievedPerSecond),
			rate(r.OfferedPerSecond), 100*heldShare)
	}
	for _, m := range []struct {
		what string
		of   Latency
	}{{"start", r.Start}, {"first token", r.FirstToken}} {
		if m.of.Count > 0 && m.of.P99 > milliseconds(maxP99) {
			return fmt.Sprintf("the 99th percentile of the %s is %s ms, more than %s", m.what, number(m.of.P99), maxP99)
		}
	}
	return ""
}

// mostFrequent returns the name with the largest count, the first one of several.
func mostFrequent(counts map[string]int) string {
	names := sortedNames(counts)
	return slices.MaxFunc(names, func(a, b string) int { return counts[a] - counts[b] })
}

// endRate returns how many runs ended per second, from the times at which they did, and the time that a run
// takes when it need not wait. Runs could end from that time on. The last twentieth of the ends is left out,
// because a few slow runs say nothing about the rate. With fewer than two ends, the rate is zero.
func endRate(ends []time.Duration, duration time.Duration) float64 {
	slices.Sort(ends)
	last := len(ends) - 1 - len(ends)/20
	if last < 1 {
		return 0
	}
	return float64(last) / max(ends[last]-duration, time.Microsecond).Seconds()
}
