package sqlite

import (
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite/internal/lite"
)

// hostPrefix begins the names of all that a host makes in the file, and of nothing that Spool makes.
const hostPrefix = "app_"

// hostRules are the rules for the statements of a host.
type hostRules struct {
	ours map[string]bool // the tables that no host reads
}

// readRules returns the rules for a file whose tables are up to date.
func readRules(c *conn) (hostRules, error) {
	r := hostRules{ours: make(map[string]bool)}
	err := c.query("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')", func(row *row) error {
		if name := row.Text(); !ofHost(name) && !ofSQLite(name) {
			r.ours[strings.ToLower(name)] = true
		}
		return nil
	})
	return r, err
}

// guard makes a connection follow the rules while a host uses it.
func (r hostRules) guard(c *conn) error { return unavailable(c.raw.Guard(r.allow)) }

// allow reports whether a host's statement may do something.
func (r hostRules) allow(a lite.Action, first, second string) bool {
	switch a {
	case lite.Select, lite.Recursive:
		return true
	case lite.Function:
		return !strings.EqualFold(second, "load_extension")
	case lite.Read: // first may also be a name within the statement
		return !r.ours[strings.ToLower(first)] && !ofFile(first)
	case lite.Insert, lite.Update, lite.Delete:
		return ofHost(first) || ofSQLite(first) && !ofFile(first)
	case lite.CreateTable, lite.DropTable, lite.CreateView, lite.DropView:
		return ofHost(first)
	case lite.Reindex:
		return ofHost(strings.TrimPrefix(first, autoindex))
	case lite.CreateIndex, lite.DropIndex:
		return ofHost(strings.TrimPrefix(first, autoindex)) && ofHost(second)
	case lite.CreateTrigger, lite.DropTrigger:
		return ofHost(first) && ofHost(second)
	case lite.AlterTable:
		return ofHost(second)
	default: // above all transactions, pragmas and other files
		return false
	}
}

// checkNames returns an error if a host has given a table a name that is not a host's. SQLite does not say the new
// name when it asks whether a table may be renamed.
func (r hostRules) checkNames(c *conn) error {
	return c.query("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')", func(row *row) error {
		if name := row.Text(); !ofHost(name) && !ofSQLite(name) && !r.ours[strings.ToLower(name)] {
			return errName
		}
		return nil
	})
}

var errName = &spool.Error{Code: spool.Invalid, Message: "the names of a host's tables begin with " + hostPrefix}

// autoindex begins the names of the indexes that SQLite makes for a table with a key.
const autoindex = "sqlite_autoindex_"

func ofHost(name string) bool {
	return len(name) > len(hostPrefix) && strings.EqualFold(name[:len(hostPrefix)], hostPrefix)
}

// ofSQLite reports whether a table is one of SQLite's own. Its statements change them when they make or remove
// a table, and SQLite refuses all other changes.
func ofSQLite(name string) bool {
	const prefix = "sqlite_"
	return len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}

// ofFile reports whether a table shows the pages of the file, and so all tables.
func ofFile(name string) bool {
	return strings.EqualFold(name, "sqlite_dbpage") || strings.EqualFold(name, "dbstat")
}
