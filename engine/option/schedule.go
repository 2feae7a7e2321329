package option

import (
	"cmp"
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Schedules say which runs start by themselves, and who may make schedules.
type Schedules struct {
	// Schedules are those of the configuration. Defaults to none.
	Schedules []Schedule
	// Max bounds the schedules of a tenant that are not of the configuration. Defaults to 100.
	Max int
	// MaxRuns bounds how many runs of the schedules of one maker are active at once. Defaults to 10.
	MaxRuns int
	// MaxScopes bounds the scopes of schedules whose maker is of the kind [wire.MakerPrincipal]. Such a maker needs an
	// Until. Nil: MayStart decides about these makers.
	MaxScopes []string
	// MayStart returns what the maker of a schedule may do now. It is called when the schedule is made and at each tick, but
	// not for makers of the kind [wire.MakerFile]. A [spool.Forbidden] error says that the right has ended, and pauses the
	// schedule. After any other error the tick comes again later. Nil: such schedules cannot be made, and their
	// ticks wait for a process that has one.
	MayStart func(ctx context.Context, maker wire.ScheduleMaker) (wire.ScheduleRights, error)
}

// Schedule is a schedule of the configuration.
type Schedule struct {
	// ScheduleRequest has the definition, and its HostState. Its Paused is not used: an operator pauses it.
	wire.ScheduleRequest

	// Tenant is the tenant of its runs. Defaults to [spool.DefaultTenant].
	Tenant spool.Tenant
	// Subject is the subject that starts its runs. Empty: not known.
	Subject string
	// ScheduleRights are what its runs may do.
	wire.ScheduleRights
}

func (o *Schedules) fill() error {
	return cmp.Or(or("Schedules.Max", &o.Max, 100), or("Schedules.MaxRuns", &o.MaxRuns, 10))
}
