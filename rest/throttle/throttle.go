package throttle

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/spoolhq/spool/rest"
)

// PerUser limits the requests of each principal, and of each address if there is no principal.
// Its name defaults to "user".
func PerUser(rate string, options ...Option) rest.Throttle {
	return build("user", rate, userKey, options)
}

// Anonymous limits the requests of each address that have no principal. Requests with a
// principal pass uncounted. Its name defaults to "anonymous".
func Anonymous(rate string, options ...Option) rest.Throttle {
	return build("anonymous", rate, anonymousKey, options)
}

// PerClient limits the requests of each address, with or without a principal. Its name
// defaults to "client".
func PerClient(rate string, options ...Option) rest.Throttle {
	return build("client", rate, clientKey, options)
}

// Scoped is like [PerUser], with the scope as its name: one kind of work such as "search" or
// "upload". It panics if the scope is empty.
func Scoped(scope, rate string, options ...Option) rest.Throttle {
	return build(scope, rate, userKey, options)
}

// Global limits the requests of all callers together. Its name defaults to "global".
func Global(rate string, options ...Option) rest.Throttle {
	return build("global", rate, globalKey, options)
}

// By limits the requests with the same key, such as a tenant or the owner of an object. If the
// function key returns false, the request passes uncounted. The key must not be a secret.
func By(name, rate string, key func(ctx context.Context) (string, bool), options ...Option) rest.Throttle {
	if key == nil {
		panic(fmt.Sprintf("throttle: %q has no function that returns its key", name))
	}
	return build(name, rate, func(ctx context.Context) (caller, bool) {
		id, counted := key(ctx)
		return caller{id: id}, counted
	}, options)
}

// caller is the principal or address whose requests are counted. The kind distinguishes a
// principal's id from an address with the same text.
type caller struct{ kind, id string }

// limiter is a throttle: a key function, a rate and a counter.
type limiter struct {
	settings
	rate   Rate
	prefix string
	key    func(context.Context) (caller, bool)
}

func build(name, text string, key func(context.Context) (caller, bool), options []Option) *limiter {
	l := &limiter{settings: settings{name: name}, key: key}
	rate, err := Parse(text)
	if err != nil {
		panic(fmt.Sprintf("throttle: %s: %v", name, err))
	}
	l.rate = rate
	for _, option := range options {
		option(&l.settings)
	}
	if err := l.check(); err != nil {
		panic(fmt.Sprintf("throttle: %v", err))
	}
	if l.counter == nil {
		l.counter = Memory(0)
	}
	// Neither a name nor a rate has a colon, so two throttles never share a key, whatever the
	// caller's part of the key is.
	l.prefix = l.name + ":" + rate.String() + ":"
	return l
}

// Take implements [rest.Throttle].
func (l *limiter) Take(ctx context.Context) (rest.Verdict, error) {
	from, counted := l.key(ctx)
	if !counted {
		return rest.Verdict{Skipped: true}, nil
	}
	state, err := l.counter.Take(ctx, l.prefix+from.kind+from.id, l.rate)
	if err != nil {
		return l.onFault(ctx, err)
	}
	verdict := rest.Verdict{
		Allowed:    state.Allowed,
		Limit:      l.rate.Limit,
		Remaining:  state.Remaining,
		Window:     l.rate.Window,
		Reset:      state.Reset,
		RetryAfter: state.RetryAfter,
	}
	if !l.quiet {
		verdict.Policy = l.name
	}
	return verdict, nil
}

// Quiet implements [rest.QuietThrottle].
func (l *limiter) Quiet() bool { return l.quiet }

func (l *limiter) onFault(ctx context.Context, err error) (rest.Verdict, error) {
	err = fmt.Errorf("count for throttle %s: %w", l.name, err)
	if l.fault == Refuse {
		return rest.Verdict{}, err
	}
	l.report(ctx, err)
	return rest.Verdict{Skipped: true}, nil
}

func userKey(ctx context.Context) (caller, bool) {
	if id := principalID(ctx); id != "" {
		return caller{"user:", id}, true
	}
	return clientKey(ctx)
}

func anonymousKey(ctx context.Context) (caller, bool) {
	if rest.PrincipalOf(ctx) != nil {
		return caller{}, false
	}
	return clientKey(ctx)
}

func clientKey(ctx context.Context) (caller, bool) {
	return caller{"addr:", network(rest.ClientIP(ctx))}, true
}

func globalKey(context.Context) (caller, bool) { return caller{id: "all"}, true }

// principalID returns the principal's id. It is empty without a principal or for a principal
// without an id; such callers are then told apart by their address.
func principalID(ctx context.Context) string {
	if p := rest.PrincipalOf(ctx); p != nil {
		return p.PrincipalID()
	}
	return ""
}

// network returns the text by which an address is counted: the address itself, or its /64.
func network(a netip.Addr) string {
	a = a.Unmap()
	if !a.Is6() {
		return a.String()
	}
	prefix, err := a.WithZone("").Prefix(64)
	if err != nil {
		return a.String()
	}
	return prefix.Addr().String()
}
