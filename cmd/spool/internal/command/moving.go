package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spoolhq/spool/internal/archive"
	"github.com/spoolhq/spool/store"
)

// movingFlags are the settings of export and import.
var movingFlags = []string{"data", "database", "database-pool", "pooler", "migrate", "config", "artifacts"}

// mover is a command that reads or writes a file of all threads.
type mover struct {
	name, usage, text string
	// flags adds flags of the command's own, and own describes them. Nil: it has none.
	flags func(fs *flag.FlagSet)
	own   string
}

// parse reads the flags of the command, and the name of its one file.
func (m mover) parse(args []string, h host) (options, string, error) {
	var has []setting
	for _, s := range settings {
		if slices.Contains(movingFlags, s.flag) {
			has = append(has, s)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nUsage:\n\n  %s\n\nFlags, with their environment variables and defaults:\n\n", m.text, m.usage)
	writeSettings(&b, has)
	b.WriteString(m.own)
	fs, values := flagsOf(m.name, has, h)
	if m.flags != nil {
		m.flags(fs)
	}
	f, err := parseSome(fs, values, b.String(), args, h)
	switch {
	case err != nil:
		return options{}, "", err
	case len(f.operands) != 1:
		return options{}, "", usagef("%s needs the name of one file, or - for a pipe", m.name)
	case f.named["data"] && f.named["database"]:
		return options{}, "", usagef("--data and --database name two databases: %s uses one", m.name)
	case f.named["data"]: // it overrides the variable of the other
		f.database.url = ""
	}
	return f.options, f.operands[0], nil
}

// openArchive opens the database of the flags. It logs only warnings.
func openArchive(ctx context.Context, o options, h host) (*storage, store.Archive, error) {
	db, err := openStorage(ctx, o, slog.New(slog.NewTextHandler(h.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		nil)
	if err != nil {
		return nil, nil, err
	}
	all, ok := db.backend.Store.(store.Archive)
	if !ok {
		return nil, nil, errors.Join(errors.New("this database cannot hand over its threads"), db.close())
	}
	return db, all, nil
}

// countKinds returns how many sections there are of each kind, for people.
func countKinds(counts map[store.SectionKind]int) string {
	var parts []string
	for _, kind := range append(store.SectionKinds(), archive.Artifacts) {
		if n := counts[kind]; n > 0 || kind == store.SectionThread {
			parts = append(parts, plural(n, sectionNames[kind]))
		}
	}
	return strings.Join(parts, ", ")
}

// sectionNames are the words for the sections.
var sectionNames = map[store.SectionKind]string{
	store.SectionRows: "kind of shared rows", store.SectionAudit: "part of the audit log",
	store.SectionThread: "thread", store.SectionOutbox: "outbox",
	archive.Artifacts: "artifact",
}

// plural returns a number and its noun, in the right form.
func plural(n int, noun string) string {
	first, remaining, of := strings.Cut(noun, " of ")
	if n != 1 {
		first = strings.TrimSuffix(first, "x") + map[bool]string{true: "xes", false: "s"}[strings.HasSuffix(first, "x")]
	}
	if of {
		first += " of " + remaining
	}
	return fmt.Sprintf("%d %s", n, first)
}

// counting counts the bytes that were written.
type counting struct {
	io.Writer
	n int64
}

// Write implements [io.Writer].
func (c *counting) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	return n, err
}
