package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// results is the content of RESULTS.md. Each figure has the numbers of the last run that measured it.
type results struct {
	machine  string // the table of the machine
	sections []written
}

// written is a section in the form of RESULTS.md.
type written struct{ title, text string }

var (
	// The subject of a goal contains no colon, but the measured value may.
	writtenGoal = regexp.MustCompile(`(?m)^- (.+?): (.+), goal (.+): (met|\*\*missed\*\*)$`)
	writtenRow  = regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| ([^|]+) \| [^|]+ \| [^|]+ \| \d+ \|$`)
)

const aboutResults = "# What Spool takes\n\nWritten by `cd bench && GOWORK=off go run .`, do not edit. Numbers of another machine, or of another\n" +
	"minute on this one, do not compare; the ratios do, as both sides of one are measured in turns within the same run. `-only` measures some\n" +
	"of the sections again and leaves the others as they are; each says of which commit it is.\n\n"

// parseResults reads RESULTS.md.
func parseResults(text string) results {
	head, rest, _ := strings.Cut(text, "\n## ")
	var r results
	if at := strings.Index(head, "| | |\n"); at >= 0 {
		r.machine, _, _ = strings.Cut(head[at:], "\n\n")
		r.machine += "\n"
	}
	if rest == "" {
		return r
	}
	for part := range strings.SplitSeq(rest, "\n## ") {
		title, body, _ := strings.Cut(part, "\n")
		r.sections = append(r.sections, written{title, trimLines(body)})
	}
	return r
}

// trimLines removes empty lines around a text. It keeps the indent of the first line, which may mark
// code.
func trimLines(text string) string { return strings.Trim(text, "\n") }

// with replaces the sections that were measured again, in the order of the figures.
func (r results) with(machine string, measured []written, order []string) results {
	r.machine = machine
	for _, w := range measured {
		at := slices.IndexFunc(r.sections, func(old written) bool { return old.title == w.title })
		if at < 0 {
			r.sections = append(r.sections, w)
		} else {
			r.sections[at] = w
		}
	}
	r.sections = slices.DeleteFunc(r.sections, func(w written) bool { return !slices.Contains(order, w.name()) })
	slices.SortStableFunc(r.sections, func(a, b written) int {
		return slices.Index(order, a.name()) - slices.Index(order, b.name())
	})
	return r
}

// name returns the figure's name from the command in the section.
func (w written) name() string {
	_, rest, _ := strings.Cut(w.text, "-only ")
	line, _, _ := strings.Cut(rest, "\n")
	name, _, _ := strings.Cut(line, " -")
	return strings.TrimSpace(name)
}

// wants returns the bounds of the section's goals.
func (w written) wants() (all []string) {
	for _, m := range writtenGoal.FindAllStringSubmatch(w.text, -1) {
		all = append(all, m[3])
	}
	return all
}

// markdown returns the text of RESULTS.md.
func (r results) markdown() string {
	var out strings.Builder
	out.WriteString(aboutResults + r.machine + "\n")
	out.WriteString("| | goal | measured | |\n|---|---|---|---|\n")
	for _, w := range r.sections {
		for _, m := range writtenGoal.FindAllStringSubmatch(w.text, -1) {
			fmt.Fprintf(&out, "| [%s](#%s) | %s | %s | %s |\n", m[1], anchor(w.title), m[3], m[2], m[4])
		}
	}
	for _, w := range r.sections {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", w.title, w.text)
	}
	return out.String()
}

// median returns the printed median of a row, or an error if the row does not exist.
func (r results) median(section, what string) (string, error) {
	for _, w := range r.sections {
		if w.title != section {
			continue
		}
		for _, m := range writtenRow.FindAllStringSubmatch(w.text, -1) {
			if m[1] == what {
				return m[2], nil
			}
		}
	}
	return "", fmt.Errorf("RESULTS.md has no row %q in %q", what, section)
}
