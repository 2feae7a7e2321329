package schedule

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// makerRuns is the value of the row of a maker: the runs of its schedules that were active when it was written.
type makerRuns struct {
	Runs []runRef `json:"runs"`
}

// takeRoom adds a run to those of the schedule's maker, in the change, and reports false if too many of them are
// active. Schedules of the configuration have no bound. Two schedules of a maker that start at the same time change
// the same row, so one of them decides again.
func (s *Schedules) takeRoom(ctx context.Context, c *change, run runRef) (bool, error) {
	maker := c.was.Maker
	if maker.Kind == wire.MakerFile {
		return true, nil
	}
	sum := sha256.Sum256([]byte(string(maker.Kind) + "\x00" + maker.Subject))
	key := hex.EncodeToString(sum[:])
	tenant := c.was.tenant
	rows, err := s.Store.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: kindMaker, Key: key, Limit: 1})
	if err != nil {
		return false, err
	}
	next := store.Row{Kind: kindMaker, Key: key}
	var have makerRuns
	if len(rows) > 0 {
		next.Version = rows[0].Version
		if err := json.Unmarshal(rows[0].Value, &have); err != nil {
			return false, spool.Wrap(spool.Internal, "read the runs of a maker of schedules", err)
		}
	}
	if len(have.Runs) >= s.Options.MaxRuns {
		active := have.Runs[:0]
		for _, r := range have.Runs {
			is, err := s.active(ctx, tenant, r)
			if err != nil {
				return false, err
			}
			if is {
				active = append(active, r)
			}
		}
		if have.Runs = active; len(active) >= s.Options.MaxRuns {
			return false, nil
		}
	}
	have.Runs = append(have.Runs, run)
	next.Value = encode(have)
	c.maker = &next
	return true, nil
}
