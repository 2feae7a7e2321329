package pgtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// prepared is what a server has of a template.
type prepared struct {
	// name is the database that new ones are copies of.
	name  string
	state *state
	// clean are databases that a test has used, and that are like new ones.
	clean []string
}

// take returns the name of a database of a template: one that was used before, or a new one.
func (s *Server) take(ctx context.Context, t *Template) (string, error) {
	p, err := s.prepare(ctx, t)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	if last := len(p.clean) - 1; last >= 0 {
		name := p.clean[last]
		p.clean = p.clean[:last]
		s.mu.Unlock()
		return name, nil
	}
	s.mu.Unlock()
	return s.create(ctx, p.name)
}

// prepare makes the database of a template, unless it exists.
func (s *Server) prepare(ctx context.Context, t *Template) (*prepared, error) {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	s.mu.Lock()
	p := s.templates[t]
	s.mu.Unlock()
	if p != nil {
		return p, nil
	}
	name := randomName("template")
	if err := s.exec(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	p = &prepared{name: name}
	if err := t.Prepare(ctx, s.at(name)); err != nil {
		return nil, err
	}
	err := s.connected(ctx, name, func(conn *pgx.Conn) (err error) {
		p.state, err = readState(ctx, conn)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.templates == nil {
		s.templates = make(map[*Template]*prepared)
	}
	s.templates[t] = p
	return p, nil
}

// create makes a database that is a copy of another one.
func (s *Server) create(ctx context.Context, from string) (string, error) {
	name := randomName("test")
	return name, s.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+from)
}

// giveBack makes a database ready for the next test that wants the template. If the test has changed more than
// rows and tables of its own, the database is dropped, and the error says what differs.
func (s *Server) giveBack(ctx context.Context, t *Template, name string) error {
	s.mu.Lock()
	p := s.templates[t]
	s.mu.Unlock()
	fresh := randomName("test")
	if err := s.rename(ctx, name, fresh); err != nil {
		s.drop(ctx, name)
		return err
	}
	if err := s.connected(ctx, fresh, func(conn *pgx.Conn) error { return p.state.reset(ctx, conn) }); err != nil {
		s.drop(ctx, fresh)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.clean = append(p.clean, fresh)
	return nil
}

// rename ends all connections to a database and gives it another name, so that nobody who knew the old one can
// connect again.
func (s *Server) rename(ctx context.Context, name, fresh string) error {
	return s.connected(ctx, "postgres", func(conn *pgx.Conn) error {
		for {
			ended := 0
			err := conn.QueryRow(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1",
				name).Scan(&ended)
			if err != nil {
				return err
			}
			if ended == 0 {
				break
			}
			select {
			case <-time.After(2 * time.Millisecond): // they end by themselves now
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		_, err := conn.Exec(ctx, "ALTER DATABASE "+name+" RENAME TO "+fresh)
		return err
	})
}

// drop removes a database. A server that the test has stopped for good takes its databases with it.
func (s *Server) drop(ctx context.Context, name string) {
	_ = s.exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

// exec runs one statement on a connection of its own.
func (s *Server) exec(ctx context.Context, statement string) error {
	return s.connected(ctx, "postgres", func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

// connected calls a function with a new connection to a database.
func (s *Server) connected(ctx context.Context, name string, fn func(conn *pgx.Conn) error) error {
	config, err := pgx.ParseConfig(s.at(name))
	if err != nil {
		return err
	}
	config.RuntimeParams["jit"] = "off"
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // each statement is sent once
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return fn(conn)
}

// at returns the URL of a database of the server.
func (s *Server) at(name string) string {
	return with(s.url, func(u *url.URL) { u.Path = "/" + name })
}

func randomName(kind string) string { return "spool_" + kind + "_" + strings.ToLower(rand.Text()) }
