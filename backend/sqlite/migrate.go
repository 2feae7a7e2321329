package sqlite

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migration is one step of the schema.
type migration struct {
	version int
	name    string
	sql     string
}

// loadMigrations returns the embedded steps in the order of their numbers. Numbers may be missing.
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
			return nil, spool.Errorf(spool.Internal, "migration %s has no number after %d", name, last)
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

// migrate applies the steps that the file has not had, in the order of their numbers, each in its own
// transaction. The file has a list of the steps that it has had. So a step that was merged later than a
// step with a higher number is applied too, after that step. Therefore steps whose order matters must
// not be merged in such an order.
func migrate(c *conn, file string) error {
	all, err := loadMigrations()
	if err != nil {
		return err
	}
	return migrateTo(c, file, all)
}

func migrateTo(c *conn, file string, all []migration) error {
	if err := checkKnown(c, all, file); err != nil {
		return err
	}
	if err := listApplied(c); err != nil {
		return fmt.Errorf("list the applied migrations: %w", err)
	}
	have, err := applied(c)
	if err != nil {
		return err
	}
	for _, m := range all {
		if have[m.version] {
			continue
		}
		if err := apply(c, m); err != nil {
			return fmt.Errorf("apply migration %s: %w", m.name, err)
		}
	}
	return nil
}

// apply applies a step, unless another process has done so meanwhile.
func apply(c *conn, m migration) error {
	return inTransaction(c, func() error {
		have, err := applied(c)
		if err != nil || have[m.version] {
			return err
		}
		if err := c.exec(m.sql); err != nil {
			return err
		}
		return markApplied(c, m.version)
	})
}

// version returns the number of the highest applied step.
func version(c *conn) (n int, err error) {
	err = c.query("PRAGMA user_version", func(r *row) error {
		n = r.Int()
		return nil
	})
	return n, err
}
