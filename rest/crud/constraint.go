package crud

import (
	"errors"
	"reflect"
	"strings"
)

// Constraint is a kind of rule that a store keeps.
type Constraint string

// The constraints.
const (
	// Unique is a value that another row has already.
	Unique Constraint = "unique"
	// ForeignKey is a reference to what is not there.
	ForeignKey Constraint = "foreign_key"
	// NotNull is a value that has to be there.
	NotNull Constraint = "not_null"
	// Check is any other rule.
	Check Constraint = "check"
	// Referenced is a row that others refer to, and that therefore stays.
	Referenced Constraint = "referenced"
)

// ConstraintError says that a row breaks a rule of its store.
type ConstraintError struct {
	// Constraint is the kind of the rule.
	Constraint Constraint
	// Field is the logical name of the field, or the first one of several. It is empty when
	// the store does not say.
	Field string
	// Err is the error of the database. It may quote values, and is never sent.
	Err error
}

// Error says which rule was broken, and what the database said.
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

// Violation is how a database called a broken rule, for an adapter that knows what its
// columns are.
type Violation struct {
	Constraint Constraint
	// Table and Columns are as far as the database named them.
	Table   string
	Columns []string
	// Name is the name of the constraint, if it has one.
	Name string
}

// ViolationOf finds the broken rule that an error of PostgreSQL or SQLite is about, without
// their drivers: by the SQLSTATE that the error has a method for, by SQLite's extended result
// code, or by SQLite's words. It reports false for every other error, and for nil.
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

// sqlStates are those of constraints, and those of values that a column cannot hold: too
// long, out of its range, or with characters that it does not take, such as NUL.
var sqlStates = map[string]Constraint{
	"23505": Unique, "23503": ForeignKey, "23502": NotNull, "23514": Check, "23P01": Unique, "23001": Referenced,
	"22001": Check, "22003": Check, "22021": Check, "22P05": Check,
}

// postgresViolation reads what drivers have as fields of their errors.
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

// columnsOf takes the columns from PostgreSQL's detail, "Key (a, b)=(1, 2) already exists.",
// whose words may be of any language.
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

var sqliteCodes = map[int]Constraint{2067: Unique, 1555: Unique, 2579: Unique, 787: ForeignKey, 1811: ForeignKey, 1299: NotNull, 275: Check}

var sqliteWords = []struct {
	text string
	kind Constraint
}{
	{"UNIQUE constraint failed", Unique},
	{"FOREIGN KEY constraint failed", ForeignKey},
	{"NOT NULL constraint failed", NotNull},
	{"CHECK constraint failed", Check},
}

// sqliteViolation reads "UNIQUE constraint failed: books.slug, books.shop (2067)".
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
