package gormquery

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Store keeps the rows of T's table, for a controller of package crud. T is a struct that gorm
// knows, with one primary key of type K. db may be prepared for reading, as that of [Set].
//
// A transaction of the store is one of the database: [Tx] returns it, for what a hook or an
// endpoint wants to do in it, and the stores of other models of the same database are in it
// too. In PostgreSQL the row that is read in one is locked; in SQLite the database is, so
// connections need a busy_timeout. Soft deletes, hooks of the model and times that gorm sets
// are gorm's; relations are never written. Zero values are written as such, also where gorm's
// tag default has another value.
//
// It panics when T is no such struct.
func Store[T, K any](db *gorm.DB) crud.Store[T, K] {
	t, err := parse[T](db)
	if err != nil {
		panic(fmt.Sprintf("gormquery.Store: %v", err))
	}
	s := &store[T, K]{db: db.Session(&gorm.Session{}), pool: db.Statement.ConnPool, schema: t.schema}
	if len(s.schema.PrimaryFields) != 1 || s.schema.PrimaryFields[0].FieldType != reflect.TypeFor[K]() {
		panic(fmt.Sprintf("gormquery.Store: %s has no primary key of type %v", s.schema.Name, reflect.TypeFor[K]()))
	}
	s.key = s.schema.PrimaryFields[0]
	model := driver.ModelOf(reflect.TypeFor[T]())
	s.columns = crud.Columns{Table: s.schema.Table, Fields: map[string]string{}, Model: model}
	for _, f := range s.schema.Fields {
		if f.DBName == "" {
			continue
		}
		if !f.PrimaryKey && f.Updatable {
			s.all = append(s.all, f.DBName)
		}
		for _, name := range model.Names() {
			if logical := model.Field(name); logical != nil && at(f, logical.Index) {
				s.columns.Fields[f.DBName] = name
			}
		}
	}
	return s
}

// Tx returns the transaction of the database that ctx belongs to, and db itself when there is
// none. Either has ctx as its context.
func Tx(ctx context.Context, db *gorm.DB) *gorm.DB {
	bound := db.WithContext(ctx)
	if tx, ok := ctx.Value(txKey{db.Statement.ConnPool}).(gorm.ConnPool); ok {
		bound.Statement.ConnPool = tx
	}
	return bound
}

type txKey struct{ pool gorm.ConnPool }

type store[T, K any] struct {
	db      *gorm.DB
	pool    gorm.ConnPool
	schema  *schema.Schema
	key     *schema.Field
	columns crud.Columns
	all     []string // columns without the key
}

// Set implements [crud.Store].
func (s *store[T, K]) Set(ctx context.Context) query.Set[T] { return Set[T](Tx(ctx, s.db)) }

func (s *store[T, K]) inside(ctx context.Context) bool { return ctx.Value(txKey{s.pool}) != nil }

// Tx implements [crud.Store].
func (s *store[T, K]) Tx(ctx context.Context, f func(ctx context.Context) error) error {
	if s.inside(ctx) {
		return f(ctx)
	}
	return s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if tx.Name() == "sqlite" {
			// A transaction that reads first and writes later is refused when another one wrote
			// in between. This writes nothing, and waits for the others.
			lock := tx.Session(&gorm.Session{NewDB: true}).Exec("DELETE FROM ? WHERE 1 = 0", clause.Table{Name: s.schema.Table})
			if lock.Error != nil {
				return lock.Error
			}
		}
		return f(context.WithValue(ctx, txKey{s.pool}, tx.Statement.ConnPool))
	})
}

func (s *store[T, K]) is(key K) clause.Expression {
	return clause.Eq{Column: clause.Column{Table: clause.CurrentTable, Name: s.key.DBName}, Value: key}
}

// Get implements [crud.Store].
func (s *store[T, K]) Get(ctx context.Context, key K) (T, error) {
	var rows []T
	tx := Tx(ctx, s.db).Model(new(T))
	group(tx.Statement) // an OR in it is not one with the key
	tx = tx.Clauses(clause.Where{Exprs: []clause.Expression{s.is(key)}})
	if s.inside(ctx) && tx.Name() == "postgres" {
		tx = tx.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate, Table: clause.Table{Name: clause.CurrentTable}})
	}
	if err := tx.Limit(1).Find(&rows).Error; err != nil || len(rows) == 0 {
		var none T
		if err == nil {
			err = rest.ErrNotFound
		}
		return none, err
	}
	return rows[0], nil
}

// Insert implements [crud.Store].
func (s *store[T, K]) Insert(ctx context.Context, row *T) error {
	return s.Tx(ctx, func(ctx context.Context) error {
		next := *row
		if err := s.fresh(ctx).Omit(clause.Associations).Create(&next).Error; err != nil {
			return s.translate(err, false)
		}
		key := s.keyOf(&next)
		if zeros := s.overridden(row); len(zeros) > 0 {
			return s.Update(ctx, key, row, zeros)
		}
		stored, err := s.Get(ctx, key)
		if err == nil {
			*row = stored
		}
		return err
	})
}

// fresh returns a connection without what db was prepared with for reading.
func (s *store[T, K]) fresh(ctx context.Context) *gorm.DB {
	return Tx(ctx, s.db.Session(&gorm.Session{NewDB: true}))
}

// overridden lists the fields whose zero value gorm has replaced by a default.
func (s *store[T, K]) overridden(row *T) []string {
	var names []string
	for column, logical := range s.columns.Fields {
		f := s.schema.LookUpField(column)
		if f == nil || f.PrimaryKey || !f.HasDefaultValue || f.DefaultValueInterface == nil {
			continue
		}
		if reflect.ValueOf(row).Elem().FieldByIndex(s.columns.Model.Field(logical).Index).IsZero() {
			names = append(names, logical)
		}
	}
	return names
}

func (s *store[T, K]) keyOf(row *T) K {
	key, _ := reflect.TypeAssert[K](s.keyIn(row))
	return key
}

func (s *store[T, K]) keyIn(row *T) reflect.Value {
	return reflect.ValueOf(row).Elem().FieldByIndex(s.columns.Model.Field(s.columns.Fields[s.key.DBName]).Index)
}

// Update implements [crud.Store].
func (s *store[T, K]) Update(ctx context.Context, key K, row *T, fields []string) error {
	columns, err := s.columnsOf(fields)
	if err != nil {
		return err
	}
	return s.Tx(ctx, func(ctx context.Context) error {
		if len(columns) > 0 {
			next := *row
			s.keyIn(&next).Set(reflect.ValueOf(&key).Elem())
			// Only what is selected is written, and that also when it is zero.
			result := s.fresh(ctx).Model(&next).Select(columns).Updates(&next)
			if err := s.done(result, false); err != nil {
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
	return s.columns.Of(fields, s.key.DBName) //nolint:wrapcheck // it names the table and the field
}

// Delete implements [crud.Store].
func (s *store[T, K]) Delete(ctx context.Context, key K) error {
	return s.done(s.fresh(ctx).Clauses(clause.Where{Exprs: []clause.Expression{s.is(key)}}).Delete(new(T)), true)
}

// done is the end of a statement about one row.
func (s *store[T, K]) done(result *gorm.DB, deleting bool) error {
	switch {
	case result.Error != nil:
		return s.translate(result.Error, deleting)
	case result.RowsAffected == 0:
		return rest.ErrNotFound
	default:
		return nil
	}
}

// translate knows the errors of databases, and those that gorm makes of them when it is told
// to, which no longer say which field is meant.
func (s *store[T, K]) translate(err error, deleting bool) error {
	switch {
	case errors.Is(err, gorm.ErrDuplicatedKey):
		return &crud.ConstraintError{Constraint: crud.Unique, Err: err}
	case errors.Is(err, gorm.ErrForeignKeyViolated) && deleting:
		return &crud.ConstraintError{Constraint: crud.Referenced, Err: err}
	case errors.Is(err, gorm.ErrForeignKeyViolated):
		return &crud.ConstraintError{Constraint: crud.ForeignKey, Err: err}
	case errors.Is(err, gorm.ErrCheckConstraintViolated):
		return &crud.ConstraintError{Constraint: crud.Check, Err: err}
	default:
		return s.columns.Translate(err, deleting)
	}
}
