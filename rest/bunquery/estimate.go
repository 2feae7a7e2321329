package bunquery

import (
	"context"
	"encoding/json"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/spoolhq/spool/rest/query"
)

// Estimate implements [query.PlanEstimator]: it asks PostgreSQL's planner, and counts in
// SQLite.
func (s source[T]) Estimate(ctx context.Context, plan query.Plan) (int64, error) {
	if s.dialect.Name() != dialect.PG {
		return s.Count(ctx, plan)
	}
	plan.Order = nil
	var rows []T
	q, _ := s.start(&rows)
	q, err := s.apply(q, plan)
	if err != nil {
		return 0, err
	}
	// The text is complete: bun writes parameters into it.
	text, err := q.AppendQuery(q.DB().QueryGen(), nil)
	if err != nil {
		return 0, err
	}
	var explained string
	if err := q.NewRaw("EXPLAIN (FORMAT JSON) ?", bun.Safe(text)).Scan(ctx, &explained); err != nil {
		return 0, err
	}
	var plans []struct {
		Plan struct {
			Rows int64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal([]byte(explained), &plans); err != nil || len(plans) == 0 {
		return 0, err
	}
	return plans[0].Plan.Rows, nil
}
