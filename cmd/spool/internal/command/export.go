package command

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
	"github.com/spoolhq/spool/artifact"
	"github.com/spoolhq/spool/internal/archive"
	"github.com/spoolhq/spool/store"
)

var exportCommand = mover{
	name:  "export",
	usage: "spool export [--data DIR | --database URL] FILE",
	text: `Write all threads of a database into a new file, with everything that belongs to them: runs,
messages, the record, questions, usage, jobs, the audit log. "spool import" adds them to another
database, of SQLite or of PostgreSQL. With - as FILE, the export goes to stdout.

Stop every server of the database first, and do not start one again once its threads have moved:
runs that wait would go on in both databases. A thread that a worker still holds is refused.

Artifacts come with their data, from the place that --config or --artifacts names. One whose data are
missing or damaged is named and left out, and the export goes on.

The file is JSON lines with checksums: see docs/operations/moving.md. Only its owner can read it.

The exit code is 0 when the file is complete and on disk, 1 when it failed or lacks an artifact, and 2
when a flag is wrong. A failed export leaves no FILE; run it again.
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
	artifacts, named, err := openPlace(ctx, o, h, db.backend.Store)
	if err != nil {
		return errors.Join(err, db.close())
	}
	e := &exporting{h: h, o: o, from: from, artifacts: artifacts, named: named}
	if to == pipe {
		err = e.write(ctx, &counting{Writer: h.stdout}, "the export")
	} else {
		err = e.writeFile(ctx, to)
	}
	if err == nil && e.lost > 0 {
		err = fmt.Errorf("the export lacks %s: see above", plural(e.lost, sectionNames[archive.Artifacts]))
	}
	if err != nil {
		err = fmt.Errorf("export %s: %w", o.place(), err)
	}
	return errors.Join(err, db.close())
}

// exporting is an export under way.
type exporting struct {
	h         host
	o         options
	from      store.Archive
	artifacts *artifact.Store
	named     bool // the flags name the place of artifacts
	lost      int  // how many artifacts have no data
}

// pipe is the name of a file that stands for stdin or stdout.
const pipe = "-"

// writeFile writes a file that is there only when it is complete and on disk.
func (e *exporting) writeFile(ctx context.Context, to string) error {
	partial := to + ".partial"
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(partial) }() //nolint:gosec // the operator names the file
	err = e.write(ctx, &counting{Writer: f}, to)
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

// sections lists what the database has. The rows that belong to artifacts are left out: the artifacts are written
// instead.
func (e *exporting) sections(ctx context.Context) (all []store.Section, err error) {
	for _, kind := range store.SectionKinds() {
		some, err := e.from.Sections(ctx, kind)
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			if s.Kind != store.SectionRows || !archive.OfArtifacts(s.Name) {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// write writes all sections. The name is for the last message.
func (e *exporting) write(ctx context.Context, to *counting, name string) error {
	began := time.Now()
	sections, err := e.sections(ctx)
	if err != nil {
		return err
	}
	source := "sqlite"
	if e.o.database.url != "" {
		source = "postgres"
	}
	w, err := archive.NewWriter(to, archive.Header{Version: version(), Source: source, At: began, Sections: len(sections)})
	if err != nil {
		return err
	}
	p := newProgress(e.h.stderr, len(sections))
	defer p.clear()
	counts := make(map[store.SectionKind]int)
	for i, s := range sections {
		written, err := w.Section(ctx, e.from, s)
		switch {
		case spool.CodeOf(err) == spool.Conflict:
			return fmt.Errorf("%w: stop every server of the database, wait for half a minute, and run it again", err)
		case err != nil:
			return err
		case written:
			counts[s.Kind]++
		}
		if written && s.Kind == store.SectionThread {
			n, lost, err := writeArtifacts(ctx, w, e.artifacts, s)
			switch {
			case err != nil:
				return fmt.Errorf("the artifacts of the %s: %w", s, err)
			case len(lost) > 0 && !e.named:
				return errNoPlace
			}
			for _, a := range lost {
				p.clear()
				fmt.Fprintf(e.h.stderr, "missing: the data of the artifact %s of the %s\n", a.ID, s)
			}
			counts[archive.Artifacts] += n
			e.lost += len(lost)
		}
		p.at(i+1, to.n)
	}
	if err := w.Close(); err != nil {
		return err
	}
	p.clear()
	_, err = fmt.Fprintf(e.h.stderr, "%s has %s: %s, in %s\n", name, countKinds(counts), megabytes(to.n),
		time.Since(began).Round(time.Millisecond))
	return err
}
