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

// baseline is the number of the first step. Files with lower numbers are refused: they are of schemas that no
// version has promised to open.
const baseline = 100

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
	last := baseline - 1
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
	if nextStep != "" {
		all = append(all, migration{version: last + 1, name: "next", sql: nextStep})
	}
	return all, nil
}

// migrate applies the steps that the file has not had, in the order of their numbers, each in its own
// transaction. The file has a list of the steps that it has had. So a step that was merged later than a
// step with a higher number is applied too, after that step. Therefore steps whose order matters must
// not be merged in such an order.
func migrate(c *conn, all []migration) error {
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

// apply applies a step, unless another process has done so meanwhile. user_version is the highest number.
func apply(c *conn, m migration) error {
	return inTransaction(c, func() error {
		have, err := applied(c)
		if err != nil || have[m.version] {
			return err
		}
		if err := c.exec(m.sql); err != nil {
			return err
		}
		if err := c.exec("INSERT INTO schema_migration VALUES (?, unixepoch())", m.version); err != nil {
			return err
		}
		last, err := version(c)
		if err != nil || last >= m.version {
			return err
		}
		return c.exec("PRAGMA user_version = " + strconv.Itoa(m.version))
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

// applied returns the numbers of the steps that the file has had.
func applied(c *conn) (map[int]bool, error) {
	listed, err := hasTable(c, "schema_migration")
	if err != nil || !listed {
		return nil, err
	}
	have := make(map[int]bool)
	err = c.query("SELECT version FROM schema_migration", func(r *row) error {
		have[r.Int()] = true
		return nil
	})
	return have, err
}

// checkKnown refuses a file from before the baseline, and a file with a step that this program does not have,
// because the meaning of its tables may have changed.
func checkKnown(c *conn, all []migration, file string) error {
	have, err := applied(c)
	if err != nil {
		return err
	}
	last, err := version(c)
	if err != nil {
		return err
	}
	if 0 < last && last < baseline {
		return spool.Errorf(spool.Conflict,
			"%s has schema %d, and this version of the program opens schema %d and later ones: "+
				"export it with the version that wrote it (spool export --data DIR FILE), and import the file into a new folder with this one "+
				"(spool import --data NEW FILE)", file, last, baseline)
	}
	known := make(map[int]bool, len(all))
	for _, m := range all {
		known[m.version] = true
	}
	highest := all[len(all)-1].version
	if last > highest {
		return spool.Errorf(spool.Conflict,
			"%s has schema %d, and this version of the program knows schema %d: use a later version",
			file, last, highest)
	}
	for number := range have {
		if !known[number] {
			return spool.Errorf(spool.Conflict,
				"%s has had the migration %d, which this version of the program does not have: use a later version",
				file, number)
		}
	}
	return nil
}

// inTransaction runs fn in a transaction. No other process can write meanwhile.
func inTransaction(c *conn, fn func() error) (err error) {
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.exec("ROLLBACK"))
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	return c.exec("COMMIT")
}
