package schedule

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// notInFile is why a schedule is paused that the configuration had.
const notInFile = "It is not in the configuration any more"

// CheckFile checks the schedules of the configuration, with check for what they start. It returns an [spool.Invalid]
// error that names the schedule.
func (s *Schedules) CheckFile(ctx context.Context) error {
	names := make(map[spool.ThreadKey]bool)
	for _, o := range s.Options.Schedules {
		err := s.checkFile(ctx, o, names)
		if err != nil {
			return spool.Errorf(spool.Invalid, "Config.Schedules: the schedule %q: %s", o.Name, spool.MessageOf(err))
		}
	}
	return nil
}

func (s *Schedules) checkFile(ctx context.Context, o option.Schedule, names map[spool.ThreadKey]bool) error {
	if err := spool.CheckID("name", o.Name); err != nil {
		return err
	}
	r := fileRow(o)
	id := spool.ThreadKey{Tenant: r.tenant, ID: spool.ThreadID(r.name)}
	if names[id] {
		return spool.Errorf(spool.Invalid, "there are two of this name")
	}
	names[id] = true
	return s.check(ctx, r, time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)) // any time will do
}

// fileRow returns the row of a schedule of the configuration, without its times.
func fileRow(o option.Schedule) *row {
	tenant := cmp.Or(o.Tenant, spool.DefaultTenant)
	r := &row{tenant: tenant, name: o.Name}
	r.definition = definition{
		Rule: o.ScheduleRule, Start: o.ScheduleStart, Policy: o.SchedulePolicy, HostState: o.HostState,
	}
	r.Maker = wire.Maker{
		Tenant: tenant, Subject: o.Subject, Kind: wire.MakerFile, Rights: o.Rights,
	}
	sum := sha256.Sum256(encode(r.state))
	r.Hash = hex.EncodeToString(sum[:16])
	return r
}

// fileTenants is the value of the installation's row that lists the tenants with schedules of the configuration.
type fileTenants struct {
	Tenants []spool.Tenant `json:"tenants"`
}

// Sync writes the schedules of the configuration that are new or have another definition, and pauses those that the
// configuration does not have any more.
func (s *Schedules) Sync(ctx context.Context) error {
	byTenant := make(map[spool.Tenant]map[string]*row)
	for _, o := range s.Options.Schedules {
		r := fileRow(o)
		if byTenant[r.tenant] == nil {
			byTenant[r.tenant] = make(map[string]*row)
		}
		byTenant[r.tenant][r.name] = r
	}
	var tenants []spool.Tenant
	err := again(func() (err error) {
		tenants, err = s.listTenants(ctx, byTenant)
		return err
	})
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		if err := again(func() error { return s.syncTenant(ctx, tenant, byTenant[tenant]) }); err != nil {
			return err
		}
	}
	return nil
}

// listTenants returns the tenants that have or had schedules of the configuration, and adds the new ones to the list.
func (s *Schedules) listTenants(
	ctx context.Context, now map[spool.Tenant]map[string]*row,
) ([]spool.Tenant, error) {
	rows, err := s.Store.Rows(ctx, store.RowQuery{Kind: kindFile, Key: "tenants", Limit: 1})
	if err != nil {
		return nil, err
	}
	var have fileTenants
	next := store.Row{Kind: kindFile, Key: "tenants"}
	if len(rows) > 0 {
		next.Version = rows[0].Version
		if err := json.Unmarshal(rows[0].Value, &have); err != nil {
			return nil, spool.Wrap(spool.Internal, "read the tenants with schedules", err)
		}
	}
	before := len(have.Tenants)
	for tenant := range now {
		if !slices.Contains(have.Tenants, tenant) {
			have.Tenants = append(have.Tenants, tenant)
		}
	}
	slices.Sort(have.Tenants)
	if len(have.Tenants) == before {
		return have.Tenants, nil
	}
	next.Value = encode(have)
	return have.Tenants, s.Store.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Rows: []store.Row{next}})
	})
}

// syncTenant makes the rows of a tenant those of the configuration.
func (s *Schedules) syncTenant(ctx context.Context, tenant spool.Tenant, want map[string]*row) error {
	have, err := s.all(ctx, tenant)
	if err != nil {
		return err
	}
	now, err := s.now(ctx, tenant)
	if err != nil {
		return err
	}
	found := make(map[string]*row)
	for _, r := range have {
		found[r.name] = r
		if r.Hash == "" || want[r.name] != nil || r.paused() {
			continue
		}
		c := &change{was: r, next: r.clone()}
		c.next.pause(now, notInFile)
		if err := s.write(ctx, c); err != nil {
			return err
		}
	}
	for name, w := range want {
		if err := s.syncOne(ctx, found[name], w, now); err != nil {
			return err
		}
	}
	return nil
}

// syncOne writes a schedule of the configuration unless the store has it.
func (s *Schedules) syncOne(ctx context.Context, was, want *row, now time.Time) error {
	switch {
	case was != nil && was.Hash == "":
		s.Log.ErrorContext(ctx, "a schedule of the configuration has the name of another one, which stays",
			"tenant", want.tenant, "schedule", want.name)
		return nil
	case was != nil && was.Hash == want.Hash && was.PausedReason != notInFile:
		return nil
	}
	next := want
	if was != nil {
		next = was.clone()
		next.definition, next.Maker, next.Hash = want.definition, want.Maker, want.Hash
	} else {
		next.Born, next.CreatedAt = s.Random.ID("sch"), now.UTC()
	}
	if was != nil && next.Rule.From.IsZero() && sameStep(was.Rule, next.Rule) {
		next.Rule.From = was.Rule.From
	}
	if err := next.fill(now); err != nil {
		return err
	}
	switch {
	case was != nil && was.paused() && was.PausedReason != notInFile:
	case was != nil && sameRule(was.Rule, next.Rule) && !was.paused():
		next.setDue(next.Due)
	default:
		if err := next.begin(now); err != nil {
			return err
		}
	}
	return s.write(ctx, &change{was: was, next: next})
}

// sameStep reports whether two rules are of every, with the same duration.
func sameStep(a, b wire.ScheduleRule) bool {
	return a.Every != "" && known(a.Every, 0) == known(b.Every, 0)
}
