package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/spoolhq/spool"
)

// Report is the result of [Check].
type Report struct {
	// Path is the database, as an absolute path.
	Path string
	// ID is the id of the database, or empty if it cannot be read.
	ID string
	// Bytes is the size of the database without its log, and LogBytes the size of the log.
	Bytes, LogBytes int64
	// Threads counts the threads of all tenants.
	Threads int64
	// Running is true while a server has the database open.
	Running bool
	// Closed is false if the last server that had the database open died. Then some of its writes are
	// only in the log, and the next start moves them into the database.
	Closed bool
	// Unfinished are the runs that the next process continues.
	Unfinished []Unfinished
	// Problems has one sentence for each problem.
	Problems []string
}

// maxProblems bounds how many problems of one kind are reported.
const maxProblems = 20

// Check checks whether a database is intact: whether the database and its log belong together, whether
// SQLite accepts its pages and indexes, and whether each row belongs to an existing row. Check changes
// nothing and may run while a server runs. It reads the whole file.
func Check(ctx context.Context, path string) (r Report, err error) {
	s, err := openStored(path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	e := &s.evidence
	r = Report{
		Path: s.path, Bytes: max(e.size, 0), LogBytes: e.wal.size, Running: s.running,
		Closed: e.state == nil || !e.state.Open,
	}
	if text := e.problem(); text != "" {
		r.Problems = append(r.Problems, text)
	}
	if e.size <= 0 { // SQLite would delete the log
		return r, nil
	}
	c, err := s.connect()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	err = r.read(ctx, c)
	if code := spool.CodeOf(err); code == spool.Canceled {
		return r, err
	} else if code == spool.Conflict {
		r.Problems = append(r.Problems, spool.MessageOf(err))
	} else if err != nil {
		r.Problems = append(r.Problems, "it cannot be read: "+err.Error())
	}
	return r, nil
}

// read checks the tables.
func (r *Report) read(ctx context.Context, c *conn) error {
	all, err := loadMigrations()
	if err != nil {
		return err
	}
	if err := checkOpens(c, all, r.Path); err != nil {
		return err
	}
	i, err := readIdentity(c)
	if err != nil {
		return err
	}
	r.ID = i.id
	for _, look := range []func(*conn) error{r.integrity, r.threads, r.strays} {
		if err := canceled(ctx); err != nil {
			return err
		}
		if err := look(c); err != nil {
			return err
		}
	}
	r.Unfinished, err = readUnfinished(c)
	return err
}

func (r *Report) integrity(c *conn) error {
	return c.query(fmt.Sprintf("PRAGMA integrity_check(%d)", maxProblems), func(row *row) error {
		if text := row.Text(); text != "ok" {
			r.Problems = append(r.Problems, "SQLite says: "+text)
		}
		return nil
	})
}

func (r *Report) threads(c *conn) error {
	return c.query("SELECT count(*) FROM thread", func(row *row) error {
		r.Threads = row.Int64()
		return nil
	})
}

// strays finds rows of threads and runs that do not exist.
func (r *Report) strays(c *conn) error {
	for _, table := range threadTables {
		if err := r.stray(c, table, "thread", "thread_id", ""); err != nil {
			return err
		}
	}
	for _, table := range jobTables { // events outlive the thread
		if err := r.stray(c, table, "thread", "thread_id", " AND s.run_id <> ''"); err != nil {
			return err
		}
	}
	for _, table := range []string{"park", "effect"} {
		if err := r.stray(c, table, "run", "run_id", ""); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) stray(c *conn, table, of, column, also string) error {
	query := "SELECT count(*) FROM " + table + " s WHERE NOT EXISTS (SELECT 1 FROM " + of +
		" o WHERE o.tenant = s.tenant AND o.id = s." + column + ")" + also
	return c.query(query, func(row *row) error {
		if n := row.Int(); n > 0 {
			r.Problems = append(r.Problems, fmt.Sprintf("%d rows of the table %s belong to no %s", n, table, of))
		}
		return nil
	})
}

func hasTable(c *conn, name string) (there bool, err error) {
	err = c.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", func(*row) error {
		there = true
		return nil
	}, name)
	return there, err
}
