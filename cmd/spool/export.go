package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/archive"
)

var exportCommand = mover{
	name:  "export",
	usage: "spool export [--data DIR | --database URL] FILE",
	text: `Write all threads of a database into a new file, with everything that belongs to them: runs,
messages, the record, questions, usage, jobs, the audit log. "spool import" adds them to another
database, of SQLite or of PostgreSQL. With - as FILE, the export goes to stdout.

Stop every server of the database first, and do not start one again once its threads have moved:
runs that wait would go on in both databases. A thread that a worker still holds is refused.

The file is JSON lines with checksums: see docs/operations/moving.md. Only its owner can read it.

The exit code is 0 when the file is complete and on disk, 1 when it failed, and 2 when a flag is
wrong. A failed export leaves no FILE; run it again.
`,
}

// exportStore writes all threads of a database into a file.
func exportStore(ctx context.Context, args []string, h host) error {
	o, to, err := exportCommand.parse(args, h) //nolint:contextcheck // it waits for nothing
	if err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	if _, err := os.Lstat(to); to != pipe && !errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the operator names the file
		return fmt.Errorf("%s is there already: an export overwrites nothing", to)
	}
	if o.database.url == "" && findDatabase(o.data) == "" {
		return fmt.Errorf("there is no database in %s", o.data)
	}
	db, from, err := openArchive(ctx, o, h)
	if err != nil {
		return err
	}
	if to == pipe {
		err = writeExport(ctx, h, o, from, &counting{Writer: h.stdout}, "the export")
	} else {
		err = exportTo(ctx, h, o, from, to)
	}
	if err != nil {
		err = fmt.Errorf("export %s: %w", o.place(), err)
	}
	return errors.Join(err, db.close())
}

// pipe is the name of a file that stands for stdin or stdout.
const pipe = "-"

// exportTo writes a file that is there only when it is complete and on disk.
func exportTo(ctx context.Context, h host, o options, from spool.Archive, to string) error {
	partial := to + ".partial"
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(partial) }() //nolint:gosec // the operator names the file
	err = writeExport(ctx, h, o, from, &counting{Writer: f}, to)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the operator names the file
		return fmt.Errorf("%s is there already: an export overwrites nothing", to)
	}
	if err := os.Rename(partial, to); err != nil { //nolint:gosec // the operator names the file
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// syncFolder makes the names in a folder durable.
func syncFolder(name string) error {
	dir, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	err = dir.Sync()
	return errors.Join(err, dir.Close())
}

// writeExport writes all sections. The name is for the last message.
func writeExport(ctx context.Context, h host, o options, from spool.Archive, to *counting, name string) error {
	began := time.Now()
	var sections []spool.Section
	for _, kind := range spool.SectionKinds() {
		some, err := from.Sections(ctx, kind)
		if err != nil {
			return err
		}
		sections = append(sections, some...)
	}
	source := "sqlite"
	if o.database.url != "" {
		source = "postgres"
	}
	w, err := archive.NewWriter(to, archive.Header{Version: version(), Source: source, At: began, Sections: len(sections)})
	if err != nil {
		return err
	}
	p := newProgress(h.stderr, len(sections))
	defer p.clear()
	counts := make(map[spool.SectionKind]int)
	for i, s := range sections {
		written, err := w.Section(ctx, from, s)
		switch {
		case spool.CodeOf(err) == spool.Conflict:
			return fmt.Errorf("%w: stop every server of the database, wait for half a minute, and run it again", err)
		case err != nil:
			return err
		case written:
			counts[s.Kind]++
		}
		p.at(i+1, to.n)
	}
	if err := w.Close(); err != nil {
		return err
	}
	p.clear()
	_, err = fmt.Fprintf(h.stderr, "%s has %s: %s, in %s\n", name, countKinds(counts), megabytes(to.n), time.Since(began).Round(time.Millisecond))
	return err
}
