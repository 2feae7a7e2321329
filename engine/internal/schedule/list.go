package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// keptLines is how many lines of its history a schedule keeps.
	keptLines = 100
	// shownNext is how many due times are shown.
	shownNext = 5
)

// tickKey is the key of a line of the history. A later line takes the place of one that is no longer kept.
func tickKey(name string, seq int64) string { return fmt.Sprintf("%s/%02d", name, seq%keptLines) }

// nowID is the id of the tick that somebody asks for behind so many lines.
func nowID(lines int64) string { return "now " + strconv.FormatInt(lines, 10) }

// all returns the schedules of a tenant.
func (s *Schedules) all(ctx context.Context, tenant spool.Tenant) ([]*row, error) {
	rows, err := s.Store.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: Kind})
	if err != nil {
		return nil, err
	}
	out := make([]*row, len(rows))
	for i, r := range rows {
		if out[i], err = decode(tenant, r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// List returns the schedules that the caller may see, in the order of their names.
func (s *Schedules) List(ctx context.Context, q wire.ScheduleQuery) ([]wire.Schedule, error) {
	list := []wire.Schedule{}
	for after := q.After; ; {
		rows, err := s.Store.Rows(ctx, store.RowQuery{Tenant: q.Tenant, Kind: Kind, After: after, Limit: q.Limit})
		if err != nil {
			return nil, err
		}
		for _, from := range rows {
			after = from.Key
			r, err := decode(q.Tenant, from)
			if err != nil {
				return nil, err
			}
			if !r.seenBy(ctx) {
				continue
			}
			if list = append(list, r.shown()); len(list) == q.Limit {
				return list, nil
			}
		}
		if q.Limit == 0 || len(rows) < q.Limit {
			return list, nil
		}
	}
}

// Get returns a schedule, or a [spool.NotFound] error.
func (s *Schedules) Get(ctx context.Context, tenant spool.Tenant, name string) (wire.Schedule, error) {
	r, err := s.visible(ctx, tenant, name)
	if err != nil {
		return wire.Schedule{}, err
	}
	return r.shown(), nil
}

// Ticks returns the last lines of the history of a schedule, the last one first. Zero: all that are kept.
func (s *Schedules) Ticks(ctx context.Context, tenant spool.Tenant, name string, limit int) ([]wire.ScheduleTick, error) {
	r, err := s.visible(ctx, tenant, name)
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.Rows(ctx, store.RowQuery{
		Tenant: tenant, Kind: kindTick, After: name + "/", Limit: int(min(keptLines, r.Lines)) + 1,
	})
	if err != nil {
		return nil, err
	}
	list := make([]wire.ScheduleTick, 0, len(rows))
	for _, from := range rows {
		var t wire.ScheduleTick
		if err := json.Unmarshal(from.Value, &t); err != nil {
			return nil, spool.Wrap(spool.Internal, "read the history of a schedule", err)
		}
		if from.Key == tickKey(name, t.Seq) { // the row behind the last one may be of another schedule
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b wire.ScheduleTick) int { return int(b.Seq - a.Seq) })
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil
}

// visible returns a schedule that the caller may see, or errNotFound.
func (s *Schedules) visible(ctx context.Context, tenant spool.Tenant, name string) (*row, error) {
	r, err := s.find(ctx, tenant, name)
	if err == nil && !r.seenBy(ctx) {
		return nil, errNotFound
	}
	return r, err
}

// seenBy reports whether the actor of ctx may see the schedule: one that sees only its own threads sees only its own
// schedules.
func (r *row) seenBy(ctx context.Context) bool {
	a := actor.Of(ctx)
	return !a.OwnOnly || a.Subject != "" && a.Subject == r.Maker.Subject
}

// shown returns what clients see.
func (r *row) shown() wire.Schedule {
	s := wire.Schedule{
		Name: r.name, ScheduleRule: r.Rule, ScheduleStart: r.Start, SchedulePolicy: r.Policy, InWords: inWords(r.Rule),
		Paused: r.paused(), PausedReason: r.PausedReason, PausedAt: r.PausedAt, FromFile: r.Hash != "",
		MadeBy: r.Maker.Subject, CreatedAt: r.CreatedAt, EndsAt: r.Maker.Until, NextAt: r.Due, LastDueAt: r.LastDueAt,
		Last: r.Last,
	}
	rule, err := r.schedule()
	for due := r.Due; !due.IsZero() && len(s.Next) < shownNext; due = after(rule, due) {
		s.Next = append(s.Next, due)
		if err != nil { // this process may not know the zone
			break
		}
	}
	return s
}
