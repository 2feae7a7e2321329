package crud

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spoolhq/spool/rest/query/driver"
)

// Columns is what an adapter knows of a table, to tell which field a database means.
type Columns struct {
	// Table is the name of the table.
	Table string
	// Fields are the logical names of its columns.
	Fields map[string]string
	// Model is the model of the rows.
	Model *driver.Model
}

// Of returns the columns of fields, without that of the key: what an update writes.
func (c Columns) Of(fields []string, key string) ([]string, error) {
	byField := make(map[string]string, len(c.Fields))
	for column, field := range c.Fields {
		byField[field] = column
	}
	var columns []string
	for _, name := range fields {
		column, ok := byField[name]
		if !ok {
			return nil, fmt.Errorf("%s has no column for the field %q", c.Table, name)
		}
		if column != key {
			columns = append(columns, column)
		}
	}
	return columns, nil
}

// Translate returns a broken rule of the table as a [*ConstraintError], and every other error
// as it is. A foreign key that keeps a row from being deleted is [Referenced].
func (c Columns) Translate(err error, deleting bool) error {
	if err == nil {
		return nil
	}
	v, ok := ViolationOf(err)
	if !ok {
		return err
	}
	broken := &ConstraintError{Constraint: v.Constraint, Err: err}
	if deleting && v.Constraint == ForeignKey {
		broken.Constraint = Referenced
	}
	if broken.Constraint != Referenced && (v.Table == "" || v.Table == c.Table) {
		broken.Field = c.field(v)
	}
	return broken
}

func (c Columns) field(v Violation) string {
	for _, column := range v.Columns {
		if name := c.Fields[column]; name != "" {
			return name
		}
	}
	switch v.Constraint {
	case ForeignKey:
		return c.onlyReference()
	case Check:
		return c.named(v.Name)
	default:
		return ""
	}
}

// named finds the one column that the name of a rule, or the rule itself, speaks of.
func (c Columns) named(rule string) string {
	rule = strings.TrimPrefix(rule, c.Table+"_")
	only := ""
	for column, field := range c.Fields {
		words := strings.FieldsFunc(rule, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if !slices.Contains(words, column) && strings.TrimSuffix(rule, "_check") != column {
			continue
		}
		if only != "" {
			return ""
		}
		only = field
	}
	return only
}

// onlyReference returns the field that refers to another row, when there is just one: SQLite
// does not say which reference is broken. The candidates are those whose names end in _id,
// without the key.
func (c Columns) onlyReference() string {
	only := ""
	for _, name := range c.Model.Names() {
		f := c.Model.Field(name)
		if f == nil || !strings.HasSuffix(name, "_id") || slices.Contains(c.Model.Key(), f) {
			continue
		}
		if only != "" {
			return ""
		}
		only = name
	}
	return only
}
