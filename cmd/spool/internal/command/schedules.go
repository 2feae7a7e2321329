package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
)

// plan says which runs start by themselves, and looks up at each tick what the maker of a schedule may do. The server
// is configured before.
func (s *setup) plan(c *config.Config) {
	o := option.Schedules{
		Max: c.Schedules.Max, MaxRuns: c.Schedules.MaxRuns, MaxScopes: c.Schedules.MaxScopes,
		MaxAge: c.Schedules.MaxAge, MayStart: s.rights(c).mayStart,
	}
	for _, e := range c.Schedules.Entries {
		o.Schedules = append(o.Schedules, e.Schedule)
	}
	s.engine.Schedules = o
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
