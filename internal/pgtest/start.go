package pgtest

import (
	"testing"

	"github.com/spoolhq/spool/internal/testwait"
)

// Options are those of a server that a test has for itself.
type Options struct {
	// NoSync turns off waiting for the disk: see [Shared]. Defaults to waiting, as in production.
	NoSync bool
	// Settings are further ones of PostgreSQL, each "name=value".
	Settings []string
}

// Start starts a server for one test, and stops it at the end.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	server, absent, err := launch(testwait.Context(tb, "a PostgreSQL"), o)
	if err != nil {
		tb.Fatal(err)
	}
	if absent != "" {
		skip(tb, absent)
	}
	tb.Cleanup(server.close)
	return server
}

// Stop ends a server of [Start] at once, as a crash does: PostgreSQL recovers when it starts again.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if s.running == nil {
		tb.Fatal("the test shares this server")
	}
	s.running.crash()
}

// Restart starts the server again on the same port, after it has stopped it if it is running.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.Stop(tb)
	if err := s.running.again(testwait.Context(tb, "PostgreSQL to recover")); err != nil {
		tb.Fatal(err)
	}
}

// Bouncer starts a PgBouncer in transaction mode before the server of a database's URL, and returns the URL of
// the database there. Its pool has that many connections to each database, however many clients there are.
func Bouncer(tb testing.TB, address string, pool int) string {
	tb.Helper()
	running, absent, err := bounce(testwait.Context(tb, "a PgBouncer"), address, pool)
	if err != nil {
		tb.Fatal(err)
	}
	if absent != "" {
		skip(tb, absent)
	}
	tb.Cleanup(running.close)
	return running.address()
}
