package query

import (
	"reflect"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"gorm.io/gorm"

	"github.com/spoolhq/spool/rest/query/querytest"
)

// tables are the rows of all tables, without relations.
func tables(data *querytest.Data) []any {
	books := append([]querytest.Book{}, data.Books...)
	for i := range books {
		books[i].Author, books[i].Reviews, books[i].Tags = nil, nil, nil
	}
	authors := append([]querytest.Author{}, data.Authors...)
	for i := range authors {
		authors[i].Country, authors[i].Books = nil, nil
	}
	reviews := append([]querytest.Review{}, data.Reviews...)
	for i := range reviews {
		reviews[i].Author = nil
	}
	return []any{&books, &authors, &data.Countries, &reviews, &data.Tags, &data.BookTags}
}

func fillBun(t *testing.T, db *bun.DB, data *querytest.Data) {
	t.Helper()

	for _, rows := range tables(data) {
		model := reflect.New(reflect.TypeOf(rows).Elem().Elem()).Interface()
		if _, err := db.ExecContext(t.Context(), collated(db, db.NewCreateTable().Model(model).String())); err != nil {
			t.Fatal(err)
		}
		if reflect.ValueOf(rows).Elem().Len() == 0 {
			continue
		}
		if _, err := db.NewInsert().Model(rows).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// collated gives texts a collation that orders them in another way, and in SQLite takes some
// for equal that are not: neither may show.
func collated(db *bun.DB, statement string) string {
	collation := ` COLLATE "en-x-icu"`
	if db.Dialect().Name() == dialect.SQLite {
		collation = " COLLATE NOCASE"
	}
	for _, column := range []string{"title", "subtitle", "name", "text"} {
		statement = strings.Replace(statement, `"`+column+`" VARCHAR`, `"`+column+`" VARCHAR`+collation, 1)
	}
	return statement
}

func fillGorm(t *testing.T, db *gorm.DB, data *querytest.Data) {
	t.Helper()

	for _, rows := range tables(data) {
		model := reflect.New(reflect.TypeOf(rows).Elem().Elem()).Interface()
		if err := db.AutoMigrate(model); err != nil {
			t.Fatal(err)
		}
		if reflect.ValueOf(rows).Elem().Len() == 0 {
			continue
		}
		if err := db.Create(rows).Error; err != nil {
			t.Fatal(err)
		}
	}
	// The SQLite driver writes an empty blob for a nil one.
	for _, b := range data.Books {
		if b.Cover == nil {
			if err := db.Exec("UPDATE books SET cover = NULL WHERE id = ?", b.ID).Error; err != nil {
				t.Fatal(err)
			}
		}
	}
}
