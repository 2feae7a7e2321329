package crud

import (
	"errors"
	"reflect"
	"strings"
)

// Constraint is a kind of rule that a store enforces.
type Constraint string

// The constraints.
const (
	// Unique means that another row already has the value.
	Unique Constraint = "unique"
	// ForeignKey means that the value refers to a row that does not exist.
	ForeignKey Constraint = "foreign_key"
	// NotNull means that a required value is missing.
	NotNull Constraint = "not_null"
	// Check means any other rule.
	Check Constraint = "check"
	// Referenced means that the row cannot be deleted because other rows refer to it.
	Referenced Constraint = "referenced"
)

// ConstraintError says that a row violates a constraint of its store.
type ConstraintError struct {
	// Constraint is the kind of the constraint.
	Constraint Constraint
	// Field is the logical name of the field, or of the first field of several. It is empty if
	// the store does not name one.
	Field string
	// Err is the error of the database. It may contain values and is never sent to the client.
	Err error
}

// Error returns the constraint, the field and the error of the database.
func (e *ConstraintError) Error() string {
	text := "constraint " + string(e.Constraint)
	if e.Field != "" {
		text += " of " + e.Field
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the error of the database.
func (e *ConstraintError) Unwrap() error { return e.Err }

// Violation is a constraint that was violated, in the names of the database. An adapter maps
// its columns to fields.
type Violation struct {
	Constraint Constraint
	// Table and Columns may be empty, because not every database names them.
	Table   string
	Columns []string
	// Name is the name of the constraint, if it has one.
	Name string
}

// ViolationOf returns the constraint that an error of PostgreSQL or SQLite is about. It needs
// none of their drivers: it looks at the error's SQLSTATE method, SQLite's extended result
// code, or SQLite's message. It returns false for any other error and for nil.
func ViolationOf(err error) (Violation, bool) {
	if err == nil {
		return Violation{}, false
	}
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return postgresViolation(state)
	}
	var field interface{ Field(k byte) string }
	if errors.As(err, &field) {
		kind, ok := sqlStates[field.Field('C')]
		return Violation{kind, field.Field('t'), columnsOf(field.Field('c'), field.Field('D')), field.Field('n')}, ok
	}
	return sqliteViolation(err)
}

// sqlStates are the SQLSTATEs of constraints, and of values that a column cannot hold: too
// long, out of range, or with characters such as NUL.
var sqlStates = map[string]Constraint{
	"23505": Unique, "23503": ForeignKey, "23502": NotNull, "23514": Check, "23P01": Unique, "23001": Referenced,
	"22001": Check, "22003": Check, "22021": Check, "22P05": Check,
}

// postgresViolation reads the struct fields of a driver's error.
func postgresViolation(err interface{ SQLState() string }) (Violation, bool) {
	kind, ok := sqlStates[err.SQLState()]
	if !ok {
		return Violation{}, false
	}
	text := func(names ...string) string {
		v := reflect.ValueOf(err)
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		for _, name := range names {
			if v.Kind() != reflect.Struct {
				break
			}
			if f := v.FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
				return f.String()
			}
		}
		return ""
	}
	return Violation{
		Constraint: kind, Table: text("TableName", "Table"), Name: text("ConstraintName", "Constraint"),
		Columns: columnsOf(text("ColumnName", "Column"), text("Detail")),
	}, true
}

// columnsOf returns the columns in PostgreSQL's detail, "Key (a, b)=(1, 2) already exists.".
// The words of the detail may be in any language.
func columnsOf(column, detail string) []string {
	if column != "" {
		return []string{column}
	}
	_, rest, ok := strings.Cut(detail, "(")
	list, _, closed := strings.Cut(rest, ")=(")
	if !ok || !closed {
		return nil
	}
	var columns []string
	for name := range strings.SplitSeq(list, ",") {
		columns = append(columns, strings.Trim(strings.TrimSpace(name), `"`))
	}
	return columns
}

var sqliteCodes = map[int]Constraint{
	2067: Unique, 1555: Unique, 2579: Unique, 787: ForeignKey, 1811: ForeignKey, 1299: NotNull, 275: Check,
}

var sqliteWords = []struct {
	text string
	kind Constraint
}{
	{"UNIQUE constraint failed", Unique},
	{"FOREIGN KEY constraint failed", ForeignKey},
	{"NOT NULL constraint failed", NotNull},
	{"CHECK constraint failed", Check},
}

// sqliteViolation parses SQLite's messages, such as
// "UNIQUE constraint failed: books.slug, books.shop (2067)".
func sqliteViolation(err error) (Violation, bool) {
	var (
		v    Violation
		code interface{ Code() int }
		ok   bool
	)
	if errors.As(err, &code) {
		v.Constraint, ok = sqliteCodes[code.Code()]
	}
	for _, word := range sqliteWords {
		_, rest, found := strings.Cut(err.Error(), word.text)
		if !found || ok && v.Constraint != word.kind {
			continue
		}
		v.Constraint, ok = word.kind, true
		rest, _, _ = strings.Cut(strings.TrimPrefix(rest, ": "), " (")
		if word.kind == Check {
			v.Name = rest
			break
		}
		for column := range strings.SplitSeq(rest, ", ") {
			if table, name, dotted := strings.Cut(column, "."); dotted {
				v.Table = table
				v.Columns = append(v.Columns, name)
			}
		}
		break
	}
	return v, ok
}
