package driver

import (
	"fmt"
	"slices"
	"strings"
)

// Sort is one part of an order: a path to a column, and a direction.
type Sort struct {
	// Path is the logical path. It may go only through to-one relations.
	Path string
	// Desc puts the greatest value first, and null last.
	Desc bool
}

// ParseSort parses a path; a leading minus means descending.
func ParseSort(text string) Sort {
	path, desc := strings.CutPrefix(text, "-")
	return Sort{Path: path, Desc: desc}
}

// ParseSorts parses each text with [ParseSort].
func ParseSorts(texts []string) []Sort {
	sorts := make([]Sort, len(texts))
	for i, text := range texts {
		sorts[i] = ParseSort(text)
	}
	return sorts
}

// String returns the text for [ParseSort].
func (s Sort) String() string {
	if s.Desc {
		return "-" + s.Path
	}
	return s.Path
}

// SortKey checks one part of an order and returns its key.
func (m *Model) SortKey(s Sort) (Key, error) {
	column, rest, err := m.column(s.Path)
	switch {
	case err != nil:
		return Key{}, fmt.Errorf("order by %q: %w", s.Path, err)
	case len(rest) > 0 || column.Field == nil:
		return Key{}, fmt.Errorf("order by %q: it is not a column", s.Path)
	case slices.ContainsFunc(column.Steps, func(r *Relation) bool { return r.Many }):
		return Key{}, fmt.Errorf("order by %q: the path leads to many rows", s.Path)
	case column.Field.Kind == Opaque, column.Field.Kind == Other && !column.Field.scalar.ordered():
		return Key{}, fmt.Errorf("order by %q: %s has no order", s.Path, column.Field.Type)
	}
	return Key{Column: column, Desc: s.Desc}, nil
}

// StableOrder appends the fields of the model's key that the order does not have. They get the
// direction of the last sort, so that one index can serve the whole order.
func (m *Model) StableOrder(sorts []Sort, order []Key) []Sort {
	desc := len(sorts) > 0 && sorts[len(sorts)-1].Desc
	sorts = slices.Clip(sorts)
	for _, f := range m.key {
		has := slices.ContainsFunc(order, func(k Key) bool { return len(k.Column.Steps) == 0 && k.Column.Field == f })
		if _, err := m.SortKey(Sort{Path: f.Name}); !has && err == nil {
			sorts = append(sorts, Sort{Path: f.Name, Desc: desc})
		}
	}
	return sorts
}
