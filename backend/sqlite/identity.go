package sqlite

import (
	"errors"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite/internal/lite"
)

// applicationID in the header of the file says that the file is Spool's: "Spol". The baseline sets it.
const applicationID = 0x53706f6c

// ourTables are tables that every version of Spool has created. They identify files from before the application id,
// which are refused, but not as those of another program.
var ourTables = []string{"thread", "run", "entry", "park", "job"}

// checkOwner refuses the file of another program. It must be called before the first write to the file.
func checkOwner(c *conn, file string) error {
	var id int
	if err := c.query("PRAGMA application_id", func(r *row) error {
		id = r.Int()
		return nil
	}); err != nil {
		return notDatabase(err, file)
	}
	if id == applicationID {
		return nil
	}
	tables := make(map[string]bool)
	err := c.query("SELECT name FROM sqlite_schema WHERE type = 'table'", func(r *row) error {
		tables[r.Text()] = true
		return nil
	})
	if err != nil {
		return notDatabase(err, file)
	}
	if id == 0 && len(tables) == 0 {
		return nil
	}
	if id == 0 && len(tables) == 1 && tables["schema_migration"] {
		if begun, err := onlyBegun(c); err != nil || begun {
			return err
		}
	}
	for _, name := range ourTables {
		if id != 0 || !tables[name] {
			return spool.Errorf(spool.Conflict, "%s is the database of another program: name another file or folder", file)
		}
	}
	return nil
}

// onlyBegun reports whether the one table of a file is an empty list of steps. Versions before the baseline made it
// before everything else, and may have been killed then.
func onlyBegun(c *conn) (begun bool, err error) {
	err = c.query(`SELECT (SELECT count(*) FROM pragma_table_info('schema_migration') WHERE name IN ('version', 'applied_at')) = 2
		AND NOT EXISTS (SELECT 1 FROM schema_migration)`, func(r *row) error {
		begun = r.Bool()
		return nil
	})
	return begun, err
}

// notDatabase replaces SQLite's error for an unreadable file by a sentence.
func notDatabase(err error, file string) error {
	var e *lite.Error
	if errors.As(err, &e) && e.Code == sqlite3.SQLITE_NOTADB {
		return &spool.Error{
			Code: spool.Conflict, Message: file + " is not an SQLite database, or its first page is damaged", Err: err,
		}
	}
	return err
}

// identity is the row of database_file. The zero value stands for a file without such a row.
type identity struct {
	id    string
	inUse bool
	salt  uint32
}

// readIdentity reads the row. It returns the zero identity for a file without the table.
func readIdentity(c *conn) (i identity, err error) {
	there, err := hasTable(c, "database_file")
	if err != nil || !there {
		return i, err
	}
	err = c.query("SELECT id, in_use, wal_salt FROM database_file WHERE only_row = 1", func(r *row) error {
		i = identity{id: r.Text(), inUse: r.Bool(), salt: uint32(r.Int64())} //nolint:gosec // it was one
		return nil
	})
	return i, err
}

// rawIdentity reads the row from the database file alone, without its log. It returns nil if the row
// cannot be read: if a process died while it moved the log into the file, the file's pages belong to
// different moments.
func rawIdentity(path string) *identity {
	c, err := connect(path, "?mode=ro&immutable=1")
	if err != nil {
		return nil
	}
	i, err := readIdentity(c)
	if errors.Join(err, c.close()) != nil {
		return nil
	}
	return &i
}
