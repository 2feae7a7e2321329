package cron

import (
	"time"
	_ "time/tzdata" // a machine or an image may have no time zones, and a schedule must not depend on that

	"github.com/spoolhq/spool"
)

// maxZoneLen is more than the longest name of the database has.
const maxZoneLen = 64

// Zone returns the time zone of a name of the IANA database, and an [spool.Invalid] error for everything else. It
// refuses "Local", which is another zone on each machine.
func Zone(name string) (*time.Location, error) {
	const use = `use one of the IANA database, such as "Europe/Berlin" or "UTC"`
	switch {
	case name == "":
		return nil, spool.Errorf(spool.Invalid, "zone is required: %s", use)
	case len(name) > maxZoneLen:
		return nil, spool.Errorf(spool.Invalid, "zone is longer than %d characters", maxZoneLen)
	case name == "Local":
		return nil, spool.Errorf(spool.Invalid, "zone: %q depends on the machine: %s", name, use)
	}
	// Each name of the database begins with a capital letter. Directories of systems have more files, such as
	// "right/Europe/Berlin", whose clock is half a minute off.
	zone, err := time.LoadLocation(name)
	if err != nil || name[0] < 'A' || name[0] > 'Z' {
		return nil, spool.Errorf(spool.Invalid, "zone: %q is not the name of a time zone: %s", name, use)
	}
	return zone, nil
}

// period is a time in which a zone's offset from UTC does not change.
type period struct {
	start, end     int64 // its first and its last second, since 1970
	offset, before int64 // the offset within it, and the one right before it, in seconds east of UTC
}

// periodAt returns the period of a zone that contains a second. If the zone's rule is one for each year, a period also
// ends with the year.
func periodAt(zone *time.Location, at int64) period {
	t := time.Unix(at, 0).In(zone)
	p := period{start: earliest, end: latest, offset: offset(t)}
	p.before = p.offset
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		// Behind the last change that the database lists, ZoneBounds follows the rule of the later years, and may return
		// a start before that change.
		for offset(start) != p.offset && start.Before(t) {
			_, start = start.ZoneBounds()
		}
		p.start, p.before = start.Unix(), offset(start.Add(-time.Second))
	}
	if !end.IsZero() {
		p.end = end.Unix() - 1
	}
	if p.end < at {
		// On the last day of a leap year, ZoneBounds may return the beginning of this day (golang.org/issue/81583).
		p.end = time.Date(t.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix() - 1
	}
	return p
}

func offset(t time.Time) int64 {
	_, seconds := t.Zone()
	return int64(seconds)
}
