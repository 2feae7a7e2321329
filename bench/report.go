package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// section is the results of one figure.
type section struct {
	name  string
	title string
	flags string // flags of the command, after the name
	how   string // a paragraph about the method
	rows  []row
	goals []goal
	notes []string
}

// row is a measured quantity.
type row struct {
	what, unit string
	rounds     sample // one number a round
}

// goal is the wanted value of a figure, and the measured one.
type goal struct {
	what, want, got string
	met             bool
}

// ratioGoal compares two arms by the median of the rounds' ratios.
func ratioGoal(what string, a, b sample, want float64, atLeast bool) goal {
	ratios := a.over(b)
	word, met := "at most", ratios.median() <= want
	if atLeast {
		word, met = "at least", ratios.median() >= want
	}
	return goal{
		what: what, want: word + " " + number(want), met: met,
		got: fmt.Sprintf("%s (rounds: %s to %s)", number(ratios.median()), number(ratios.min()), number(ratios.max())),
	}
}

// verdict returns in one word whether the goal is met.
func (g goal) verdict() string {
	if g.met {
		return "met"
	}
	return "**missed**"
}

// brief returns the section for the terminal.
func (s *section) brief() string {
	var out strings.Builder
	for _, r := range s.rows {
		fmt.Fprintf(&out, "  %-58s %12s %s\n", r.what, number(r.rounds.median()), r.unit)
	}
	for _, g := range s.goals {
		fmt.Fprintf(&out, "  %s: %s, goal %s: %s\n", g.what, g.got, g.want, strings.Trim(g.verdict(), "*"))
	}
	return out.String()
}

// written returns the section in the form of RESULTS.md. Stamp names its commit.
func (s *section) written(stamp string) written {
	var out strings.Builder
	s.markdown(&out, stamp)
	return written{title: s.title, text: trimLines(out.String())}
}

func (s *section) markdown(out *strings.Builder, stamp string) {
	fmt.Fprintf(out,
		"<!-- run by bench/bench_test.go -->\n```sh\ncd bench && GOWORK=off go run . -only %s%s\n```\n\n%s\n\n%s\n\n", s.name,
		s.flags, stamp, s.how)
	out.WriteString("| | unit | median | min | max | rounds |\n|---|---|--:|--:|--:|--:|\n")
	for _, r := range s.rows {
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %d |\n",
			r.what, r.unit, number(r.rounds.median()), number(r.rounds.min()), number(r.rounds.max()), len(r.rounds))
	}
	for i, g := range s.goals {
		if i == 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(out, "- %s: %s, goal %s: %s\n", g.what, g.got, g.want, g.verdict())
	}
	for _, note := range s.notes {
		out.WriteString("\n" + note + "\n")
	}
}

// anchor returns the anchor of a heading.
func anchor(title string) string {
	var out strings.Builder
	for _, c := range strings.ToLower(title) {
		switch {
		case c == ' ':
			out.WriteByte('-')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
			out.WriteRune(c)
		}
	}
	return out.String()
}

// number returns a number with three significant digits, and with commas between thousands.
func number(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case size >= 1000:
		text := strconv.FormatInt(int64(math.Round(v)), 10)
		for at := len(text) - 3; at > 0; at -= 3 {
			text = text[:at] + "," + text[at:]
		}
		return text
	case size >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}
