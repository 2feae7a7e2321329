package sqltext

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Explain is put before a statement; PostgreSQL then returns its plan for [PlannedRows].
const Explain = "EXPLAIN (FORMAT JSON) "

// PlannedRows returns the number of rows that PostgreSQL's planner expects.
func PlannedRows(answer []byte) (int64, error) {
	var plans []struct{ Plan map[string]any }
	if err := json.Unmarshal(answer, &plans); err != nil {
		return 0, fmt.Errorf("read a plan: %w", err)
	}
	if len(plans) > 0 {
		if rows, ok := plans[0].Plan["Plan Rows"].(float64); ok {
			return int64(rows), nil
		}
	}
	return 0, errors.New("a plan has no number of rows")
}
