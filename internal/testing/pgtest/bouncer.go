package pgtest

import (
	"context"
	"net/url"
	"testing"
)

// Bouncer returns the URL of a database behind a PgBouncer in transaction mode. The PgBouncer has up to pool
// connections to each database, however many clients there are. All tests of the process that ask for the same
// pool before a database of [Shared] have the same PgBouncer.
func Bouncer(tb testing.TB, address string, pool int) string {
	tb.Helper()
	running, absent, err := bouncer(tb, address, pool)
	if err != nil {
		tb.Fatal(err)
	}
	if absent != "" {
		skip(tb, absent)
	}
	return with(address, func(u *url.URL) { u.Host = hostOf(running.address()) })
}

// bouncer returns a PgBouncer before the server of a URL, or says what is absent.
func bouncer(tb testing.TB, address string, pool int) (running *process, absent string, err error) {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	mine := shared.server == nil || hostOf(shared.server.url) != hostOf(address)
	if running = shared.bouncers[pool]; running != nil && !mine {
		return running, "", nil
	}
	err = outside("a PgBouncer", func(ctx context.Context) (err error) {
		running, absent, err = bounce(ctx, address, pool)
		return err
	})
	switch {
	case err != nil || absent != "":
	case mine:
		tb.Cleanup(running.close)
	default:
		if shared.bouncers == nil {
			shared.bouncers = make(map[int]*process)
		}
		shared.bouncers[pool] = running
	}
	return running, absent, err
}

// hostOf returns the host and port of a URL.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
