package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spoolhq/spool"
)

// backupStep is how many pages are copied between two checks of ctx: 4 MiB.
const backupStep = 1024

// Backup copies the database at path into a new file that only its owner may read. It may run while a
// server writes: it copies the state of one moment, and neither side waits for the other. While Backup
// runs, the server's log grows.
//
// Progress is called with the number of copied pages and the number of all pages. It may be nil. The
// copy has an id of its own, needs no other file, and is on disk when Backup returns.
//
// Backup returns a [spool.Conflict] error if a file exists at to, or if the database has lost data, as
// described at [Open].
func Backup(ctx context.Context, path, to string, progress func(done, total int)) (err error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return spool.Errorf(spool.Conflict, "%s is there already: a backup overwrites nothing", to)
	}
	source, err := openStored(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	if err := source.evidence.refusal(); err != nil {
		return err
	}
	c, err := source.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := checkOwner(c, source.path); err != nil {
		return err
	}

	partial := to + ".partial"
	for _, suffix := range []string{"", "-journal", walSuffix, "-shm"} { // left by a backup that was killed
		if err := os.Remove(partial + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return spool.Wrap(spool.Unavailable, "an unfinished backup cannot be removed", err)
		}
	}
	if err := create(partial); err != nil {
		return err
	}
	defer func() { _ = os.Remove(partial) }()
	if err := copyPages(ctx, c, partial, progress); err != nil {
		return err
	}
	if err := publish(partial, to); err != nil {
		return spool.Wrap(spool.Unavailable, "the backup cannot be given its name", err)
	}
	return nil
}

// copyPages copies the current state of the database of c.
func copyPages(ctx context.Context, c *conn, to string, progress func(done, total int)) (err error) {
	// Within a transaction, a writer cannot make the copy begin again.
	if err := c.exec("BEGIN"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.exec("ROLLBACK")) }()
	total := 0
	if err := c.query("PRAGMA page_count", func(r *row) error {
		total = r.Int()
		return nil
	}); err != nil {
		return err
	}
	if err := c.query("SELECT count(*) FROM sqlite_schema", func(*row) error { return nil }); err != nil {
		return err
	}
	b, err := c.raw.NewBackup("file:" + uriEscaper.Replace(to))
	if err != nil {
		return unavailable(err)
	}
	for done, more := 0, true; more; {
		if err := canceled(ctx); err != nil {
			return errors.Join(err, b.Abandon())
		}
		if more, err = b.Step(backupStep); err != nil {
			return errors.Join(unavailable(err), b.Abandon())
		}
		done = min(done+backupStep, total)
		if progress != nil {
			progress(done, total)
		}
	}
	raw, err := b.Commit()
	if err != nil {
		return unavailable(err)
	}
	return detach(newConn(raw))
}

// detach turns a copy into a database with an id of its own, which no process uses and which needs no
// log.
func detach(c *conn) (err error) {
	defer func() { err = errors.Join(err, c.close()) }()
	for _, p := range []string{"synchronous = FULL", "fullfsync = ON", "journal_mode = DELETE"} {
		if err := c.pragma(p); err != nil {
			return err
		}
	}
	i, err := readIdentity(c)
	if err != nil || i.id == "" { // a file without tables
		return err
	}
	return c.exec("UPDATE database_file SET id = ?, in_use = 0, wal_salt = 0", rand.Text())
}

// publish renames a file, unless a file of that name exists, and syncs the file and its folder.
func publish(partial, to string) error {
	f, err := os.Open(partial)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(partial, to); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return err
		}
		// The file system has no hard links.
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			return fs.ErrExist
		}
		if err := os.Rename(partial, to); err != nil {
			return err
		}
	}
	return syncDir(filepath.Dir(to))
}
