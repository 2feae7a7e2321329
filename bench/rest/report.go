package main

import (
	"fmt"
	"strings"
)

// result is a case with its measurements. The first subject is the base.
type result struct {
	name, title string
	subjects    []*subject
	harness     *subject // the cost of sending a request to a handler that does nothing
}

// subject returns the subject with a name, or nil.
func (r *result) subject(name string) *subject {
	for _, s := range r.subjects {
		if s.name == name {
			return s
		}
	}
	return nil
}

// ratio returns the time of a subject relative to the base, one number per repeat.
func (r *result) ratio(s *subject) sample { return s.times.over(r.subjects[0].times) }

const preface = `# What rest takes beside its peers

Written by ` + "`%s`" + `, do not edit. Each request is handled within the process, by the handler of the
implementation, and what is measured is CPU time. The implementations take turns: %d rounds of about %s
each, of which the tenth percentile counts, all of it %d times, of which the median counts. Garbage
collections fall into some of the rounds and so count little; the allocations below say who causes them.

All figures are ratios to net/http and encoding/json with every check by hand, in the same run. Times of
another machine, or of another minute on this one, do not compare. Before anything is measured, each
implementation must answer %d requests with the status and body that are expected of it, and an error
must name every wrong field.

What is compared is not quite the same work. net/http and chi collect all that is wrong with a body, but do
not see whether a field was sent, nor do gin and echo, which let unknown fields pass too. The throttle of rest
counts by a sliding log, that of the others is a bucket; none of them sends headers about it here, which rest
does by default and which is measured below.

"nolink" is huma without the schema links that it adds by default. "goccy" is goccy/go-json as the codec.
"net/http, Encoder" writes with json.NewEncoder rather than json.Marshal, which large bodies like.

`

// markdown returns the text of RESULTS.md.
func markdown(about string, results []*result, extras []*extra) string {
	var out strings.Builder
	out.WriteString(about)
	summary(&out, results)
	judged(&out, results, extras)
	for _, r := range results {
		r.markdown(&out)
	}
	for _, e := range extras {
		e.markdown(&out)
	}
	return out.String()
}

// summary writes the ratios of all cases.
func summary(out *strings.Builder, results []*result) {
	if len(results) == 0 {
		return
	}
	out.WriteString("\n## Ratios\n\n|")
	for _, r := range results {
		out.WriteString(" | " + r.title)
	}
	out.WriteString(" |\n|---" + strings.Repeat("|--:", len(results)) + "|\n")
	for _, s := range results[0].subjects {
		out.WriteString("| " + s.name)
		for _, r := range results {
			fmt.Fprintf(out, " | %.2f", r.ratio(r.subject(s.name)).median())
		}
		out.WriteString(" |\n")
	}
	fmt.Fprintf(out, "| *%s in ns*", base)
	for _, r := range results {
		fmt.Fprintf(out, " | %.0f", r.subjects[0].times.median())
	}
	out.WriteString(" |\n")
}

// judged writes the goals and whether they are met.
func judged(out *strings.Builder, results []*result, extras []*extra) {
	titles := map[string]string{}
	for _, r := range results {
		titles[r.name] = r.title
	}
	var rows strings.Builder
	for _, o := range outcomes(results) {
		rows.WriteString(o.row(titles[o.testCase]))
	}
	for _, e := range extras {
		rows.WriteString(e.rows())
	}
	if rows.Len() > 0 {
		out.WriteString("\n## Goals\n\n| | | goal | measured | |\n|---|---|---|---|---|\n" + rows.String())
	}
}

// markdown writes one case.
func (r *result) markdown(out *strings.Builder) {
	fmt.Fprintf(out, "\n## %s\n\n", capital(r.title))
	out.WriteString("| | ns | ratio (of the repeats) | B/op | allocs/op |\n|---|--:|--:|--:|--:|\n")
	for _, s := range r.subjects {
		fmt.Fprintf(out, "| %s | %.0f | %s | %.0f | %.0f |\n", s.name, s.times.median(), spread(r.ratio(s)), s.bytes, s.count)
	}
	fmt.Fprintf(out, "\nThe figures include %.0f ns in which the request is made ready and the response reset.\n",
		r.harness.times.median())
}

// capital returns a heading of a title.
func capital(title string) string { return strings.ToUpper(title[:1]) + title[1:] }
