package crud_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/query/driver"
)

// pgError is like the error of pgx, and pqError like that of lib/pq.
type pgError struct{ Code, Message, Detail, TableName, ColumnName, ConstraintName string }

func (e *pgError) Error() string    { return e.Message + " (SQLSTATE " + e.Code + ")" }
func (e *pgError) SQLState() string { return e.Code }

type pqError struct{ Code, Detail, Table, Column, Constraint string }

func (e pqError) Error() string    { return "pq: " + e.Code }
func (e pqError) SQLState() string { return e.Code }

// bunError is like the error of bun's own driver.
type bunError map[byte]string

func (e bunError) Error() string       { return "pgdriver: " + e['C'] }
func (e bunError) Field(k byte) string { return e[k] }

// sqliteError is like the error of modernc's driver and of glebarez's.
type sqliteError struct {
	code int
	text string
}

func (e sqliteError) Error() string { return e.text }
func (e sqliteError) Code() int     { return e.code }

var errText = errors.New("UNIQUE constraint failed: books.slug")

func TestViolations(t *testing.T) {
	t.Parallel()

	unique := crud.Violation{Constraint: crud.Unique, Table: "books", Columns: []string{"shop", "slug"}}
	named := unique
	named.Name = "books_key"
	null := crud.Violation{Constraint: crud.NotNull, Table: "books", Columns: []string{"title"}}
	detail := "Key (shop, slug)=(1, x) already exists."
	for name, test := range map[string]struct {
		err  error
		want crud.Violation
	}{
		"Pgx": {
			&pgError{Code: "23505", Detail: detail, TableName: "books", ConstraintName: "books_key"}, named,
		},
		"PgxInAnotherLanguage": {
			&pgError{
				Code: "23505", Detail: "Schlüssel »(shop, slug)=(1, x)« existiert bereits.", TableName: "books",
				ConstraintName: "books_key",
			}, named,
		},
		"PgxQuotes": {
			&pgError{Code: "23505", Detail: `Key ("shop", slug)=(1, x) already exists.`, TableName: "books"}, unique,
		},
		"PgxNull":    {&pgError{Code: "23502", TableName: "books", ColumnName: "title"}, null},
		"PgxWrapped": {fmt.Errorf("insert: %w", &pgError{Code: "23502", TableName: "books", ColumnName: "title"}), null},
		"Pq":         {pqError{Code: "23505", Detail: detail, Table: "books", Constraint: "books_key"}, named},
		"PqNull":     {pqError{Code: "23502", Table: "books", Column: "title"}, null},
		"Bun":        {bunError{'C': "23505", 'D': detail, 't': "books", 'n': "books_key"}, named},
		"BunNull":    {bunError{'C': "23502", 'c': "title", 't': "books"}, null},
		"SQLite": {
			sqliteError{2067, "constraint failed: UNIQUE constraint failed: books.shop, books.slug (2067)"}, unique,
		},
		"SQLiteNull": {sqliteError{1299, "constraint failed: NOT NULL constraint failed: books.title (1299)"}, null},
		"SQLiteText": {errText, crud.Violation{Constraint: crud.Unique, Table: "books", Columns: []string{"slug"}}},
		"SQLiteKey": {
			sqliteError{787, "constraint failed: FOREIGN KEY constraint failed (787)"},
			crud.Violation{Constraint: crud.ForeignKey},
		},
		"SQLiteCheck": {
			sqliteError{275, "CHECK constraint failed: price >= 0 (275)"},
			crud.Violation{Constraint: crud.Check, Name: "price >= 0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, ok := crud.ViolationOf(test.err)
			if diff := cmp.Diff(test.want, got); diff != "" || !ok {
				t.Errorf("violation (-want +got, %v):\n%s", ok, diff)
			}
		})
	}
	for _, err := range []error{
		errors.New("no such table"), &pgError{Code: "42P01"},
		bunError{'C': "42P01"},
		sqliteError{5, "database is locked"},
		context.Canceled,
	} {
		if v, ok := crud.ViolationOf(err); ok {
			t.Errorf("%v is %+v", err, v)
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()

	columns := crud.Columns{
		Table: "books", Model: driver.ModelOf(reflect.TypeFor[Book]()),
		Fields: map[string]string{
			"id": "id", "the_title": "title", "price": "price", "price_old": "owner", "author": "author_id",
		},
	}
	for name, test := range map[string]struct {
		err      error
		deleting bool
		kind     crud.Constraint
		field    string
	}{
		"Renamed":    {&pgError{Code: "23502", ColumnName: "the_title", TableName: "books"}, false, crud.NotNull, "title"},
		"OtherTable": {&pgError{Code: "23502", ColumnName: "the_title", TableName: "log"}, false, crud.NotNull, ""},
		"Only":       {sqliteError{787, "FOREIGN KEY constraint failed"}, false, crud.ForeignKey, "author_id"},
		"Deleting":   {sqliteError{787, "FOREIGN KEY constraint failed"}, true, crud.Referenced, ""},
		"CheckByName": {
			&pgError{Code: "23514", ConstraintName: "books_price_old_check", TableName: "books"}, false, crud.Check, "owner",
		},
		"CheckByRule":  {sqliteError{275, "CHECK constraint failed: price >= 0"}, false, crud.Check, "price"},
		"CheckOfTwo":   {sqliteError{275, "CHECK constraint failed: price > price_old"}, false, crud.Check, ""},
		"CheckUnknown": {&pgError{Code: "23514", ConstraintName: "sane", TableName: "books"}, false, crud.Check, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			store := crud.FromTable(refusing[Book]{crud.Memory[Book, int64](crud.MemoryConfig{}), test.err}, columns)
			err := store.Insert(t.Context(), &Book{})
			if test.deleting {
				err = store.Delete(t.Context(), 1)
			}
			var broken *crud.ConstraintError
			if !errors.As(err, &broken) || !errors.Is(err, test.err) {
				t.Fatalf("error %v", err)
			}
			if broken.Constraint != test.kind || broken.Field != test.field {
				t.Errorf("constraint %s of %q, want %s of %q", broken.Constraint, broken.Field, test.kind, test.field)
			}
			if !strings.Contains(broken.Error(), string(test.kind)) {
				t.Errorf("the text is %q", broken.Error())
			}
		})
	}
	store := crud.FromTable(refusing[Book]{crud.Memory[Book, int64](crud.MemoryConfig{}), errOther}, columns)
	if err := store.Insert(t.Context(), &Book{}); !errors.Is(err, errOther) {
		t.Errorf("another error became %v", err)
	}
}

var errOther = errors.New("another error")

// refusing is a table whose database takes no row.
type refusing[T any] struct {
	crud.Store[T, int64]

	err error
}

func (r refusing[T]) Insert(context.Context, *T) error                    { return r.err }
func (r refusing[T]) Update(context.Context, *T, []string) (int64, error) { return 0, r.err }
func (r refusing[T]) Delete(context.Context, int64) (int64, error)        { return 0, r.err }
