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

// Name sets the name of the throttle, which is in the RateLimit headers and in the counter's
// keys. Throttles of one route should have different names. A name has letters, digits, dots,
// dashes and underscores.
func Name(name string) Option {
	return func(s *settings) { s.name = name }
}

// Count sets the counter. Defaults to a new counter in memory, as from [Memory](0).
//
// Throttles with the same counter, name and rate count together.
func Count(counter Counter) Option {
	return func(s *settings) { s.counter = counter }
}

// Quiet removes the RateLimit headers from answers. A refusal still has Retry-After.
func Quiet() Option {
	return func(s *settings) { s.quiet = true }
}

// FaultPolicy says what happens to a request that cannot be counted.
type FaultPolicy uint8

// The values of [OnFault].
const (
	// Refuse answers 503. It is the default: if the counter fails, no request passes the
	// limit.
	Refuse FaultPolicy = iota
	// Allow lets requests pass uncounted. Use it for limits that are for fairness, but not for
	// limits that protect passwords.
	Allow
)

// OnFault sets what happens to a request that cannot be counted. Defaults to [Refuse].
func OnFault(p FaultPolicy) Option {
	return func(s *settings) { s.fault = p }
}

// Report sets the function that is called when [Allow] lets a request pass uncounted, with the
// reason. It is called on the request's goroutine and should be quick. Defaults to a warning
// to [slog.Default].
func Report(report func(ctx context.Context, err error)) Option {
	return func(s *settings) { s.report = report }
}

func (s *settings) check() error {
	if s.name == "" {
		return errors.New("a throttle needs a name")
	}
	if strings.Trim(s.name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") != "" {
		return fmt.Errorf("name %q of a throttle has other characters than letters, digits, dots, dashes and underscores",
			s.name)
	}
	if s.fault > Allow {
		return fmt.Errorf("%s: %d is not a policy for OnFault", s.name, s.fault)
	}
	if s.report == nil {
		s.report = warn
	}
	return nil
}

func warn(ctx context.Context, err error) {
	slog.Default().WarnContext(ctx, "A request was let through uncounted.", "error", err)
}
