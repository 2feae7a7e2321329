package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

// TestOwner: a file of another program is refused and stays as it is, and so is one of Spool's from before the
// baseline that does not say whose it is.
func TestOwner(t *testing.T) {
	t.Parallel()

	var ours []string
	for _, name := range ourTables {
		ours = append(ours, "CREATE TABLE "+name+" (id INTEGER)")
	}
	for name, c := range map[string]struct {
		statements []string
		text       string
		want       string
	}{
		"tables of others": {
			statements: []string{"CREATE TABLE customer (id INTEGER)"}, want: "is the database of another program",
		},
		"some of our names": {
			statements: []string{"CREATE TABLE thread (id INTEGER)", "CREATE TABLE run (id INTEGER)"},
			want:       "is the database of another program",
		},
		"the id of another": {
			statements: []string{"PRAGMA application_id = 252006674", "CREATE TABLE a (id INTEGER)"},
			want:       "is the database of another program",
		},
		"no database": {text: strings.Repeat("this is a letter. ", 100), want: "is not an SQLite database"},
		"ours, from before": {
			statements: append(ours, "PRAGMA user_version = 10"),
			want:       "has schema 10, and this version of the program opens schema 100",
		},
		"a list with steps": {
			statements: []string{"CREATE TABLE schema_migration (version INTEGER)", "INSERT INTO schema_migration VALUES (7)"},
			want:       "is the database of another program",
		},
		"ours, killed": {
			statements: []string{
				"CREATE TABLE schema_migration (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT",
			},
		},
		"a list of others": {
			statements: []string{"CREATE TABLE schema_migration (id TEXT)"}, want: "is the database of another program",
		},
		"nothing":           {},
		"an empty database": {statements: []string{"CREATE TABLE a (id INTEGER)", "DROP TABLE a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "spool.db")
			if c.text != "" {
				if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if len(c.statements) > 0 {
				other, err := connect(path, "")
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range c.statements {
					if err := other.exec(s); err != nil {
						t.Fatal(err)
					}
				}
				if err := other.close(); err != nil {
					t.Fatal(err)
				}
			}
			before := files(t, dir)
			for _, o := range []*Options{nil, {Exclusive: true}} {
				db, err := Open(path, o)
				if c.want != "" {
					if spool.CodeOf(err) != spool.Conflict || !strings.Contains(spool.MessageOf(err), c.want) {
						t.Errorf("open: got error %v, want a conflict that says that it %s", err, c.want)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				err = db.pool.read(t.Context(), func(conn *conn) error {
					return conn.query("PRAGMA application_id", func(r *row) error {
						if id := r.Int(); id != applicationID {
							t.Errorf("the application id is %x", id)
						}
						return nil
					})
				})
				if err != nil {
					t.Error(err)
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
			if after := files(t, dir); c.want != "" && after != before {
				t.Errorf("the refusal changed files:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// TestLinks: a database, or a file beside it, that is a symbolic link is refused.
func TestLinks(t *testing.T) {
	t.Parallel()

	for _, suffix := range []string{"", walSuffix, "-shm", "-journal", ".lock", sidecarSuffix} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, elsewhere := filepath.Join(dir, "spool.db"), filepath.Join(dir, "elsewhere")
			if err := os.Symlink(elsewhere, path+suffix); err != nil {
				t.Skip("no symbolic links here:", err)
			}
			_, err := Open(path, &Options{Exclusive: true})
			if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), path+suffix+" is a symbolic link") {
				t.Errorf("open: got error %v, want one that names the link", err)
			}
			if _, err := os.Stat(elsewhere); err == nil {
				t.Error("the file that the link leads to was made")
			}
		})
	}
}
