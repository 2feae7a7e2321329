//go:build unix

package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/spoolhq/spool/internal/testserver"
)

// keeper runs functions on a thread that lives as long as the process. The kernel ends a child together with the
// thread that has started it, so that nothing is left of a campaign that is killed.
var keeper = sync.OnceValue(func() chan<- func() {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for call := range calls {
			call()
		}
	}()
	return calls
})

// kept runs a function on the thread of the keeper.
func kept(call func()) {
	done := make(chan struct{})
	keeper() <- func() {
		defer close(done)
		call()
	}
	<-done
}

// database is a PostgreSQL that waits for the disk, with a database for Spool and one for the effects of tools.
type database struct {
	dir    string
	server *testserver.Server
}

func startDatabase(ctx context.Context) (*database, error) {
	binary := testserver.FindPostgres(testserver.Path(os.Getenv("PATH")), testserver.PostgresVersions)
	if binary == "" {
		return nil, errNoPostgres
	}
	account, err := testserver.Unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := testserver.Directory("", "spool-chaos-postgres-*", account)
	if err != nil {
		return nil, err
	}
	d := &database{dir: dir}
	in := testserver.Site{Dir: dir, Account: account}
	kept(func() { d.server, err = testserver.Launch(ctx, testserver.Postgres(binary, in), in) })
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	if err := d.create(ctx); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

var errNoPostgres = errors.New("no postgres (apt-get install postgresql)")

// create makes the databases.
func (d *database) create(ctx context.Context) error {
	for _, step := range []struct{ database, sql string }{
		{"postgres", "CREATE DATABASE spool"}, {"postgres", "CREATE DATABASE effects"}, {"effects", effectsSchema},
	} {
		conn, err := pgx.Connect(ctx, d.url(step.database))
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, step.sql)
		if err := errors.Join(err, conn.Close(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// url returns the address of a database.
func (d *database) url(name string) string {
	u, err := url.Parse(d.server.Address)
	if err != nil {
		return d.server.Address
	}
	u.Path = "/" + name
	return u.String()
}

// restart ends the server, at once as in a crash or with its connections cut, and starts it again.
func (d *database) restart(ctx context.Context, crash bool) error {
	signal := syscall.SIGINT
	if crash {
		signal = syscall.SIGQUIT
	}
	d.server.StopWith(signal)
	var err error
	kept(func() {
		server, failed := d.server.Again(ctx)
		if err = failed; err == nil {
			d.server = server
		}
	})
	return err
}

// close ends the server and removes its files.
func (d *database) close() {
	d.server.Stop()
	_ = os.RemoveAll(d.dir)
}
