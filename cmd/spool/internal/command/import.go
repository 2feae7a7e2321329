package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/archive"
	"github.com/spoolhq/spool/store"
)

// newImportCommand returns the command, which sets checks if only the file is to be checked.
func newImportCommand(checks *bool, keeps *kept) mover {
	return mover{
		name:  "import",
		usage: "spool import [--data DIR | --database URL] [--check] [--keep-schedules] [--keep-webhooks] FILE",
		text: `Add the threads of an export to a database of SQLite or of PostgreSQL, which is made if it does
not exist. With - as FILE, the export comes from stdin.

Each thread is added as a whole or not at all, after its checksum was compared. If the command is
interrupted, or the file turns out to be cut or damaged, run it again: what was added is left
out. A thread that is there with another content is named and stays as it is, and the others are
added. Artifacts go to the place that --config or --artifacts names, and count for its quota: a thread
whose artifacts have no room is refused. No server may have a SQLite file open; servers of a PostgreSQL may run.

Schedules are paused, because the server that they come from may still start their runs. Resume
them one by one, or say --keep-schedules if that server is gone. The same holds for delayed starts,
which start nothing before you move them. Endpoints of webhooks that were made over the API are
disabled for the same reason, and events that wait for them become dead letters. Enable them one by
one and replay, or say --keep-webhooks.

The exit code is 0 when the database has everything, 1 when something was refused or failed, and 2
when a flag is wrong.
`,
		flags: func(fs *flag.FlagSet) {
			fs.BoolVar(checks, "check", false, "")
			fs.BoolVar(&keeps.schedules, "keep-schedules", false, "")
			fs.BoolVar(&keeps.webhooks, "keep-webhooks", false, "")
		},
		own: "  --check               only check the file, and use no database\n" +
			"  --keep-schedules      do not pause the schedules, and let delayed starts start\n" +
			"  --keep-webhooks       do not disable the endpoints of webhooks\n",
	}
}

// kept is what works in the new database as it did in the old one.
type kept struct {
	schedules bool
	webhooks  bool
}

// importStore adds the threads of a file to a database.
func importStore(ctx context.Context, args []string, h host) error {
	var checks bool
	var keeps kept
	o, name, err := newImportCommand(&checks, &keeps).parse(args, h) //nolint:contextcheck // it waits for nothing
	if err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	file := os.Stdin
	if name != pipe {
		if file, err = os.Open(name); err != nil { //nolint:gosec // the operator names the file
			return err
		}
		defer file.Close()
	}
	r, err := archive.NewReader(file)
	if err != nil {
		return fmt.Errorf("import %s: %s", name, worded(err))
	}
	i := &importing{h: h, name: name, from: r, keeps: keeps, began: time.Now()}
	if checks {
		return i.run(ctx)
	}
	db, to, err := openArchive(ctx, o, h)
	if err != nil {
		return err
	}
	i.to, i.store = to, db.backend.Store
	if i.artifacts, _, err = openPlace(ctx, o, h, i.store); err != nil {
		return errors.Join(err, db.close())
	}
	return errors.Join(i.run(ctx), db.close())
}

// importing is an import under way.
type importing struct {
	h     host
	name  string
	from  *archive.Reader
	to    store.Archive // nil: the file is only checked
	keeps kept
	began time.Time

	store     store.Store
	artifacts *artifact.Store
	held      *heldThread // nil: there is none
	// fits has the tenants that get the rows of artifacts of an older version.
	fits map[spool.Tenant]bool

	seen, added, there, refused map[store.SectionKind]int
}

// run reads the file to its end.
func (i *importing) run(ctx context.Context) error {
	i.seen, i.added = make(map[store.SectionKind]int), make(map[store.SectionKind]int)
	i.there, i.refused = make(map[store.SectionKind]int), make(map[store.SectionKind]int)
	i.fits = make(map[spool.Tenant]bool)
	p := newProgress(i.h.stderr, i.from.Header().Sections)
	defer p.clear()
	for done := 1; ; done++ {
		s, lines, err := i.from.Next()
		end := errors.Is(err, io.EOF)
		if held := i.held; held != nil && (end || s.Kind != "" && s.Kind != archive.Artifacts) {
			if err := i.addHeld(ctx, p); err != nil {
				return i.stopped(held.Section, err, p)
			}
		}
		switch {
		case end:
			p.clear()
			return i.finish()
		case err != nil:
			return i.stopped(s, damagedError{err}, p)
		}
		if err := i.importSection(ctx, s, lines, p); err != nil {
			return i.stopped(s, err, p)
		}
		p.at(done, i.from.Read())
	}
}

// importSection checks or adds a section. A thread is added when it is known whether its artifacts follow.
func (i *importing) importSection(ctx context.Context, s store.Section, lines [][]byte, p *progress) error {
	if s.Kind == archive.Artifacts {
		return i.addArtifacts(ctx, s, p)
	}
	i.seen[s.Kind]++
	switch {
	case i.to == nil:
	case s.Kind == store.SectionThread:
		i.held = &heldThread{s, lines}
	case s.Kind == store.SectionRows && archive.OfTenantArtifacts(s.Name):
		return i.addRows(ctx, s, lines, p)
	case s.Kind == store.SectionRows && s.Name == engine.ScheduleRows && !i.keeps.schedules:
		return i.addChanged(ctx, s, lines, pausedSchedule, p)
	case s.Kind == store.SectionRows && s.Name == engine.DelayedStartRows && !i.keeps.schedules:
		return i.addChanged(ctx, s, lines, stoppedStart, p)
	case s.Kind == store.SectionRows && s.Name == engine.WebhookRows && !i.keeps.webhooks:
		return i.addChanged(ctx, s, lines, engine.ImportedWebhook, p)
	case s.Kind == store.SectionRows && s.Name == engine.WebhookRows:
		if imported, err := i.add(ctx, s, lines, p); err != nil || !imported {
			return err
		}
		return engine.KeepImportedWebhooks(ctx, i.store, s.Tenant)
	default:
		_, err := i.add(ctx, s, lines, p)
		return err
	}
	return nil
}

// pausedSchedule returns the value of a schedule that is paused.
func pausedSchedule(_ string, value json.RawMessage, at time.Time) (json.RawMessage, error) {
	return engine.ImportedSchedule(value, at)
}

// stoppedStart returns the value of a delayed start that does not start.
func stoppedStart(_ string, value json.RawMessage, at time.Time) (json.RawMessage, error) {
	return engine.ImportedDelayedStart(value, at)
}

// addChanged adds rows that stop something until somebody lets it go on. It stops since the row was written, so that
// each import of the same rows adds the same.
func (i *importing) addChanged(
	ctx context.Context, s store.Section, lines [][]byte,
	change func(key string, value json.RawMessage, at time.Time) (json.RawMessage, error), p *progress,
) error {
	out := make([][]byte, len(lines))
	for n, line := range lines {
		t, values, err := archive.DecodeRow(store.SectionRows, line)
		if err != nil {
			return damagedError{err}
		}
		value, err := change(t.TextOf(values, "key"),
			json.RawMessage(t.TextOf(values, "value")), time.UnixMicro(t.IntOf(values, "updated_at")))
		if err != nil {
			return damagedError{err}
		}
		t.SetText(values, "value", string(value))
		out[n] = archive.AppendRow(nil, t, values)
	}
	_, err := i.add(ctx, s, out, p)
	return err
}

// stopped returns the error of an import that does not go on.
func (i *importing) stopped(s store.Section, err error, p *progress) error {
	p.clear()
	if bad := (damagedError{}); errors.As(err, &bad) {
		return fmt.Errorf("import %s: %s; %s", i.name, worded(bad.error), i.so())
	}
	return fmt.Errorf("import the %s: %w; %s; run the same command again to go on", s, err, i.so())
}

// add adds a section, and reports a refused one to the user. It returns true if the target has the section, now or
// from an earlier import.
func (i *importing) add(ctx context.Context, s store.Section, lines [][]byte, p *progress) (imported bool, err error) {
	added, err := i.to.ImportSection(ctx, s, lines)
	switch {
	case err == nil && added:
		i.added[s.Kind]++
	case err == nil:
		i.there[s.Kind]++
	case isRefusal(err):
		i.refuse(s.Kind, s, err, p)
		return false, nil
	}
	return err == nil, err
}

// isRefusal reports whether an error is about one section, and the others can be added.
func isRefusal(err error) bool {
	switch spool.CodeOf(err) {
	case spool.Conflict, spool.Invalid, spool.StorageFull, spool.Limit:
		return true
	default:
		return false
	}
}

// refuse reports a refused section to the user, and counts it.
func (i *importing) refuse(kind store.SectionKind, s store.Section, err error, p *progress) {
	i.refused[kind]++
	p.clear()
	fmt.Fprintf(i.h.stderr, "refused: %s\n", refusalOf(s, err))
}

// refusalOf says why a section is refused. It names the section once.
func refusalOf(s store.Section, err error) string {
	name, text := fmt.Sprintf("the %s", s), spool.MessageOf(err)
	if strings.Contains(text, name) {
		return text
	}
	return name + ": " + text
}

// finish reports what the import has done.
func (i *importing) finish() error {
	if i.to == nil {
		_, err := fmt.Fprintf(i.h.stderr, "%s is whole: %s\n", i.name, countKinds(i.seen))
		return err
	}
	text := "added " + countKinds(i.added)
	if len(i.there) > 0 {
		text += "; there already: " + countKinds(i.there)
	}
	if _, err := fmt.Fprintf(i.h.stderr, "%s, in %s\n", text, time.Since(i.began).Round(time.Millisecond)); err != nil {
		return err
	}
	if len(i.refused) > 0 {
		return fmt.Errorf("refused %s: see above", countKinds(i.refused))
	}
	return nil
}

// so says how far an import came that has failed.
func (i *importing) so() string {
	if i.to == nil {
		return "before that, there are " + countKinds(i.seen)
	}
	return "before that, it added " + countKinds(i.added)
}

// worded returns the message of an error of the file, or the whole error for another one.
func worded(err error) string {
	if spool.CodeOf(err) == spool.Invalid {
		return spool.MessageOf(err)
	}
	return err.Error()
}
