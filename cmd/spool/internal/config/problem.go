package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Source is where in a file something is said.
type Source struct {
	File string
	Line int
	// Path names the field, such as "agents.assistant.model".
	Path string
}

// Problem is something that is wrong with a file.
type Problem struct {
	Source

	Text string
}

// Problemf returns a problem with what is said there.
func (s Source) Problemf(format string, args ...any) Problem {
	return Problem{s, fmt.Sprintf(format, args...)}
}

// Error returns "file:line: field: what is wrong".
func (p Problem) Error() string {
	if p.Path == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Path, p.Text)
}

// Problems are all that is wrong with a file, in the order of its lines.
type Problems []Problem

// Error returns one problem to a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p
}
