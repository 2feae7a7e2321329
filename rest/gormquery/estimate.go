package gormquery

import (
	"context"

	"gorm.io/gorm"

	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/sqltext"
)

// Estimate implements [driver.PlanEstimator]. It asks PostgreSQL's planner; in SQLite it
// counts.
func (s source[T]) Estimate(ctx context.Context, plan driver.Plan) (int64, error) {
	if dialectOf(s.db) != sqltext.Postgres {
		return s.Count(ctx, plan)
	}
	plan.Order = nil
	tx, err := s.statement(ctx, plan)
	if err != nil {
		return 0, err
	}
	var rows []T
	st := tx.Session(&gorm.Session{DryRun: true}).Find(&rows).Statement
	if st.Error != nil {
		return 0, st.Error
	}
	var explained []byte
	err = st.ConnPool.QueryRowContext(ctx, sqltext.Explain+st.SQL.String(), st.Vars...).Scan(&explained)
	if err != nil {
		return 0, err
	}
	return sqltext.PlannedRows(explained)
}
