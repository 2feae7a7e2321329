// Package option has the groups of settings in the engine's Config. A zero field stands for its default.
package option

import (
	"cmp"
	"time"

	"github.com/spoolhq/spool"
)

// Group is a group of settings.
type Group interface {
	// fill gives each zero field its default. It returns an [spool.Invalid] error that names the wrong
	// field.
	fill() error
}

// Fill gives each zero field of the groups its default. It returns an [spool.Invalid] error that names
// the wrong field.
func Fill(groups ...Group) error {
	for _, g := range groups {
		if err := g.fill(); err != nil {
			return err
		}
	}
	return nil
}

// or gives a zero field its default. It returns an error for a negative field.
func or[T int | int64 | time.Duration](name string, field *T, byDefault T) error {
	*field = cmp.Or(*field, byDefault)
	if *field < 0 {
		return spool.Errorf(spool.Invalid, "Config.%s is negative", name)
	}
	return nil
}
