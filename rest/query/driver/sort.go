package driver

import (
	"fmt"
	"slices"
	"strings"
)

// Sort is one part of an order: a path to a column, in either direction.
type Sort struct {
	// Path is the logical path, which leads through relations to one only.
	Path string
	// Desc puts the greatest value first, and null last.
	Desc bool
}

// ParseSort reads a path with an optional leading minus, which means descending.
func ParseSort(text string) Sort {
	path, desc := strings.CutPrefix(text, "-")
	return Sort{Path: path, Desc: desc}
}

// ParseSorts reads several of them.
func ParseSorts(texts []string) []Sort {
	sorts := make([]Sort, len(texts))
	for i, text := range texts {
		sorts[i] = ParseSort(text)
	}
	return sorts
}

// String returns the form that [ParseSort] reads.
func (s Sort) String() string {
	if s.Desc {
		return "-" + s.Path
	}
	return s.Path
}

// SortKey checks one part of an order.
func (m *Model) SortKey(s Sort) (Key, error) {
	column, rest, err := m.column(s.Path)
	switch {
	case err != nil:
		return Key{}, fmt.Errorf("order by %q: %w", s.Path, err)
	case len(rest) > 0 || column.Field == nil:
		return Key{}, fmt.Errorf("order by %q: that is no column", s.Path)
	case slices.ContainsFunc(column.Steps, func(r *Relation) bool { return r.Many }):
		return Key{}, fmt.Errorf("order by %q: the path leads to many rows", s.Path)
	case column.Field.Kind == Opaque, column.Field.Kind == Other && !column.Field.scalar.ordered():
		return Key{}, fmt.Errorf("order by %q: %s has no order", s.Path, column.Field.Type)
	}
	return Key{Column: column, Desc: s.Desc}, nil
}

// StableOrder appends what is missing of the model's key to an order, in the direction of its end
// so that one index can serve all of it.
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
