package main

import (
	"math"
	"slices"
)

// sample is the measured numbers, one per round or repeat.
type sample []float64

// quantile returns the smallest number that at least q of the sample does not exceed.
func (s sample) quantile(q float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// median returns the middle number, or the mean of the two middle numbers.
func (s sample) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// over returns the ratios of two samples of the same repeats.
func (s sample) over(other sample) sample {
	ratios := make(sample, min(len(s), len(other)))
	for i := range ratios {
		ratios[i] = s[i] / other[i]
	}
	return ratios
}
