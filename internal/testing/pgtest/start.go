package pgtest

import (
	"context"
	"testing"
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
	var server *Server
	var absent string
	err := outside("a PostgreSQL", func(ctx context.Context) (err error) {
		server, absent, err = launch(ctx, o)
		return err
	})
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
	if err := outside("PostgreSQL to recover", s.running.again); err != nil {
		tb.Fatal(err)
	}
}
