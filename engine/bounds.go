package engine

import (
	"cmp"

	"github.com/spoolhq/spool"
)

const (
	defaultMaxAnswer = 4 << 20
	defaultMaxStep   = 8 << 20
)

// checkBounds returns the configuration with how large an answer and a step may be.
func (c Config) checkBounds() (Config, error) {
	if c.MaxStepBytes < 0 {
		return c, spool.Errorf(spool.Invalid, "Config.MaxStepBytes is negative")
	}
	c.MaxAnswerBytes = cmp.Or(c.MaxAnswerBytes, min(defaultMaxAnswer, cmp.Or(c.MaxStepBytes, defaultMaxAnswer)))
	c.MaxStepBytes = cmp.Or(c.MaxStepBytes, max(defaultMaxStep, c.MaxAnswerBytes))
	switch {
	case c.MaxAnswerBytes < 0:
		return c, spool.Errorf(spool.Invalid, "Config.MaxAnswerBytes is negative")
	case c.MaxStepBytes < c.MaxAnswerBytes:
		return c, spool.Errorf(spool.Invalid, "Config.MaxStepBytes is less than MaxAnswerBytes")
	}
	return c, nil
}
