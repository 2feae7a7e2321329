// Package schedules has the endpoints of the schedules of a tenant, which start runs by themselves.
package schedules

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// Controller has the endpoints. The engine and Auth are required.
type Controller struct {
	Engine *engine.Engine
	Auth   *auth.Auth
}

// NameInput names a schedule.
type NameInput struct {
	// Name is the schedule.
	Name string `example:"nightly-report" maxLength:"128" path:"name" pattern:"^[A-Za-z0-9._:-]+$"`
}

// ListInput asks for a page of schedules.
type ListInput struct {
	Limit int `default:"50" maximum:"1000" minimum:"1" query:"limit"` // The size of a page.
	// After is the name of the last schedule before.
	After string `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"after"`
}

// ScheduleList is the answer to a list of schedules.
type ScheduleList struct {
	// Schedules are the schedules by their names. Fewer than the limit: there are no more.
	Schedules []wire.Schedule `json:"schedules"`
}

// List answers with the schedules of the tenant, those of the configuration included. A caller that sees only its own
// threads sees its own schedules. The parameter after gets the next page.
func (c Controller) List(ctx context.Context, in ListInput) (ScheduleList, error) {
	list, err := c.Engine.Schedules(call.Acting(ctx), wire.ScheduleQuery{
		Tenant: call.By(ctx).Tenant, After: in.After, Limit: in.Limit,
	})
	if list == nil {
		list = []wire.Schedule{}
	}
	return ScheduleList{list}, about(ctx, err)
}

// Create makes a schedule. Its runs start as the caller, with its scopes, which are looked up again at each tick: a
// schedule whose maker may not start runs any more pauses, and says so. It needs the scope write as well. Where nobody
// can look up later what the caller may do, the making is refused.
func (c Controller) Create(ctx context.Context, in wire.ScheduleRequest) (wire.Schedule, error) {
	maker, err := c.maker(ctx)
	if err != nil {
		return wire.Schedule{}, err
	}
	s, err := c.Engine.CreateSchedule(call.Acting(ctx), maker.Tenant, in, maker)
	return s, about(ctx, err)
}

// Get answers with one schedule, its last tick and its next due times.
func (c Controller) Get(ctx context.Context, in NameInput) (wire.Schedule, error) {
	s, err := c.Engine.Schedule(call.Acting(ctx), call.By(ctx).Tenant, in.Name)
	return s, about(ctx, err)
}

// ChangeInput changes a schedule.
type ChangeInput struct {
	NameInput

	Body wire.ScheduleChange
}

// Change changes a schedule. Fields that the body leaves out do not change. Its runs start as the caller from then on,
// so that it needs the scope write as well. A schedule of the configuration cannot be changed.
func (c Controller) Change(ctx context.Context, in ChangeInput) (wire.Schedule, error) {
	maker, err := c.maker(ctx)
	if err != nil {
		return wire.Schedule{}, err
	}
	s, err := c.Engine.ChangeSchedule(call.Acting(ctx), maker.Tenant, in.Name, in.Body, maker)
	return s, about(ctx, err)
}

// Remove removes a schedule and its history. Its runs and their threads stay.
func (c Controller) Remove(ctx context.Context, in NameInput) (rest.NoContent, error) {
	return rest.NoContent{}, about(ctx, c.Engine.RemoveSchedule(call.Acting(ctx), call.By(ctx).Tenant, in.Name))
}

// PauseInput pauses a schedule.
type PauseInput struct {
	NameInput

	Body SchedulePause
}

// SchedulePause says why a schedule is paused.
type SchedulePause struct {
	// Reason is why, for a person, in up to 1000 bytes. Left out: no reason is shown.
	Reason string `example:"The report moves to Mondays" json:"reason,omitempty" maxLength:"1000"`
}

// Pause stops a schedule from coming due until somebody resumes it. A schedule that is paused stays as it is.
func (c Controller) Pause(ctx context.Context, in PauseInput) (wire.Schedule, error) {
	s, err := c.Engine.PauseSchedule(call.Acting(ctx), call.By(ctx).Tenant, in.Name, in.Body.Reason)
	return s, about(ctx, err)
}

// Resume lets a paused schedule come due again. Due times that passed meanwhile do not count as missed.
func (c Controller) Resume(ctx context.Context, in NameInput) (wire.Schedule, error) {
	s, err := c.Engine.ResumeSchedule(call.Acting(ctx), call.By(ctx).Tenant, in.Name)
	return s, about(ctx, err)
}

// RunNow starts a run of a schedule at once, as its maker, and answers with what became of it. It obeys overlap, and
// moves no due time.
func (c Controller) RunNow(ctx context.Context, in NameInput) (wire.ScheduleTick, error) {
	t, err := c.Engine.RunScheduleNow(call.Acting(ctx), call.By(ctx).Tenant, in.Name)
	return t, about(ctx, err)
}

// TicksInput asks for the history of a schedule.
type TicksInput struct {
	NameInput

	Limit int `default:"100" maximum:"100" minimum:"1" query:"limit"` // How many lines.
}

// ScheduleTicks is the history of a schedule.
type ScheduleTicks struct {
	Ticks []wire.ScheduleTick `json:"ticks"` // The lines, the last one first. The last 100 are kept.
}

// Ticks answers with what became of the last due times of a schedule, with the reason of each that started nothing.
func (c Controller) Ticks(ctx context.Context, in TicksInput) (ScheduleTicks, error) {
	list, err := c.Engine.ScheduleTicks(call.Acting(ctx), call.By(ctx).Tenant, in.Name, in.Limit)
	if list == nil {
		list = []wire.ScheduleTick{}
	}
	return ScheduleTicks{list}, about(ctx, err)
}

// Preview answers with the next due times of a rule and with the rule in words, for a form. It makes nothing.
func (c Controller) Preview(ctx context.Context, in wire.ScheduleRule) (wire.SchedulePreview, error) {
	p, err := engine.PreviewSchedule(in, time.Now())
	return p, about(ctx, err)
}

// maker returns the caller as the maker of a schedule, whose runs start as the caller.
func (c Controller) maker(ctx context.Context) (wire.Maker, error) {
	p := call.By(ctx)
	if !p.May(access.ScopeWrite) {
		return wire.Maker{}, access.Lacks(access.ScopeWrite, "a schedule, which starts runs")
	}
	return c.Auth.Maker(ctx), nil
}

// about adds the tenant to an error, for the log.
func about(ctx context.Context, err error) error {
	return call.About(ctx, err, spool.ThreadKey{Tenant: call.By(ctx).Tenant}, "")
}
