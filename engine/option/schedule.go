package option

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// ErrNoLookup is in the chain of a [spool.Forbidden] error about a maker that nobody could look up later. Schedules and
// endpoints cannot be made then. A delayed start keeps its rights until the maker's Until.
var ErrNoLookup = errors.New("nobody can look up the right of the maker")

// Schedules say which runs start by themselves, and who may make schedules.
type Schedules struct {
	// Schedules are those of the configuration. Defaults to none.
	Schedules []Schedule
	// Max bounds the schedules of a tenant that are not of the configuration. One subject may make all of them. Defaults
	// to 100.
	Max int
	// MaxRuns bounds how many runs of the schedules of one maker are active at once. Defaults to 10.
	MaxRuns int
	// MaxScopes bounds the scopes of schedules whose maker is of the kind [wire.MakerPrincipal], and of delayed starts
	// that come due when the credentials of such a maker have ended. Such a maker needs an Until, or MaxAge. Nil: MayStart
	// decides about these makers.
	MaxScopes []string
	// MaxAge is how long such a schedule runs after it was made or changed, and how far ahead such a start may be.
	// Defaults to the Until of the maker.
	MaxAge time.Duration
	// MayStart returns what the maker of a schedule or of a delayed start may do now. It is called when either is made, at
	// each tick, and when the start comes due, but not for makers of the kinds [wire.MakerFile] and [wire.MakerSession].
	// A [spool.Forbidden] error says that the right has ended: it pauses the schedule, and refuses the start. With
	// [ErrNoLookup] in its chain, it says so only of what is made. After any other error the tick or the start comes again
	// later. Nil: such schedules cannot be made, and what was made by another process waits for one that has a MayStart.
	// Delayed starts can be made: see [wire.StartRequest.Maker].
	MayStart func(ctx context.Context, maker wire.Maker) (wire.Rights, error)
}

// Schedule is a schedule of the configuration.
type Schedule struct {
	// ScheduleRequest has the definition, and its HostState. Its Paused is not used: an operator pauses it.
	wire.ScheduleRequest

	// Tenant is the tenant of its runs. Defaults to [spool.DefaultTenant].
	Tenant spool.Tenant
	// Subject is the subject that starts its runs. Empty: not known.
	Subject string
	// Rights are what its runs may do.
	wire.Rights
}

func (o *Schedules) fill() error {
	return cmp.Or(or("Schedules.Max", &o.Max, 100), or("Schedules.MaxRuns", &o.MaxRuns, 10))
}
