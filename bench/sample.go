package main

import (
	"math"
	"slices"
)

// sample is the measured numbers, one per round or event.
type sample []float64

// quantile returns the smallest number that at least q of the sample does not exceed.
func (s sample) quantile(q float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	at := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

// median returns the middle number, or the mean of the two middle numbers.
func (s sample) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

func (s sample) min() float64 { return s.quantile(0) }
func (s sample) max() float64 { return s.quantile(1) }

// over returns the ratios of the rounds.
func (s sample) over(other sample) sample {
	n := min(len(s), len(other))
	ratios := make(sample, n)
	for i := range ratios {
		ratios[i] = s[i] / other[i]
	}
	return ratios
}
