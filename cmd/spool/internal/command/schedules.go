package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// holders knows the principals of tokens by their credentials. An [access.TokenList] is one.
type holders interface {
	Holder(ctx context.Context, credentials string) (access.Principal, bool)
}

// plan says which runs start by themselves, and looks up at each tick what the maker of a schedule may do. The server
// is configured before.
func (s *setup) plan(c *config.Config) {
	o := option.Schedules{Max: c.Schedules.Max, MaxRuns: c.Schedules.MaxRuns, MaxScopes: c.Schedules.MaxScopes}
	for _, e := range c.Schedules.Entries {
		o.Schedules = append(o.Schedules, e.Schedule)
	}
	s.server.ScheduleAge = c.Schedules.MaxAge
	r := rights{ownThreads: c.OwnThreads, open: s.server.Loopback}
	if s.token == "" { // a token that was made for this process says nothing about those of other processes
		r.tokens, _ = s.server.Authenticator.(holders)
	}
	o.MayStart = r.of
	s.engine.Schedules = o
}

// rights looks up what the makers of schedules may do.
type rights struct {
	// tokens is nil in a process without tokens.
	tokens holders
	// ownThreads is the option auth.threads of the configuration.
	ownThreads bool
	// open says that requests need no token, so that everybody may do everything.
	open bool
}

// of is the [option.Schedules.MayStart] of the process.
func (r rights) of(ctx context.Context, m wire.ScheduleMaker) (wire.ScheduleRights, error) {
	switch {
	case m.Kind == wire.MakerPrincipal && r.open && m.Credentials == "" && m.Tenant == spool.DefaultTenant:
		return m.ScheduleRights, nil
	case m.Kind == wire.MakerPrincipal:
		return wire.ScheduleRights{}, spool.Errorf(spool.Forbidden,
			"the server could not look up later what the maker of the schedule may do: the configuration has no schedules.max_scopes")
	case r.tokens == nil:
		return wire.ScheduleRights{}, spool.Errorf(spool.Unavailable, "this process has no tokens, and cannot look up the maker's")
	}
	p, ok := r.tokens.Holder(ctx, m.Credentials)
	if !ok || p.Tenant != m.Tenant || !p.May(access.ScopeWrite) {
		return wire.ScheduleRights{}, spool.Errorf(spool.Forbidden, "the token of the maker is not valid any more, or may not start runs")
	}
	return wire.ScheduleRights{
		Scopes:     p.ScopeNames(),
		OwnOnly:    m.OwnOnly || r.ownThreads && !p.AllThreads && !p.May(access.ScopeAdmin),
		MayNotStop: m.MayNotStop || !p.May(access.ScopeStop),
	}, nil
}

// writeSchedules writes the next due times of each schedule of the configuration.
func writeSchedules(b *strings.Builder, list []option.Schedule, now time.Time) {
	for i, s := range list {
		name := "schedules"
		if i > 0 {
			name = ""
		}
		p, err := engine.PreviewSchedule(s.ScheduleRule, now)
		if err != nil { // the configuration was checked
			continue
		}
		zone, err := time.LoadLocation(s.Zone) // UTC without one
		if err != nil {
			zone = time.UTC
		}
		next := make([]string, len(p.Next))
		for i, due := range p.Next {
			next[i] = due.In(zone).Format("Mon 2006-01-02 15:04 MST")
		}
		of := s.Name
		if s.Tenant != spool.DefaultTenant {
			of = string(s.Tenant) + "/" + s.Name
		}
		fmt.Fprintf(b, "%-9s %s: %s: %s\n", name, of, p.InWords, strings.Join(next, ", "))
	}
}
