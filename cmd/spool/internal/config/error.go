package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Source is a position in a file.
//
//nolint:recvcheck // place sets one that is embedded
type Source struct {
	File string
	Line int
	// Path names the field, such as "agents.assistant.model".
	Path string
}

// FieldError is a problem of a file.
type FieldError struct {
	Source

	Text string
}

// place sets a source that is embedded.
func (s *Source) place(at Source) { *s = at }

// Errorf returns a problem at the position.
func (s Source) Errorf(format string, args ...any) FieldError {
	return FieldError{s, fmt.Sprintf(format, args...)}
}

// Error returns "file:line: field: what is wrong".
func (p FieldError) Error() string {
	if p.Path == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Path, p.Text)
}

// FieldErrors are all problems of a file, in the order of its lines.
type FieldErrors []FieldError

// Error returns one line for each problem.
func (p FieldErrors) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

func (p FieldErrors) sorted() FieldErrors {
	slices.SortStableFunc(p, func(a, b FieldError) int { return cmp.Compare(a.Line, b.Line) })
	return p
}
