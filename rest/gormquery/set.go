// Package gormquery reads lists of package query through gorm, from PostgreSQL and SQLite.
//
// A logical field is the gorm column with the same Go field, and a relation is gorm's
// relation. In SQLite, gorm writes a time in the zone that the time has, so the program must
// write times in UTC if lists compare them.
package gormquery

import (
	"context"
	"database/sql"
	"math"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/sqltext"
)

// Set returns the rows of T's table. T is a gorm model or a pointer to one. db may be a
// transaction. It may also be prepared with Where, Preload, Joins, Unscoped and so on. An
// order of the list replaces that of db. The set is as safe for concurrent use as db.
func Set[T any](db *gorm.DB) query.Set[T] {
	return query.From(source[T]{db.Session(&gorm.Session{})})
}

// Check returns an error if an option needs something that T's table does not have. Call it
// when the program starts, with the options of the list's route:
// Check[Book](db, query.Filter[BookFilter](), query.Order("title")).
//
// In PostgreSQL, Check also logs a warning for an order over text that no index serves, with
// the statement that creates the index. [query.Collate] among the options says which collation
// the orders have.
func Check[T any](db *gorm.DB, options ...rest.RouteOption) error {
	const place = "gormquery.Check"
	t, err := parse[T](db)
	if err != nil {
		return err
	}
	model := driver.ModelOf(reflect.TypeFor[T]())
	err = sqltext.Check(place, t, model, options)
	if err == nil && dialectOf(db) == sqltext.Postgres {
		sqltext.WarnUnindexed(place, t, model, options, func(
			ctx context.Context, query string, args ...any,
		) (*sql.Rows, error) {
			return db.Session(&gorm.Session{NewDB: true, Context: ctx}).Raw(query, args...).Rows()
		})
	}
	return err
}

type source[T any] struct{ db *gorm.DB }

// Fetch implements [driver.Source].
func (s source[T]) Fetch(ctx context.Context, plan driver.Plan) ([]T, error) {
	rows := []T{}
	if plan.Limit == 0 {
		return rows, ctx.Err()
	}
	tx, err := s.statement(ctx, plan)
	if err != nil {
		return nil, err
	}
	switch {
	case plan.Limit > 0:
		tx = tx.Limit(int(min(plan.Limit, math.MaxInt)))
	case plan.Offset > 0:
		// SQLite needs a limit for an offset.
		tx = tx.Limit(math.MaxInt)
	}
	if plan.Offset > 0 {
		tx = tx.Offset(int(min(plan.Offset, math.MaxInt)))
	}
	if err := tx.Find(&rows).Error; err != nil {
		return nil, err
	}
	return rows, nil
}

// Count implements [driver.Source].
func (s source[T]) Count(ctx context.Context, plan driver.Plan) (int64, error) {
	plan.Order = nil
	tx, err := s.statement(ctx, plan)
	if err != nil {
		return 0, err
	}
	var n int64
	err = tx.Count(&n).Error
	return n, err
}

func (s source[T]) statement(ctx context.Context, plan driver.Plan) (*gorm.DB, error) {
	t, err := parse[T](s.db)
	if err != nil {
		return nil, err
	}
	tx := s.db.WithContext(ctx).Model(reflect.New(driver.ModelOf(reflect.TypeFor[T]()).Type()).Interface())
	group(tx.Statement)
	st, err := sqltext.Write(dialectOf(tx), t, t.Source(), plan)
	if err != nil {
		return nil, err
	}
	if len(st.Joins) > 0 {
		from := clause.From{}
		for _, join := range st.Joins {
			from.Joins = append(from.Joins, clause.Join{Expression: piece{join, ""}})
		}
		tx = tx.Clauses(from)
	}
	if st.Where.Text != "" {
		tx = tx.Where(piece{st.Where, "()"})
	}
	if len(st.Order) > 0 {
		order := clause.OrderBy{}
		for i, part := range st.Order {
			order.Columns = append(order.Columns, clause.OrderByColumn{
				Column: clause.Column{Name: part.Text, Raw: true}, Reorder: i == 0,
			})
		}
		tx = tx.Clauses(order)
	}
	return tx, nil
}

// group puts the conditions of db in parentheses if one of them is an OR. Without them, the OR
// would bypass the list's own conditions.
func group(st *gorm.Statement) {
	c := st.Clauses["WHERE"]
	where, ok := c.Expression.(clause.Where)
	if !ok || !slices.ContainsFunc(where.Exprs, func(e clause.Expression) bool {
		_, or := e.(clause.OrConditions)
		return or
	}) {
		return
	}
	c.Expression = clause.Where{Exprs: []clause.Expression{clause.And(slices.Clone(where.Exprs)...)}}
	st.Clauses["WHERE"] = c
}

func dialectOf(db *gorm.DB) sqltext.Dialect {
	switch db.Name() {
	case "postgres":
		return sqltext.Postgres
	case "sqlite":
		return sqltext.SQLite
	default:
		return 0
	}
}

// parse returns gorm's schema of T. gorm caches it.
func parse[T any](db *gorm.DB) (table, error) {
	st := &gorm.Statement{DB: db}
	if err := st.Parse(reflect.New(driver.ModelOf(reflect.TypeFor[T]()).Type()).Interface()); err != nil {
		return table{}, err
	}
	return table{db, st.Schema}, nil
}

// piece writes a clause for gorm, like clause.Expr, but without special treatment of list
// parameters.
type piece struct {
	clause sqltext.Clause
	around string
}

// Build implements [clause.Expression].
func (p piece) Build(b clause.Builder) {
	text, args := p.clause.Text, p.clause.Args
	if p.around != "" {
		text = p.around[:1] + text + p.around[1:]
	}
	for i := 0; ; i++ {
		before, after, ok := strings.Cut(text, "?")
		_, _ = b.WriteString(before)
		if !ok {
			return
		}
		b.AddVar(b, args[i])
		text = after
	}
}
