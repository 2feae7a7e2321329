package spool

import (
	"time"
)

// ExpiryAction says what happens to a park that nobody answers in time.
type ExpiryAction string

// The expiry actions.
const (
	// ExpireDeny continues without the call. The model reads that nobody answered, which is not the same as a
	// denial.
	ExpireDeny ExpiryAction = "deny"
	// ExpireFail fails the run.
	ExpireFail ExpiryAction = "fail"
	// ExpireExtend gives the park the same time again, up to [Expiry.Extensions] times, and then denies.
	ExpireExtend ExpiryAction = "extend"
)

// Expiry says how long the calls of a tool wait for an answer, and what happens without one. The zero value
// works.
type Expiry struct {
	// Then is what happens to a park that nobody answers in time. Defaults to [ExpireDeny].
	Then ExpiryAction `json:"then,omitempty"`
	// TTL is the time to answer, unless the tool's [ParkRequest] sets it. Defaults to the engine's ParkTTL.
	TTL time.Duration `json:"ttl,omitempty"`
	// Warn is how long before the end of its time the record warns of an open park. Negative, or no less than
	// the whole time: never. Defaults to a fifth of the time, and to 1 h if that is less.
	Warn time.Duration `json:"warn,omitempty"`
	// Extensions is how many times [ExpireExtend] extends the time. Defaults to 10.
	Extensions int `json:"extensions,omitempty"`
}

const (
	defaultExtensions = 10
	// maxDefaultWarn bounds the default of Expiry.Warn: a warning days before the end is soon forgotten.
	maxDefaultWarn = time.Hour
)

// Or returns the expiry with its defaults filled in, for a park that waits for ttl.
func (x Expiry) Or(ttl time.Duration) Expiry {
	x.TTL = ttl
	if x.Then == "" {
		x.Then = ExpireDeny
	}
	if x.Warn == 0 {
		x.Warn = min(ttl/5, maxDefaultWarn)
	}
	switch {
	case x.Then != ExpireExtend:
		x.Extensions = 0
	case x.Extensions == 0:
		x.Extensions = defaultExtensions
	}
	return x
}

// Check returns an [Invalid] error for an invalid expiry.
func (x Expiry) Check() error {
	switch {
	case x.Then != "" && x.Then != ExpireDeny && x.Then != ExpireFail && x.Then != ExpireExtend:
		return Errorf(Invalid, "Expiry.Then is %q, not deny, fail or extend", x.Then)
	case x.TTL < 0:
		return Errorf(Invalid, "Expiry.TTL is negative")
	case x.Extensions < 0:
		return Errorf(Invalid, "Expiry.Extensions is negative")
	default:
		return nil
	}
}
