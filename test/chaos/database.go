//go:build unix

package main

import (
	"context"
	"errors"
	"net/url"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool/internal/testing/testserver"
)

// database is a PostgreSQL that waits for the disk, with a database for Spool and one for the effects of tools.
type database struct{ server *testserver.Kept }

func startDatabase(ctx context.Context) (*database, error) {
	server, err := testserver.KeepPostgres(ctx, "spool-chaos-postgres-*", testserver.Cluster{})
	if err != nil {
		return nil, err
	}
	d := &database{server}
	if err := d.create(ctx); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

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
	u, err := url.Parse(d.server.Address())
	if err != nil {
		return d.server.Address()
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
	return d.server.Again(ctx)
}

// close ends the server and removes its files.
func (d *database) close() { d.server.Close() }
