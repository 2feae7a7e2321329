package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Create makes a schedule. It returns an [spool.Invalid] error that names the wrong field, a [spool.Forbidden] one if
// the right of the maker could not be looked up later, and a [spool.Conflict] one if the name is used.
func (s *Schedules) Create(
	ctx context.Context, tenant spool.Tenant, q wire.ScheduleRequest, maker wire.Maker,
) (wire.Schedule, error) {
	if err := spool.CheckID("name", q.Name); err != nil {
		return wire.Schedule{}, err
	}
	now, err := s.now(ctx, tenant)
	if err != nil {
		return wire.Schedule{}, err
	}
	r := &row{tenant: tenant, name: q.Name, state: state{
		definition: definition{
			Rule: q.ScheduleRule, Start: q.ScheduleStart, Policy: q.SchedulePolicy, HostState: q.HostState,
		},
		Maker: maker, Born: s.Random.ID("sch"), CreatedAt: now.UTC(),
	}}
	if err := s.check(ctx, r, now); err != nil {
		return wire.Schedule{}, err
	}
	if err := r.begin(now); err != nil {
		return wire.Schedule{}, err
	}
	if r.Due.IsZero() {
		return wire.Schedule{}, spool.Errorf(spool.Invalid, "at is in the past")
	}
	if q.Paused {
		r.pause(now, "")
	}
	err = again(func() error {
		turn, err := s.takeTurn(ctx, tenant, q.Name)
		if err != nil {
			return err
		}
		return s.write(ctx, &change{next: r, turn: &turn, audit: audit(wire.AuditCreateSchedule, q.Name)})
	})
	return r.shown(), err
}

// check checks a new definition and its maker at a time, and gives it its canonical form.
func (s *Schedules) check(ctx context.Context, r *row, now time.Time) error {
	if err := r.fill(now); err != nil {
		return err
	}
	maker, rights, err := s.Rights.Make(ctx, r.Maker, now)
	if err != nil {
		return err
	}
	r.Maker = maker
	return s.Check(ctx, spool.ThreadKey{Tenant: r.tenant, ID: r.Start.ThreadID}, r.startRequest(rights))
}

// begin sets the first due time after a time.
func (r *row) begin(now time.Time) error {
	rule, err := r.schedule()
	if err != nil {
		return err
	}
	r.PausedAt, r.PausedReason = time.Time{}, ""
	r.setDue(after(rule, now))
	return nil
}

// takeTurn returns the row whose write makes the only new schedule of a tenant since its others were counted. It
// returns a [spool.Conflict] error for a name that is used, and a [spool.Limit] error for a tenant that has as many
// schedules as it may have.
func (s *Schedules) takeTurn(ctx context.Context, tenant spool.Tenant, name string) (store.Row, error) {
	const key = "made"
	turn := store.Row{Kind: kindTurn, Key: key, Value: encode(struct{}{})}
	was, err := s.Store.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: kindTurn, Key: key, Limit: 1})
	if err != nil {
		return turn, err
	}
	if len(was) > 0 {
		turn.Version = was[0].Version
	}
	rows, err := s.all(ctx, tenant) // behind the read of the turn
	if err != nil {
		return turn, err
	}
	made, used := 0, false
	for _, r := range rows {
		used = used || r.name == name
		if r.Hash == "" {
			made++
		}
	}
	switch {
	case made >= s.Options.Max:
		return turn, spool.Errorf(spool.Limit, "The tenant has %d schedules already, and may have no more", made)
	case used:
		return turn, spool.Errorf(spool.Conflict, "There is a schedule with this name")
	}
	return turn, nil
}

// Change changes a schedule, whose maker is then whoever has changed it: nobody makes the runs of somebody else do
// something else. It returns a [spool.Conflict] error for a schedule of the configuration.
func (s *Schedules) Change(
	ctx context.Context, tenant spool.Tenant, name string, q wire.ScheduleChange, maker wire.Maker,
) (wire.Schedule, error) {
	return s.edit(ctx, tenant, name, wire.AuditChangeSchedule, func(r *row, now time.Time) error {
		if r.Hash != "" {
			return errOfFile
		}
		was := r.Rule
		r.apply(q)
		r.Maker = maker
		if err := s.check(ctx, r, now); err != nil {
			return err
		}
		switch {
		case r.paused():
			return nil
		case sameRule(r.Rule, was):
			r.setDue(r.Due) // the tick comes anew: its jitter and its subject may have changed
			return nil
		}
		if err := r.begin(now); err != nil {
			return err
		}
		if r.Due.IsZero() {
			return spool.Errorf(spool.Invalid, "at is in the past")
		}
		return nil
	})
}

var errOfFile = spool.Errorf(spool.Conflict, "The schedule is of the configuration, and is changed there")

func sameRule(a, b wire.ScheduleRule) bool {
	return a.Cron == b.Cron && a.Zone == b.Zone && a.Every == b.Every && a.From.Equal(b.From) && a.At.Equal(b.At)
}

// apply makes the changes that are not nil.
func (d *definition) apply(q wire.ScheduleChange) {
	set(&d.Rule.Zone, q.Zone)
	switch {
	case q.Cron != nil && *q.Cron != "":
		d.Rule = wire.ScheduleRule{Zone: d.Rule.Zone}
	case q.Every != nil && *q.Every != "", q.At != nil && !q.At.IsZero():
		d.Rule = wire.ScheduleRule{}
		set(&d.Rule.Zone, q.Zone)
	}
	set(&d.Rule.Cron, q.Cron)
	set(&d.Rule.Every, q.Every)
	set(&d.Rule.From, q.From)
	set(&d.Rule.At, q.At)
	set(&d.Start.Prompt, q.Prompt)
	set(&d.Start.Agent, q.Agent)
	set(&d.Start.Model, q.Model)
	set(&d.Start.ThreadID, q.ThreadID)
	set(&d.Start.Title, q.Title)
	set(&d.Start.Labels, q.Labels)
	set(&d.Start.TokenBudget, q.TokenBudget)
	set(&d.Start.CostBudgetMicros, q.CostBudgetMicros)
	set(&d.Start.ToolCallBudget, q.ToolCallBudget)
	set(&d.Start.WallTimeMs, q.WallTimeMs)
	set(&d.Policy.Overlap, q.Overlap)
	set(&d.Policy.Missed, q.Missed)
	set(&d.Policy.Jitter, q.Jitter)
	set(&d.Policy.Grace, q.Grace)
}

func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// Remove removes a schedule and its history. It returns a [spool.Conflict] error for one that the configuration has.
func (s *Schedules) Remove(ctx context.Context, tenant spool.Tenant, name string) error {
	return again(func() error {
		r, err := s.visible(ctx, tenant, name)
		switch {
		case err != nil:
			return err
		case r.Hash != "" && r.PausedReason != notInFile:
			return errOfFile
		}
		gone := store.Changes{
			CancelJobs: []string{r.jobKey()}, Rows: []store.Row{{Kind: Kind, Key: name, Version: r.version}},
		}
		for seq := max(1, r.Lines-keptLines+1); seq <= r.Lines; seq++ {
			gone.Rows = append(gone.Rows, store.Row{Kind: kindTick, Key: tickKey(name, seq), Version: store.AnyVersion})
		}
		entry := audit(wire.AuditRemoveSchedule, name)
		err = s.Store.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx store.Tx) error {
			if err := tx.Write(gone); err != nil {
				return err
			}
			return actor.Audit(ctx, tx, tenant, entry)
		})
		if err == nil {
			actor.Log(ctx, s.Log, entry)
		}
		return err
	})
}

// Pause stops a schedule from coming due until it is resumed. A schedule that is paused stays as it is.
func (s *Schedules) Pause(ctx context.Context, tenant spool.Tenant, name, reason string) (wire.Schedule, error) {
	if len(reason) > maxReason {
		return wire.Schedule{}, spool.Errorf(spool.Invalid, "reason is longer than %d bytes", maxReason)
	}
	return s.edit(ctx, tenant, name, wire.AuditPauseSchedule, func(r *row, now time.Time) error {
		if r.paused() {
			return errUnchanged
		}
		r.pause(now, reason)
		return nil
	})
}

// maxReason bounds the reason of a pause, in bytes.
const maxReason = 1000

// Resume lets a paused schedule come due again, from now on: what would have come due in between is not missed.
func (s *Schedules) Resume(ctx context.Context, tenant spool.Tenant, name string) (wire.Schedule, error) {
	return s.edit(ctx, tenant, name, wire.AuditResumeSchedule, func(r *row, now time.Time) error {
		if !r.paused() {
			return errUnchanged
		}
		return r.begin(now)
	})
}

// errUnchanged ends an edit that has nothing to do.
var errUnchanged = errors.New("nothing changes")

// edit changes a schedule that the caller may see, and decides again if somebody else has changed it meanwhile.
func (s *Schedules) edit(
	ctx context.Context, tenant spool.Tenant, name string, action wire.AuditAction, fn func(r *row, now time.Time) error,
) (shown wire.Schedule, err error) {
	err = again(func() error {
		was, err := s.visible(ctx, tenant, name)
		if err != nil {
			return err
		}
		now, err := s.now(ctx, tenant)
		if err != nil {
			return err
		}
		c := &change{was: was, next: was.clone(), audit: audit(action, name)}
		if err = fn(c.next, now); err == nil {
			err = s.write(ctx, c)
		}
		shown = c.next.shown()
		if errors.Is(err, errUnchanged) {
			return nil
		}
		return err
	})
	return shown, err
}

// audit returns the entry about a schedule.
func audit(action wire.AuditAction, name string) *wire.AuditEntry {
	detail, _ := json.Marshal(map[string]string{"schedule": name}) //nolint:errchkjson // strings
	return &wire.AuditEntry{Action: action, Detail: detail}
}

// Now starts what a schedule starts, at once: also if it is paused. It moves no due time.
func (s *Schedules) Now(ctx context.Context, tenant spool.Tenant, name string) (tick wire.ScheduleTick, err error) {
	err = again(func() error {
		was, err := s.visible(ctx, tenant, name)
		if err != nil {
			return err
		}
		now, err := s.now(ctx, tenant)
		if err != nil {
			return err
		}
		c := &change{was: was, next: was.clone(), audit: audit(wire.AuditRunSchedule, name)}
		tick, err = s.attempt(ctx, c, wire.ScheduleTick{At: now.UTC()}, nowID(was.Lines))
		return err
	})
	if later, ok := errors.AsType[*transientError](err); ok {
		return tick, spool.Errorf(spool.Unavailable, "%s", later.reason)
	}
	return tick, err
}
