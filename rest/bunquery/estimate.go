package bunquery

import (
	"context"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/sqltext"
)

// Estimate implements [driver.PlanEstimator]. It asks PostgreSQL's planner; in SQLite it
// counts.
func (s source[T]) Estimate(ctx context.Context, plan driver.Plan) (int64, error) {
	if s.db.Dialect().Name() != dialect.PG {
		return s.Count(ctx, plan)
	}
	plan.Order = nil
	var rows []T
	q, err := s.statement(&rows, plan)
	if err != nil {
		return 0, err
	}
	// bun writes the parameters into the text, so the text is complete.
	text, err := q.AppendQuery(q.DB().QueryGen(), nil)
	if err != nil {
		return 0, err
	}
	var explained string
	if err := s.db.NewRaw(sqltext.Explain+"?", bun.Safe(text)).Scan(ctx, &explained); err != nil {
		return 0, err
	}
	return sqltext.PlannedRows([]byte(explained))
}
