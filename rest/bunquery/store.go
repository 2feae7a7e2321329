package bunquery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"
)

// Store keeps the rows of T's table, for a controller of package crud. T is a struct that bun
// knows, with one primary key of type K. Options are those of reading, also of one row.
//
// A transaction of the store is one of the database: [Tx] returns it, for what a hook or an
// endpoint wants to do in it, and the stores of other models of the same database are in it
// too. In PostgreSQL the row that is read in one is locked; in SQLite the database is, so
// connections need a busy_timeout. Soft deletes are bun's.
//
// It panics when T is no such struct.
func Store[T, K any](db *bun.DB, opts ...Option) crud.Store[T, K] {
	s := &store[T, K]{db: db, table: db.Dialect().Tables().Get(reflect.TypeFor[T]()), opts: opts}
	for _, opt := range opts {
		opt(&s.config)
	}
	model := driver.ModelOf(reflect.TypeFor[T]())
	if len(s.table.PKs) != 1 || s.table.PKs[0].StructField.Type != reflect.TypeFor[K]() {
		panic(fmt.Sprintf("bunquery.Store: %s has no primary key of type %v", s.table.TypeName, reflect.TypeFor[K]()))
	}
	s.key = s.table.PKs[0]
	s.columns = crud.Columns{Table: s.table.Name, Fields: map[string]string{}, Model: model}
	for _, f := range s.table.Fields {
		for _, name := range model.Names() {
			if logical := model.Field(name); logical != nil && slices.Equal(logical.Index, f.Index) {
				s.columns.Fields[f.Name] = name
			}
		}
	}
	for _, f := range s.table.DataFields {
		s.all = append(s.all, f.Name)
	}
	return s
}

// Tx returns the transaction of the database that ctx belongs to, and db itself when there is
// none.
func Tx(ctx context.Context, db *bun.DB) bun.IDB {
	if tx, ok := ctx.Value(txKey{db.DB}).(bun.Tx); ok {
		return tx
	}
	return db
}

type txKey struct{ db *sql.DB }

type store[T, K any] struct {
	db      *bun.DB
	table   *schema.Table
	key     *schema.Field
	opts    []Option
	config  config
	columns crud.Columns
	all     []string // columns without the key
}

// Set implements [crud.Store].
func (s *store[T, K]) Set(ctx context.Context) query.Set[T] {
	return Set[T](Tx(ctx, s.db), s.opts...)
}

// Tx implements [crud.Store].
func (s *store[T, K]) Tx(ctx context.Context, f func(ctx context.Context) error) error {
	if Tx(ctx, s.db) != bun.IDB(s.db) {
		return f(ctx)
	}
	return s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if s.db.Dialect().Name() == dialect.SQLite {
			// A transaction that reads first and writes later is refused when another one wrote
			// in between. This writes nothing, and waits for the others.
			if _, err := tx.ExecContext(ctx, "DELETE FROM ? WHERE 1 = 0", s.table.SQLName); err != nil {
				return err
			}
		}
		return f(context.WithValue(ctx, txKey{s.db.DB}, tx))
	})
}

// Get implements [crud.Store].
func (s *store[T, K]) Get(ctx context.Context, key K) (T, error) {
	var row T
	db := Tx(ctx, s.db)
	q := db.NewSelect().Model(&row)
	if s.config.prepare != nil {
		q = q.WhereGroup(" AND ", s.config.prepare) // an OR in it is not one with the key
	}
	q = q.Where("?TableAlias.? = ?", s.key.SQLName, key)
	if _, inside := db.(bun.Tx); inside && s.db.Dialect().Name() == dialect.PG {
		q = q.For("UPDATE OF ?TableAlias")
	}
	err := q.Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		err = rest.ErrNotFound
	}
	return row, err
}

// Insert implements [crud.Store].
func (s *store[T, K]) Insert(ctx context.Context, row *T) error {
	return s.Tx(ctx, func(ctx context.Context) error {
		next := *row
		if _, err := Tx(ctx, s.db).NewInsert().Model(&next).Exec(ctx); err != nil {
			return s.columns.Translate(err, false)
		}
		stored, err := s.Get(ctx, s.keyOf(&next))
		if err == nil {
			*row = stored
		}
		return err
	})
}

func (s *store[T, K]) keyOf(row *T) K {
	key, _ := reflect.TypeAssert[K](reflect.ValueOf(row).Elem().FieldByIndex(s.key.Index))
	return key
}

// Update implements [crud.Store].
func (s *store[T, K]) Update(ctx context.Context, key K, row *T, fields []string) error {
	columns, err := s.columnsOf(fields)
	if err != nil {
		return err
	}
	return s.Tx(ctx, func(ctx context.Context) error {
		next := *row
		reflect.ValueOf(&next).Elem().FieldByIndex(s.key.Index).Set(reflect.ValueOf(&key).Elem())
		if len(columns) > 0 {
			result, err := Tx(ctx, s.db).NewUpdate().Model(&next).Column(columns...).WherePK().Exec(ctx)
			if err := s.done(result, err, false); err != nil {
				return err
			}
		}
		stored, err := s.Get(ctx, key)
		if err == nil {
			*row = stored
		}
		return err
	})
}

// columnsOf returns the columns of fields, all of them for nil.
func (s *store[T, K]) columnsOf(fields []string) ([]string, error) {
	if fields == nil {
		return s.all, nil
	}
	return s.columns.Of(fields, s.key.Name) //nolint:wrapcheck // it names the table and the field
}

// Delete implements [crud.Store].
func (s *store[T, K]) Delete(ctx context.Context, key K) error {
	var row T
	reflect.ValueOf(&row).Elem().FieldByIndex(s.key.Index).Set(reflect.ValueOf(&key).Elem())
	result, err := Tx(ctx, s.db).NewDelete().Model(&row).WherePK().Exec(ctx)
	return s.done(result, err, true)
}

// done is the end of a statement about one row.
func (s *store[T, K]) done(result sql.Result, err error, deleting bool) error {
	if err != nil {
		return s.columns.Translate(err, deleting)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		err = rest.ErrNotFound
	}
	return err
}
