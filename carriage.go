package spool

import "time"

// Carriage is how workers have carried a dispatched run. A nested run has none of its own.
type Carriage struct {
	// Carried is how long workers have carried the run, without the worker that does so now.
	Carried time.Duration
	// Since is when the worker that carries the run took it. Zero: none does.
	Since time.Time
	// Alone is true when the latest segment was the only one of its worker that was suspected to
	// kill it, because several workers had died in the run's step.
	Alone bool
	// AloneDeaths counts the segments since the last finished step whose worker died while the
	// run was alone. Run.Deaths counts the others.
	AloneDeaths int
}

// Until returns how long workers have carried the run at a time.
func (c Carriage) Until(now time.Time) time.Duration {
	if c.Since.IsZero() {
		return c.Carried
	}
	return c.Carried + max(0, now.Sub(c.Since))
}

// TimeLimitReached is the payload of [EntryTimeLimitReached].
type TimeLimitReached struct {
	// WallTimeMS is how long workers have carried the run, in milliseconds.
	WallTimeMS      int64 `json:"wallTimeMs"`
	WallTimeLimitMS int64 `json:"wallTimeLimitMs"`
}

// StorageLimitReached is the payload of [EntryStorageLimitReached].
type StorageLimitReached struct {
	// BytesLimit is how many bytes the tenant may store.
	BytesLimit int64 `json:"bytesLimit"`
}
