package gormquery

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Store stores the rows of T's table, for a controller of package crud. T is a gorm model with
// one primary key of type K. db may be prepared for reading, as for [Set].
//
// A transaction of the store is a database transaction. [Tx] returns it, for queries of a hook
// or an endpoint, and the stores of other models of the same database use it too. In
// PostgreSQL, a row that is read in a transaction is locked. In SQLite, the whole database is
// locked, so connections need a busy_timeout.
//
// Soft deletes, the model's hooks and automatic times are gorm's. Relations are never written.
// Zero values are written as zero, even if gorm's tag default has another value.
//
// Store panics if T is not such a model.
func Store[T, K any](db *gorm.DB) crud.Store[T, K] {
	t, err := parse[T](db)
	if err != nil {
		panic(fmt.Sprintf("gormquery.Store: %v", err))
	}
	s := &rows[T, K]{db: db.Session(&gorm.Session{}), pool: db.Statement.ConnPool, schema: t.schema}
	if len(s.schema.PrimaryFields) != 1 || s.schema.PrimaryFields[0].FieldType != reflect.TypeFor[K]() {
		panic(fmt.Sprintf("gormquery.Store: %s has no primary key of type %v", s.schema.Name, reflect.TypeFor[K]()))
	}
	s.key = s.schema.PrimaryFields[0]
	c := crud.Columns{
		Table: s.schema.Table, Fields: map[string]string{}, Key: s.key.DBName, Model: driver.ModelOf(reflect.TypeFor[T]()),
	}
	for _, f := range s.schema.Fields {
		if f.DBName == "" {
			continue
		}
		if !f.PrimaryKey && f.Updatable {
			c.Written = append(c.Written, f.DBName)
		}
		if logical := c.Model.FieldAt(plain(f.StructField.Index)); logical != nil {
			c.Fields[f.DBName] = logical.Name
			if !f.PrimaryKey && f.HasDefaultValue && f.DefaultValueInterface != nil {
				s.defaults = append(s.defaults, column{f.DBName, logical.Index})
			}
		}
	}
	return crud.FromTable(s, c)
}

// Tx returns the database transaction of ctx, or db if there is none. The result has the
// context ctx.
func Tx(ctx context.Context, db *gorm.DB) *gorm.DB {
	bound := db.WithContext(ctx)
	if tx, ok := ctx.Value(txKey{db.Statement.ConnPool}).(gorm.ConnPool); ok {
		bound.Statement.ConnPool = tx
	}
	return bound
}

type txKey struct{ pool gorm.ConnPool }

// rows implements [crud.Table].
type rows[T, K any] struct {
	db     *gorm.DB
	pool   gorm.ConnPool
	schema *schema.Schema
	key    *schema.Field
	// defaults are the columns for which gorm replaces zero by a default value.
	defaults []column
}

type column struct {
	name  string
	index []int
}

func (s *rows[T, K]) Set(ctx context.Context) query.Set[T] { return Set[T](Tx(ctx, s.db)) }

func (s *rows[T, K]) inside(ctx context.Context) bool { return ctx.Value(txKey{s.pool}) != nil }

func (s *rows[T, K]) Tx(ctx context.Context, f func(ctx context.Context) error) error {
	if s.inside(ctx) {
		return f(ctx)
	}
	return s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if tx.Name() == "sqlite" {
			// SQLite refuses a transaction that reads first and writes later if another one
			// has written in between. This statement deletes nothing; it waits for the lock.
			lock := tx.Session(&gorm.Session{NewDB: true}).Exec("DELETE FROM ? WHERE 1 = 0", clause.Table{Name: s.schema.Table})
			if lock.Error != nil {
				return lock.Error
			}
		}
		return f(context.WithValue(ctx, txKey{s.pool}, tx.Statement.ConnPool))
	})
}

func (s *rows[T, K]) is(key K) clause.Expression {
	return clause.Eq{Column: clause.Column{Table: clause.CurrentTable, Name: s.key.DBName}, Value: key}
}

func (s *rows[T, K]) Get(ctx context.Context, key K) (T, error) {
	var rows []T
	tx := Tx(ctx, s.db).Model(new(T))
	group(tx.Statement) // in parentheses, so that an OR in it does not bypass the key
	tx = tx.Clauses(clause.Where{Exprs: []clause.Expression{s.is(key)}})
	if s.inside(ctx) && tx.Name() == "postgres" {
		tx = tx.Clauses(clause.Locking{
			Strength: clause.LockingStrengthUpdate, Table: clause.Table{Name: clause.CurrentTable},
		})
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

func (s *rows[T, K]) Insert(ctx context.Context, row *T) error {
	sent := *row
	if err := s.fresh(ctx).Omit(clause.Associations).Create(row).Error; err != nil {
		return translate(err, false)
	}
	var zeros []string
	for _, c := range s.defaults {
		if field := reflect.ValueOf(&sent).Elem().FieldByIndex(c.index); field.IsZero() {
			reflect.ValueOf(row).Elem().FieldByIndex(c.index).SetZero()
			zeros = append(zeros, c.name)
		}
	}
	if len(zeros) == 0 {
		return nil
	}
	_, err := s.Update(ctx, row, zeros)
	return err
}

// fresh returns a connection without the conditions that db was prepared with.
func (s *rows[T, K]) fresh(ctx context.Context) *gorm.DB {
	return Tx(ctx, s.db.Session(&gorm.Session{NewDB: true}))
}

func (s *rows[T, K]) Update(ctx context.Context, row *T, columns []string) (int64, error) {
	// Only selected columns are written, and they are written even if they are zero.
	result := s.fresh(ctx).Model(row).Select(columns).Updates(row)
	return result.RowsAffected, translate(result.Error, false)
}

func (s *rows[T, K]) Delete(ctx context.Context, key K) (int64, error) {
	result := s.fresh(ctx).Clauses(clause.Where{Exprs: []clause.Expression{s.is(key)}}).Delete(new(T))
	return result.RowsAffected, translate(result.Error, true)
}

// translate turns gorm's own errors into errors of package crud. With its option TranslateError,
// gorm returns these instead of the database's errors. They do not name the field.
func translate(err error, deleting bool) error {
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
		return err
	}
}
