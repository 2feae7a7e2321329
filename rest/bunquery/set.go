// Package bunquery reads lists of package query through bun, from PostgreSQL and SQLite.
//
// Logical fields are matched to bun's columns by their Go fields, relations to bun's relations.
// Times in SQLite have to be in UTC. bun writes them so; another writer of the same table must, too.
package bunquery

import (
	"context"
	"math"
	"reflect"

	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/sqltext"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"
)

// Option changes what a set reads.
type Option func(*config)

type config struct {
	prepare func(*bun.SelectQuery) *bun.SelectQuery
}

// With calls prepare on each query that the set makes, before anything else is added: to load
// relations of any kind, or to narrow the list in ways of its own. Conditions that it adds are
// in parentheses of their own. It must not order or limit the query, and is called for counts
// too.
func With(prepare func(*bun.SelectQuery) *bun.SelectQuery) Option {
	return func(c *config) { c.prepare = prepare }
}

// Set returns the rows of T's table. T is a struct that bun knows, or a pointer to one. With a
// transaction as db, the list is read in it; the set is then as safe for concurrent use as the
// transaction.
func Set[T any](db bun.IDB, opts ...Option) query.Set[T] {
	return query.From(source[T]{db: db, prepare: configOf(opts).prepare})
}

func configOf(opts []Option) (c config) {
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// Check reports what options would ask of T that its table does not have. It is for a program
// that wants to know when it starts: Check[Book](db, query.Filter[BookFilter]()).
func Check[T any](db bun.IDB, options ...query.Option) error {
	model := driver.ModelOf(reflect.TypeFor[T]())
	return sqltext.Check("bunquery.Check", table{db.Dialect().Tables().Get(model.Type())}, model, options)
}

// source makes one query for each read.
type source[T any] struct {
	db      bun.IDB
	prepare func(*bun.SelectQuery) *bun.SelectQuery
}

// Fetch implements [driver.Source].
func (s source[T]) Fetch(ctx context.Context, plan driver.Plan) ([]T, error) {
	rows := []T{}
	if plan.Limit == 0 {
		return rows, ctx.Err()
	}
	q, err := s.statement(&rows, plan)
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
	if err := q.Scan(ctx); err != nil {
		return nil, err
	}
	return rows, nil
}

// Count implements [driver.Source].
func (s source[T]) Count(ctx context.Context, plan driver.Plan) (int64, error) {
	plan.Order = nil
	var rows []T
	q, err := s.statement(&rows, plan)
	if err != nil {
		return 0, err
	}
	return q.Count(ctx)
}

// statement is a query with the joins, the condition and the order of a plan.
func (s source[T]) statement(rows *[]T, plan driver.Plan) (*bun.SelectQuery, error) {
	t := s.db.Dialect().Tables().Get(driver.ModelOf(reflect.TypeFor[T]()).Type())
	st, err := sqltext.Write(dialectOf(s.db.Dialect()), table{t}, string(t.SQLAlias), plan)
	if err != nil {
		return nil, err
	}
	q := s.db.NewSelect().Model(rows)
	if s.prepare != nil {
		q = q.WhereGroup(" AND ", s.prepare)
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
