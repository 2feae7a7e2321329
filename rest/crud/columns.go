package crud

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Table reads and writes the rows of a table with a database library. If its context belongs
// to a transaction, each method works in it. Errors of the database are returned unchanged.
type Table[T, K any] interface {
	// Set, Get and Tx are like those of [Store].
	Set(ctx context.Context) query.Set[T]
	Get(ctx context.Context, key K) (T, error)
	Tx(ctx context.Context, f func(ctx context.Context) error) error
	// Insert stores the row and sets the key that the database has generated.
	Insert(ctx context.Context, row *T) error
	// Update writes columns of the row with its key, and returns the number of updated rows.
	Update(ctx context.Context, row *T, columns []string) (rows int64, err error)
	// Delete removes the row with the key, and returns the number of deleted rows.
	Delete(ctx context.Context, key K) (rows int64, err error)
}

// FromTable returns the store of a table, for adapters. T must have one key, of type K.
func FromTable[T, K any](t Table[T, K], c Columns) Store[T, K] { return tableStore[T, K]{t, c} }

type tableStore[T, K any] struct {
	Table[T, K]

	columns Columns
}

func (s tableStore[T, K]) keyOf(row *T) reflect.Value {
	return reflect.ValueOf(row).Elem().FieldByIndex(s.columns.Model.Field(s.columns.Fields[s.columns.Key]).Index)
}

// Insert implements [Store].
func (s tableStore[T, K]) Insert(ctx context.Context, row *T) error {
	return s.Tx(ctx, func(ctx context.Context) error {
		next := *row
		if err := s.Table.Insert(ctx, &next); err != nil {
			return s.columns.translate(err, false)
		}
		key, _ := reflect.TypeAssert[K](s.keyOf(&next))
		return s.reload(ctx, key, row)
	})
}

func (s tableStore[T, K]) reload(ctx context.Context, key K, row *T) error {
	stored, err := s.Get(ctx, key)
	if err == nil {
		*row = stored
	}
	return err
}

// Update implements [Store].
func (s tableStore[T, K]) Update(ctx context.Context, key K, row *T, fields []string) error {
	columns, err := s.columns.of(fields)
	if err != nil {
		return err
	}
	return s.Tx(ctx, func(ctx context.Context) error {
		if len(columns) > 0 {
			next := *row
			s.keyOf(&next).Set(reflect.ValueOf(&key).Elem())
			n, err := s.Table.Update(ctx, &next, columns)
			if err := s.done(n, err, false); err != nil {
				return err
			}
		}
		return s.reload(ctx, key, row)
	})
}

// Delete implements [Store].
func (s tableStore[T, K]) Delete(ctx context.Context, key K) error {
	n, err := s.Table.Delete(ctx, key)
	return s.done(n, err, true)
}

// done returns the error of a statement for one row. It is [rest.ErrNotFound] if no row was
// affected.
func (s tableStore[T, K]) done(rows int64, err error, deleting bool) error {
	if err == nil && rows == 0 {
		return rest.ErrNotFound
	}
	return s.columns.translate(err, deleting)
}

// Columns describes a table for an adapter, so that errors of the database can name a field.
type Columns struct {
	// Table is the name of the table.
	Table string
	// Fields are the logical field names by column.
	Fields map[string]string
	// Key is the key's column.
	Key string
	// Written are the columns that an update writes: all except the key's.
	Written []string
	// Model is the model of the rows.
	Model *driver.Model
}

// of returns the columns of fields, without the key's. Nil means all written columns.
func (c Columns) of(fields []string) ([]string, error) {
	if fields == nil {
		return c.Written, nil
	}
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
		if column != c.Key {
			columns = append(columns, column)
		}
	}
	return columns, nil
}

// translate returns an error of the database as a [*ConstraintError] if it is a violated
// constraint, and unchanged otherwise. A foreign key that prevents deleting a row is
// [Referenced].
func (c Columns) translate(err error, deleting bool) error {
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

// named returns the field of the only column that a constraint's name or text mentions, or "".
func (c Columns) named(rule string) string {
	rule = strings.TrimPrefix(rule, c.Table+"_")
	only := ""
	for column, field := range c.Fields {
		words := strings.FieldsFunc(rule, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
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

// onlyReference returns the only field that refers to another row, or "" if there are several:
// SQLite does not say which reference is violated. The candidates are fields whose names end
// in _id, except the key.
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
