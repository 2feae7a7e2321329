package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/internal/testing/testserver"
)

// postgresEnv names the server of the figures over PostgreSQL. Without it, the command starts one.
const postgresEnv = "SPOOL_TEST_POSTGRES"

// pgConnections is how many connections each side of a comparison has at most.
const pgConnections = 16

// pgServer is the PostgreSQL that is measured.
type pgServer struct {
	url string
	// about is its version and its settings, for the results.
	about string
	// template is the name of a database that has the tables of backend/postgres.
	template string
	// close stops a server that this process has started, and removes its files.
	close func()
}

// postgres returns the server of this run. The first call starts it, unless an address was given.
func (b *bench) postgres() (*pgServer, error) {
	if b.server != nil {
		return b.server, nil
	}
	s, err := newPostgres(b.ctx, b.postgresURL, b.parent)
	if err != nil {
		return nil, err
	}
	b.server = s
	return s, nil
}

// closePostgres ends the server of this run, if there is one.
func (b *bench) closePostgres() {
	if b.server != nil {
		b.server.drop(b.server.template)
		b.server.close()
	}
}

func newPostgres(ctx context.Context, address, parent string) (_ *pgServer, err error) {
	s := &pgServer{url: address, close: func() {}}
	if s.url == "" {
		if s.url, s.close, err = startPostgres(ctx, parent); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				s.close()
			}
		}()
	}
	if s.about, err = s.describe(ctx); err != nil {
		return nil, err
	}
	if s.template, err = s.database(ctx, "template1"); err != nil {
		return nil, err
	}
	db, err := postgres.Open(ctx, s.of(s.template), nil) // creates the tables
	if err != nil {
		return nil, err
	}
	return s, db.Close()
}

// findPostgres returns the path of the server.
func findPostgres() (string, error) {
	binary := testserver.FindPostgres(testserver.Path(os.Getenv("PATH")), testserver.PostgresVersions)
	if binary == "" {
		return "", errors.New("there is no postgres: apt-get install postgresql, or set " + postgresEnv)
	}
	return binary, nil
}

// startPostgres starts a PostgreSQL with its default settings, in a folder of parent and on a free port. It returns
// an address, and what ends the server.
func startPostgres(ctx context.Context, parent string) (address string, stop func(), err error) {
	binary, err := findPostgres()
	if err != nil {
		return "", nil, err
	}
	account, err := testserver.Unprivileged()
	if err != nil {
		return "", nil, err
	}
	dir, err := testserver.Directory(parent, "spool-bench-postgres-", account)
	if err != nil {
		return "", nil, err
	}
	in := testserver.Site{Dir: dir, Account: account}
	var server *testserver.Server
	started, ends, ended := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // the kernel ends the server together with the thread that has started it
		var err error
		server, err = testserver.Launch(ctx, testserver.Postgres(binary, in, testserver.Cluster{}), in)
		started <- err
		if err == nil {
			<-ends
			server.Stop()
		}
		_ = os.RemoveAll(dir)
	}()
	if err := <-started; err != nil {
		return "", nil, err
	}
	return server.Address, func() { close(ends); <-ended }, nil
}

// describe returns the version of the server, and the settings that matter to the figures.
func (s *pgServer) describe(ctx context.Context) (string, error) {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	var version string
	if err := conn.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "", err
	}
	var settings []string
	for _, name := range []string{
		"fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "shared_buffers", "max_wal_size",
		"max_connections",
	} {
		var value string
		if err := conn.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return "", err
		}
		settings = append(settings, name+"="+value)
	}
	return fmt.Sprintf("PostgreSQL %s on the same machine (%s).", version, strings.Join(settings, ", ")), nil
}

// of returns the URL of a database of the server.
func (s *pgServer) of(database string) string {
	u, err := url.Parse(s.url)
	if err != nil {
		return s.url
	}
	u.Path = "/" + database
	return u.String()
}

// database makes a database like another one, and returns its name.
func (s *pgServer) database(ctx context.Context, like string) (string, error) {
	name := "spool_bench_" + strings.ToLower(rand.Text())
	return name, s.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+like)
}

// fresh makes a database with the tables of backend/postgres. It returns its URL, and what removes it.
func (s *pgServer) fresh(ctx context.Context) (address string, remove func(), err error) {
	name, err := s.database(ctx, s.template)
	return s.of(name), func() { s.drop(name) }, err
}

// drop removes a database. A server that is gone takes its databases with it.
func (s *pgServer) drop(name string) {
	_ = s.exec(context.Background(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

func (s *pgServer) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, statement)
	return err
}

// onFresh calls a function with the URL of a new database.
func (b *bench) onFresh(do func(address string) error) error {
	s, err := b.postgres()
	if err != nil {
		return err
	}
	address, remove, err := s.fresh(b.ctx)
	if err != nil {
		return err
	}
	defer remove()
	return do(address)
}

// openPostgres opens a database as one node does.
func openPostgres(ctx context.Context, address string) (*postgres.DB, error) {
	return postgres.Open(ctx, address, &postgres.Options{Pool: pgConnections, NoMigrate: true})
}
