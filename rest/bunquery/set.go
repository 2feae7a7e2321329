// Package bunquery reads lists of package query through bun, from PostgreSQL and SQLite.
//
// Logical fields are matched to bun's columns by their Go fields, relations to bun's relations.
// Whoever writes times into SQLite with another library has to write them in UTC; bun does.
package bunquery

import (
	"context"
	"fmt"
	"math"
	"reflect"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"

	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/sqltext"
)

// Option changes what a set reads.
type Option func(*config)

type config struct {
	prepare func(*bun.SelectQuery) *bun.SelectQuery
}

// With calls prepare on each query that the set makes, before anything else is added: to load
// relations of any kind, or to narrow the list in ways of its own. It must not order or limit
// the query, and is called for counts too.
func With(prepare func(*bun.SelectQuery) *bun.SelectQuery) Option {
	return func(c *config) { c.prepare = prepare }
}

// Set returns the rows of T's table. T is a struct that bun knows, or a pointer to one. With a
// transaction as db, the list is read in it; the set is then as safe for concurrent use as the
// transaction.
func Set[T any](db bun.IDB, opts ...Option) query.Set[T] {
	var c config
	for _, opt := range opts {
		opt(&c)
	}
	return query.From(source[T]{
		tables: db.Dialect().Tables(), dialect: db.Dialect(),
		start: func(rows *[]T) (*bun.SelectQuery, []any) {
			q := db.NewSelect().Model(rows)
			if c.prepare != nil {
				q = c.prepare(q)
			}
			return q, nil
		},
	})
}

// Over returns the rows of a prepared query, whose model is (*T)(nil) and which has neither an
// order nor a limit. It is copied for each read. Relations to one can be loaded by it; those to
// many need [With].
func Over[T any](q *bun.SelectQuery) query.Set[T] {
	return query.From(source[T]{
		tables: q.Dialect().Tables(), dialect: q.Dialect(),
		start: func(rows *[]T) (*bun.SelectQuery, []any) { return q.Clone(), []any{rows} },
	})
}

// Check reports what options would ask of T that its table does not have. It is for a program
// that wants to know when it starts: Check[Book](db, query.Filter[BookFilter]()).
func Check[T any](db bun.IDB, options ...query.Option) error {
	elem := reflect.TypeFor[T]()
	for _, o := range options {
		stage, err := o.Compile(query.ModelOf(elem), "bunquery.Check")
		if err != nil {
			return err
		}
		t := table{db.Dialect().Tables().Get(structOf(elem))}
		if err := sqltext.Check(t, query.ColumnsOf(stage)); err != nil {
			return fmt.Errorf("bunquery.Check: %w", err)
		}
	}
	return nil
}

func structOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// source makes one query for each read.
type source[T any] struct {
	tables  *schema.Tables
	dialect schema.Dialect
	// start returns a query, and where to scan to if that is not its model.
	start func(rows *[]T) (*bun.SelectQuery, []any)
}

// Fetch implements [query.Source].
func (s source[T]) Fetch(ctx context.Context, plan query.Plan) ([]T, error) {
	rows := []T{}
	if plan.Limit == 0 {
		return rows, ctx.Err()
	}
	q, dest := s.start(&rows)
	q, err := s.apply(q, plan)
	if err != nil {
		return nil, err
	}
	switch {
	case plan.Limit > 0:
		q = q.Limit(plan.Limit)
	case plan.Offset > 0:
		// SQLite has no offset without a limit.
		q = q.Limit(math.MaxInt64)
	}
	if plan.Offset > 0 {
		q = q.Offset(plan.Offset)
	}
	if err := q.Scan(ctx, dest...); err != nil {
		return nil, err
	}
	return rows, nil
}

// Count implements [query.Source].
func (s source[T]) Count(ctx context.Context, plan query.Plan) (int64, error) {
	plan.Order = nil
	var rows []T
	q, _ := s.start(&rows)
	q, err := s.apply(q, plan)
	if err != nil {
		return 0, err
	}
	return q.Count(ctx)
}

// apply adds the joins, the condition and the order of a plan.
func (s source[T]) apply(q *bun.SelectQuery, plan query.Plan) (*bun.SelectQuery, error) {
	t := s.tables.Get(structOf(reflect.TypeFor[T]()))
	st, err := sqltext.Write(dialectOf(s.dialect), table{t}, string(t.SQLAlias), plan)
	if err != nil {
		return nil, err
	}
	for _, join := range st.Joins {
		q = q.Join(join.Text, join.Args...)
	}
	if st.Where.Text != "" {
		q = q.Where(st.Where.Text, st.Where.Args...)
	}
	for _, part := range st.Order {
		q = q.OrderExpr(part.Text, part.Args...)
	}
	return q, nil
}

func dialectOf(d schema.Dialect) sqltext.Dialect {
	switch d.Name() {
	case dialect.PG:
		return sqltext.Postgres
	case dialect.SQLite:
		return sqltext.SQLite
	default:
		return 0
	}
}
