package bunquery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Store stores the rows of T's table, for a controller of package crud. T is a bun model with
// one primary key of type K. The options apply to all reads, also those of one row.
//
// A transaction of the store is a database transaction. [Tx] returns it, for queries of a hook
// or an endpoint, and the stores of other models of the same database use it too. In
// PostgreSQL, a row that is read in a transaction is locked. In SQLite, the whole database is
// locked, so connections need a busy_timeout. Soft deletes are bun's.
//
// Store panics if T is not such a model.
func Store[T, K any](db *bun.DB, opts ...Option) crud.Store[T, K] {
	table := db.Dialect().Tables().Get(reflect.TypeFor[T]())
	if len(table.PKs) != 1 || table.PKs[0].StructField.Type != reflect.TypeFor[K]() {
		panic(fmt.Sprintf("bunquery.Store: %s has no primary key of type %v", table.TypeName, reflect.TypeFor[K]()))
	}
	s := &rows[T, K]{db: db, table: table, key: table.PKs[0], opts: opts, config: configOf(opts)}
	c := crud.Columns{
		Table: table.Name, Fields: map[string]string{}, Key: s.key.Name, Model: driver.ModelOf(reflect.TypeFor[T]()),
	}
	for _, f := range table.Fields {
		if logical := c.Model.FieldAt(f.Index); logical != nil {
			c.Fields[f.Name] = logical.Name
		}
	}
	for _, f := range table.DataFields {
		c.Written = append(c.Written, f.Name)
	}
	return crud.FromTable(s, c)
}

// Tx returns the database transaction of ctx, or db if there is none.
func Tx(ctx context.Context, db *bun.DB) bun.IDB {
	if tx, ok := ctx.Value(txKey{db.DB}).(bun.Tx); ok {
		return tx
	}
	return db
}

type txKey struct{ db *sql.DB }

// rows implements [crud.Table].
type rows[T, K any] struct {
	db     *bun.DB
	table  *schema.Table
	key    *schema.Field
	opts   []Option
	config config
}

func (s *rows[T, K]) Set(ctx context.Context) query.Set[T] {
	return Set[T](Tx(ctx, s.db), s.opts...)
}

func (s *rows[T, K]) Tx(ctx context.Context, f func(ctx context.Context) error) error {
	if Tx(ctx, s.db) != bun.IDB(s.db) {
		return f(ctx)
	}
	return s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if s.db.Dialect().Name() == dialect.SQLite {
			// SQLite refuses a transaction that reads first and writes later if another one
			// has written in between. This statement deletes nothing; it waits for the lock.
			if _, err := tx.ExecContext(ctx, "DELETE FROM ? WHERE 1 = 0", s.table.SQLName); err != nil {
				return err
			}
		}
		return f(context.WithValue(ctx, txKey{s.db.DB}, tx))
	})
}

func (s *rows[T, K]) Get(ctx context.Context, key K) (T, error) {
	var row T
	db := Tx(ctx, s.db)
	q := db.NewSelect().Model(&row)
	if s.config.prepare != nil {
		q = q.WhereGroup(" AND ", s.config.prepare) // in parentheses, so that an OR in it does not bypass the key
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

func (s *rows[T, K]) Insert(ctx context.Context, row *T) error {
	_, err := Tx(ctx, s.db).NewInsert().Model(row).Exec(ctx)
	return err
}

func (s *rows[T, K]) Update(ctx context.Context, row *T, columns []string) (int64, error) {
	return affected(Tx(ctx, s.db).NewUpdate().Model(row).Column(columns...).WherePK().Exec(ctx))
}

func (s *rows[T, K]) Delete(ctx context.Context, key K) (int64, error) {
	var row T
	reflect.ValueOf(&row).Elem().FieldByIndex(s.key.Index).Set(reflect.ValueOf(&key).Elem())
	return affected(Tx(ctx, s.db).NewDelete().Model(&row).WherePK().Exec(ctx))
}

func affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
