package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migration is one step of the schema. The number of the last one that was applied is
// the file's user_version.
type migration struct {
	version int
	name    string
	sql     string
}

// loadMigrations returns the embedded steps by their numbers, which rise. Numbers may be
// left out.
func loadMigrations() ([]migration, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []migration
	last := 0
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version <= last {
			return nil, spool.Errorf(spool.Internal, "migration %s has no number behind %d", name, last)
		}
		last = version
		sql, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, migration{version: version, name: path.Base(name), sql: string(sql)})
	}
	return all, nil
}

// migrate applies the steps that the file has not had, each in a transaction.
func migrate(c *conn, file string) error {
	all, err := loadMigrations()
	if err != nil {
		return err
	}
	have, err := version(c)
	if err != nil {
		return err
	}
	if known := all[len(all)-1].version; have > known {
		return spool.Errorf(spool.Conflict, "%s has schema %d, and this version of the program knows schema %d: use a later version",
			file, have, known)
	}
	for _, m := range all {
		if m.version <= have {
			continue
		}
		if err := apply(c, m); err != nil {
			return fmt.Errorf("apply migration %s: %w", m.name, err)
		}
	}
	return nil
}

func apply(c *conn, m migration) (err error) {
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.exec("ROLLBACK"))
		}
	}()
	// Another process may have been faster.
	have, err := version(c)
	if err != nil {
		return err
	}
	if have < m.version {
		if err := c.exec(m.sql); err != nil {
			return err
		}
		if err := c.exec("PRAGMA user_version = " + strconv.Itoa(m.version)); err != nil {
			return err
		}
	}
	return c.exec("COMMIT")
}

func version(c *conn) (n int, err error) {
	err = c.query("PRAGMA user_version", func(r *row) error {
		n = r.int()
		return nil
	})
	return n, err
}
