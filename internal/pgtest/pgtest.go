// Package pgtest gives tests a PostgreSQL: databases of their own on a server that they share, servers of
// their own that they may stop, a PgBouncer, and a proxy that cuts connections.
//
// The shared server is that of SPOOL_TEST_POSTGRES, which test/services/run.sh starts for a run of all tests.
// Without the variable, each test process starts one when its first test asks. A test is skipped if PostgreSQL
// is not installed, and fails instead if SPOOL_TEST_REQUIRE is 1.
package pgtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool/internal/testwait"
)

// Template is what new databases of a server begin with. A test package has it in a variable, as each server
// of the process prepares it only once.
type Template struct {
	// Prepare fills a new empty database. It must close its connections.
	Prepare func(ctx context.Context, url string) error
}

// shared is the server of the process.
var shared struct {
	sync.Mutex
	server *Server
	absent string
	ready  bool
}

// Run runs the tests of a package, and then stops what the process has started and removes the templates that
// it has made. A package that calls [Shared] or [Database] has
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }
func Run(m *testing.M) int {
	shared.Lock()
	shared.ready = true
	shared.Unlock()
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		shared.server.close()
	}
	return code
}

// Database returns the URL of a new database of the shared server, which the end of the test drops. Nil: it is
// empty.
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
			server, absent, err := launch(tb.Context(), Options{NoSync: true})
			if err != nil {
				tb.Fatal(err)
			}
			shared.server, shared.absent = server, absent
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

	mu        sync.Mutex
	templates map[*Template]string
}

// URL returns the address of the database "postgres", with a superuser.
func (s *Server) URL() string { return s.url }

// Database returns the URL of a new database, which the end of the test drops. Nil: it is empty.
func (s *Server) Database(tb testing.TB, template *Template) string {
	tb.Helper()
	ctx := testwait.Context(tb, "a new database")
	from := "template1"
	if template != nil {
		name, err := s.template(ctx, template)
		if err != nil {
			tb.Fatal(err)
		}
		from = name
	}
	name := "spool_test_" + strings.ToLower(rand.Text())
	if err := s.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+from); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		// A server that the test has stopped for good takes its databases with it.
		_ = s.exec(context.WithoutCancel(tb.Context()), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	})
	return with(s.url, func(u *url.URL) { u.Path = "/" + name })
}

// template returns the name of the database that has what the template prepares.
func (s *Server) template(ctx context.Context, t *Template) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name := s.templates[t]; name != "" {
		return name, nil
	}
	name := "spool_template_" + strings.ToLower(rand.Text())
	if err := s.exec(ctx, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	if s.templates == nil {
		s.templates = make(map[*Template]string)
	}
	if err := t.Prepare(ctx, with(s.url, func(u *url.URL) { u.Path = "/" + name })); err != nil {
		return "", err
	}
	s.templates[t] = name
	return name, nil
}

// exec runs one statement on a connection of its own.
func (s *Server) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	_ = conn.Close(ctx)
	return err
}

// close stops the server, or removes what this process has left on one that goes on.
func (s *Server) close() {
	if s.running != nil {
		s.running.close()
		return
	}
	for _, name := range s.templates {
		_ = s.exec(context.Background(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
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
