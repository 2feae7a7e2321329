package main

import (
	"fmt"
	"math"
)

// goal bounds the time of an implementation in a case, relative to another one.
type goal struct {
	of, beside string
	testCase   string
	most       float64
}

// The implementations in goals.
const (
	nameRest      = "rest"
	nameRestGoccy = "rest, goccy"
	nameGin       = "gin"
	nameHuma      = "huma"
	nameNoLink    = "huma nolink"
	nameHumaGoccy = "huma nolink, goccy"
)

// noise is the largest ratio that counts as equal.
const noise = 1.03

// goals returns the goals of rest.
func goals() []goal {
	list := []goal{
		{nameRest, base, "get", 1},
		{nameRest, base, "query", 1},
		{nameRest, base, "guarded", 1},
		{nameRest, base, "post", 0.54},
		{nameRest, base, "invalid", 1.2},
		{nameRest, base, "page", 0.95},
		{nameRest, base, "list", 0.95},
		{nameRestGoccy, base, "get", 0.85},
		{nameRestGoccy, base, "post", 0.65},
		{nameRestGoccy, base, "page", 0.4},
	}
	for _, name := range []string{"get", "query", "guarded", "post", "invalid", "page"} {
		list = append(list, goal{nameRest, nameGin, name, 1})
	}
	for _, name := range []string{"get", "query", "guarded", "post", "invalid"} {
		list = append(list, goal{nameRest, nameNoLink, name, 1}, goal{nameRestGoccy, nameHumaGoccy, name, 1})
	}
	return append(list,
		goal{nameRest, nameHuma, "page", noise},
		goal{nameRest, nameNoLink, "page", noise},
		goal{nameRestGoccy, nameHumaGoccy, "page", noise})
}

// outcome is a goal with its measurement.
type outcome struct {
	goal

	got sample // ratios, one per repeat
}

// met judges the figure as it is printed, because its third digit is noise.
func (o outcome) met() bool { return math.Round(o.got.median()*100) <= math.Round(o.most*100) }

func (o outcome) verdict() string {
	if o.met() {
		return "met"
	}
	return "**missed**"
}

func (o outcome) row(title string) string {
	return fmt.Sprintf("| %s | %s beside %s | at most %.2f | %s | %s |\n", title, o.of, o.beside, o.most, spread(o.got),
		o.verdict())
}

// outcomes returns the goals for which both sides were measured.
func outcomes(results []*result) []outcome {
	var list []outcome
	for _, g := range goals() {
		for _, r := range results {
			if r.name != g.testCase {
				continue
			}
			of, beside := r.subject(g.of), r.subject(g.beside)
			if of != nil && beside != nil {
				list = append(list, outcome{g, of.times.over(beside.times)})
			}
		}
	}
	return list
}

// spread returns the median of the repeats and their range.
func spread(s sample) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", s.median(), s.quantile(0), s.quantile(1))
}
