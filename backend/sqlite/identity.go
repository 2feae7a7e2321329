package sqlite

import (
	"crypto/rand"
	"errors"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite/internal/lite"
)

// applicationID stands in the header of the file and says that it is Spool's: "Spol".
const applicationID = 0x53706f6c

// ourTables are tables that every file of Spool's has had from the first version on. Older
// files have no application id.
var ourTables = []string{"thread", "run", "entry", "park", "job"}

// checkOwner refuses the file of another program. It must be called before anything is
// written to the file.
func checkOwner(c *conn, file string) error {
	var id int
	if err := c.query("PRAGMA application_id", func(r *row) error {
		id = r.int()
		return nil
	}); err != nil {
		return notDatabase(err, file)
	}
	if id == applicationID {
		return nil
	}
	tables := make(map[string]bool)
	err := c.query("SELECT name FROM sqlite_schema WHERE type = 'table'", func(r *row) error {
		tables[r.text()] = true
		return nil
	})
	if err != nil {
		return notDatabase(err, file)
	}
	if id == 0 && len(tables) == 0 {
		return nil
	}
	for _, name := range ourTables {
		if id != 0 || !tables[name] {
			return spool.Errorf(spool.Conflict, "%s is the database of another program: name another file or folder", file)
		}
	}
	return nil
}

// notDatabase says in a sentence that SQLite cannot read the file.
func notDatabase(err error, file string) error {
	var e *lite.Error
	if errors.As(err, &e) && e.Code == sqlite3.SQLITE_NOTADB {
		return &spool.Error{Code: spool.Conflict, Message: file + " is not an SQLite database, or its first page is damaged", Err: err}
	}
	return err
}

// identify writes into the file whose it is, and gives a file without an id a new one.
func identify(c *conn) error {
	var id int
	err := c.query("PRAGMA application_id", func(r *row) error {
		id = r.int()
		return nil
	})
	if err == nil && id != applicationID {
		err = c.pragma("application_id = 0x53706f6c")
	}
	if err != nil {
		return err
	}
	have, err := readIdentity(c)
	if err != nil || have.id != "" {
		return err
	}
	return c.exec("INSERT INTO database_file VALUES (1, ?, 0, 0) ON CONFLICT DO NOTHING", rand.Text())
}

// identity is the row of database_file. The zero value is that of a file without one.
type identity struct {
	id    string
	inUse bool
	salt  uint32
}

// readIdentity reads the row. It returns the zero identity for a file from before there was
// one.
func readIdentity(c *conn) (i identity, err error) {
	there, err := hasTable(c, "database_file")
	if err != nil || !there {
		return i, err
	}
	err = c.query("SELECT id, in_use, wal_salt FROM database_file WHERE only_row = 1", func(r *row) error {
		i = identity{id: r.text(), inUse: r.bool(), salt: uint32(r.int64())} //nolint:gosec // it was one
		return nil
	})
	return i, err
}

// rawIdentity reads the row as the main file alone has it, without the log beside it. It
// returns nil where that cannot be read: a process that died while it moved the log into
// the file leaves pages of two times.
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
