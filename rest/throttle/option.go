package throttle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Option changes a throttle that is being built.
type Option func(*settings)

type settings struct {
	name    string
	counter Counter
	fault   FaultPolicy
	report  func(context.Context, error)
	quiet   bool
}

// Name names the throttle in the RateLimit headers and in the keys of its counter. Throttles
// that guard one route should have different names. A name has letters, digits, dots, dashes
// and underscores.
func Name(name string) Option {
	return func(s *settings) { s.name = name }
}

// Count sets what counts the requests. Defaults to a counter of its own in memory, as
// [Memory](0) makes it.
//
// Throttles with the same counter, name and rate count together.
func Count(counter Counter) Option {
	return func(s *settings) { s.counter = counter }
}

// Quiet leaves the RateLimit headers of answers out. A refusal still has Retry-After.
func Quiet() Option {
	return func(s *settings) { s.quiet = true }
}

// FaultPolicy is what becomes of a request that cannot be counted.
type FaultPolicy uint8

// The values of [OnFault].
const (
	// Refuse answers 503. It is the default: when the counter is away, nothing gets past the
	// limit that it would have kept.
	Refuse FaultPolicy = iota
	// Allow lets requests pass uncounted. It fits limits that are there for fairness, and not
	// limits that keep passwords from being tried.
	Allow
)

// OnFault says what becomes of a request that cannot be counted. Defaults to [Refuse].
func OnFault(p FaultPolicy) Option {
	return func(s *settings) { s.fault = p }
}

// Report is told why a request could not be counted and was let through because of
// [OnFault]([Allow]). It is called on the request's own goroutine and should be quick.
// Defaults to a warning to [slog.Default].
func Report(report func(ctx context.Context, err error)) Option {
	return func(s *settings) { s.report = report }
}

func (s *settings) check() error {
	if s.name == "" {
		return errors.New("a throttle needs a name")
	}
	if strings.Trim(s.name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") != "" {
		return fmt.Errorf("name %q of a throttle has other characters than letters, digits, dots, dashes and underscores", s.name)
	}
	if s.fault > Allow {
		return fmt.Errorf("%s: there is no fault %d", s.name, s.fault)
	}
	if s.report == nil {
		s.report = warn
	}
	return nil
}

func warn(ctx context.Context, err error) {
	slog.Default().WarnContext(ctx, "A request was let through uncounted.", "error", err)
}
