// Package pgtest gives tests a PostgreSQL: databases of their own on a server that they share, servers of
// their own that they may stop, a PgBouncer, and a proxy that cuts connections.
//
// The shared server is that of SPOOL_TEST_POSTGRES, which test/services/run.sh starts for a run of all tests.
// Without the variable, each test process starts one when its first test asks. A test is skipped if PostgreSQL
// is not installed, and fails instead if SPOOL_TEST_REQUIRE is 1.
package pgtest

import (
	"context"
	"net/url"
	"os"
	"sync"
	"testing"
)

// Template is what databases of a server begin with. A test package has it in a variable, as each server of the
// process prepares it only once. Tests that use it one after another get the same few databases: a copy costs
// several times what it takes to empty one.
type Template struct {
	// Prepare fills a new empty database. It must close its connections.
	Prepare func(ctx context.Context, url string) error
}

// shared is the server of the process.
var shared struct {
	sync.Mutex
	server   *Server
	absent   string
	ready    bool
	bouncers map[int]*process // by their pool
}

// Run runs the tests of a package, and then stops what the process has started and removes the templates that
// it has made. A package that calls [Shared] or [Database] has
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }
func Run(m *testing.M) int {
	startOutsiders()
	shared.Lock()
	shared.ready = true
	shared.Unlock()
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	for _, running := range shared.bouncers {
		running.close()
	}
	if shared.server != nil {
		shared.server.close()
	}
	return code
}

// Database returns the URL of a database of the shared server: see [Server.Database].
func Database(tb testing.TB, template *Template) string {
	tb.Helper()
	return Shared(tb).Database(tb, template)
}

// Shared returns the server of the test process. It keeps nothing on the disk, so it does for tests that prove
// nothing about durability or speed.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if !shared.ready {
		tb.Fatal("the package needs a TestMain that calls pgtest.Run")
	}
	if shared.server == nil && shared.absent == "" {
		if address := os.Getenv("SPOOL_TEST_POSTGRES"); address != "" {
			shared.server = &Server{url: address}
		} else {
			err := outside("a PostgreSQL", func(ctx context.Context) (err error) {
				shared.server, shared.absent, err = launch(ctx, Options{NoSync: true})
				return err
			})
			if err != nil {
				tb.Fatal(err)
			}
		}
	}
	if shared.server == nil {
		skip(tb, shared.absent)
	}
	return shared.server
}

// skip ends the test because something is not installed.
func skip(tb testing.TB, absent string) {
	tb.Helper()
	if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
		tb.Fatalf("SPOOL_TEST_REQUIRE is 1, and there is %s", absent)
	}
	tb.Skipf("skipped: %s", absent)
}

// Server is a running PostgreSQL.
type Server struct {
	url string
	// running is nil for a server that somebody else has started.
	running *process

	preparing sync.Mutex // held while a template is prepared
	mu        sync.Mutex
	templates map[*Template]*prepared
}

// URL returns the address of the database "postgres", with a superuser.
func (s *Server) URL() string { return s.url }

// Database returns the URL of a database that the test has for itself. Without a template it is new and empty, and
// the end of the test drops it. Otherwise it is new, or was used by a test before and is like a new one: the
// connections to it were ended, and it has another name, the template's rows and definitions, and no statistics.
func (s *Server) Database(tb testing.TB, template *Template) string {
	tb.Helper()
	var name string
	err := outside("a database", func(ctx context.Context) (err error) {
		if template == nil {
			name, err = s.create(ctx, "template1")
		} else {
			name, err = s.take(ctx, template)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		err := outside("the end of a database", func(ctx context.Context) error {
			if template == nil {
				s.drop(ctx, name)
				return nil
			}
			return s.giveBack(ctx, template, name)
		})
		if err != nil {
			tb.Logf("the database %s is not used again: %v", name, err)
		}
	})
	return s.at(name)
}

// close stops the server, or removes what this process has left on one that goes on.
func (s *Server) close() {
	if s.running != nil {
		s.running.close()
		return
	}
	for _, p := range s.templates {
		for _, name := range append(p.clean, p.name) {
			s.drop(context.Background(), name)
		}
	}
}

// with returns an address with a change.
func with(address string, change func(*url.URL)) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	change(u)
	return u.String()
}
