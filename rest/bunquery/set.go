// Package bunquery reads lists of package query through bun, from PostgreSQL and SQLite.
//
// A logical field is the bun column with the same Go field, and a relation is bun's relation.
// Times in SQLite have to be in UTC. bun writes them in UTC; any other program that writes the
// table must too.
package bunquery

import (
	"context"
	"math"
	"reflect"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/sqltext"
)

// Option changes how a set is read.
type Option func(*config)

type config struct {
	prepare func(*bun.SelectQuery) *bun.SelectQuery
}

// With calls prepare on each query of the set before anything else is added, for example to
// load relations or to add conditions. These conditions are put in parentheses. prepare must
// not order or limit the query. It is called for counts too.
func With(prepare func(*bun.SelectQuery) *bun.SelectQuery) Option {
	return func(c *config) { c.prepare = prepare }
}

// Set returns the rows of T's table. T is a bun model or a pointer to one. If db is a
// transaction, the list is read in it, and the set is only as safe for concurrent use as the
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

// Check returns an error if an option needs something that T's table does not have. Call it
// when the program starts, with the options of the list's route:
// Check[Book](db, query.Filter[BookFilter](), query.Order("title")).
//
// In PostgreSQL, Check also logs a warning for an order over text that no index serves, with
// the statement that creates the index. [query.Collate] among the options says which collation
// the orders have.
func Check[T any](db bun.IDB, options ...rest.RouteOption) error {
	const place = "bunquery.Check"
	model := driver.ModelOf(reflect.TypeFor[T]())
	t := table{db.Dialect().Tables().Get(model.Type())}
	err := sqltext.Check(place, t, model, options)
	if err == nil && db.Dialect().Name() == dialect.PG {
		sqltext.WarnUnindexed(place, t, model, options, db.QueryContext)
	}
	return err
}

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
		// SQLite needs a limit for an offset.
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
