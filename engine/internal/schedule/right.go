package schedule

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// rights returns what the maker of a schedule may do at a time. A [spool.Forbidden] error says that the right has ended.
// After any other error the right is not known now.
func (s *Schedules) rights(ctx context.Context, m wire.ScheduleMaker, now time.Time) (wire.ScheduleRights, error) {
	if m.Kind == wire.MakerFile {
		return m.ScheduleRights, nil
	}
	if !m.Until.IsZero() && !now.Before(m.Until) {
		return wire.ScheduleRights{}, spool.Errorf(spool.Forbidden, "The right of its maker has ended")
	}
	switch {
	case m.Kind == wire.MakerPrincipal && s.Options.MaxScopes != nil:
		rights := m.ScheduleRights
		rights.Scopes = slices.DeleteFunc(slices.Clone(rights.Scopes), func(scope string) bool {
			return !slices.Contains(s.Options.MaxScopes, scope)
		})
		return rights, nil
	case s.Options.MayStart == nil:
		return wire.ScheduleRights{}, spool.Errorf(spool.Unavailable, "this process cannot look up the right of the maker")
	}
	return s.Options.MayStart(ctx, m)
}

// checkMaker returns the rights of whoever makes a schedule, or an error if its right could not be looked up later.
func (s *Schedules) checkMaker(ctx context.Context, m wire.ScheduleMaker, now time.Time) (wire.ScheduleRights, error) {
	bounded := m.Kind == wire.MakerPrincipal && s.Options.MaxScopes != nil
	switch {
	case m.Kind == wire.MakerFile:
		return m.ScheduleRights, nil
	case bounded && m.Until.IsZero():
		return wire.ScheduleRights{}, spool.Errorf(spool.Forbidden,
			"You cannot make a schedule, because it is not known when your credentials end")
	case !bounded && s.Options.MayStart == nil:
		return wire.ScheduleRights{}, spool.Errorf(spool.Forbidden,
			"You cannot make a schedule, because the server could not look up later what you may do")
	}
	return s.rights(ctx, m, now)
}

// makerRuns is the value of the row of a maker: the runs of its schedules that were active when it was written.
type makerRuns struct {
	Runs []runRef `json:"runs"`
}

// takeRoom adds a run to those of the schedule's maker, in the change, and reports false if too many of them are active.
// Schedules of the configuration have no bound. Two schedules of a maker that start at the same time change the same
// row, so one of them decides again.
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
