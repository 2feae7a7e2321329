package main

import (
	"fmt"
	"strings"
)

// extra is something that is measured of rest alone: a variant beside the plain one.
type extra struct {
	title    string
	how      string
	subjects []*subject // the plain one first
	// most bounds the time of the variants, as a ratio to the plain one. Zero does not.
	most float64
	// sameAllocs wants variants to allocate no more often than the plain one.
	sameAllocs bool
}

// rows returns the goals and whether they are met, as rows of the table of goals.
func (e *extra) rows() string {
	var out strings.Builder
	plain := e.subjects[0]
	for _, s := range e.subjects[1:] {
		if e.most > 0 {
			o := outcome{goal{s.name, plain.name, "", e.most}, s.times.over(plain.times)}
			out.WriteString(o.row(e.title))
		}
		if e.sameAllocs {
			verdict := "met"
			// Half an allocation is what a collection during the count may add.
			if s.count > plain.count+0.5 {
				verdict = "**missed**"
			}
			fmt.Fprintf(&out, "| %s | allocations, %s beside %s | no more | %.1f beside %.1f | %s |\n",
				e.title, s.name, plain.name, s.count, plain.count, verdict)
		}
	}
	return out.String()
}

func (e *extra) markdown(out *strings.Builder) {
	fmt.Fprintf(out, "\n## %s\n\n%s\n\n", capital(e.title), e.how)
	out.WriteString("| | ns | ratio (of the repeats) | B/op | allocs/op |\n|---|--:|--:|--:|--:|\n")
	for _, s := range e.subjects {
		fmt.Fprintf(out, "| %s | %.0f | %s | %.0f | %.1f |\n",
			s.name, s.times.median(), spread(s.times.over(e.subjects[0].times)), s.bytes, s.count)
	}
}

// extras returns what is measured of rest alone.
func extras(*catalog) []*extra { return nil }
