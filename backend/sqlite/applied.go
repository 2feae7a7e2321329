package sqlite

import (
	"errors"
	"strconv"

	"github.com/spoolhq/spool"
)

// lastUnlisted is the highest migration from before the table of applied migrations existed. Up to it,
// a file had every migration with a number of at most user_version.
const lastUnlisted = 10

// appliedTable is created by code, not by a migration, because it says which migrations a file has had.
const appliedTable = `CREATE TABLE IF NOT EXISTS schema_migration (
	version    INTEGER PRIMARY KEY,
	applied_at INTEGER NOT NULL -- seconds since 1970, 0 where nobody wrote it down
) STRICT`

// applied returns the numbers of the migrations that the file has had, or nil if the file has no table
// of them yet.
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

// listApplied creates the table of applied migrations. For an older file, it fills the table from
// user_version.
func listApplied(c *conn) error {
	return inTransaction(c, func() error {
		have, err := applied(c)
		if err != nil || have != nil { // another process may have done it
			return err
		}
		if err := c.exec(appliedTable); err != nil {
			return err
		}
		last, err := version(c)
		if err != nil {
			return err
		}
		for n := 1; n <= min(last, lastUnlisted); n++ {
			if err := c.exec("INSERT INTO schema_migration VALUES (?, 0)", n); err != nil {
				return err
			}
		}
		return nil
	})
}

// markApplied records that the file has had a migration. user_version stays the highest number, so that
// programs older than the table refuse the file.
func markApplied(c *conn, number int) error {
	if err := c.exec("INSERT INTO schema_migration VALUES (?, unixepoch())", number); err != nil {
		return err
	}
	last, err := version(c)
	if err != nil || last >= number {
		return err
	}
	return c.exec("PRAGMA user_version = " + strconv.Itoa(number))
}

// checkKnown refuses a file with a migration that this program does not have, because the meaning of
// its tables may have changed.
func checkKnown(c *conn, all []migration, file string) error {
	have, err := applied(c)
	if err != nil {
		return err
	}
	last, err := version(c)
	if err != nil {
		return err
	}
	known := make(map[int]bool, len(all))
	for _, m := range all {
		known[m.version] = true
	}
	highest := all[len(all)-1].version
	if last > highest {
		return spool.Errorf(spool.Conflict, "%s has schema %d, and this version of the program knows schema %d: use a later version",
			file, last, highest)
	}
	for number := range have {
		if !known[number] {
			return spool.Errorf(spool.Conflict, "%s has had the migration %d, which this version of the program does not have: use a later version",
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
