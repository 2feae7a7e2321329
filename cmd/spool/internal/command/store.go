package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spoolhq/spool/backend/sqlite"
)

// storeCommand is a command that reads the database itself, whether a server runs or not.
type storeCommand struct {
	name, usage, text string
	// flags adds flags of the command's own, which help describes. Nil: it has none.
	flags func(fs *flag.FlagSet)
	help  string
	run   func(ctx context.Context, h host, path string, args []string) error
}

var backupCommand = storeCommand{
	name:  "backup",
	usage: "spool backup [--data DIR] FILE",
	text: `Copy the database into a new file that only its owner can read. A server may run meanwhile,
and neither waits for the other. The copy is the state of one moment, and needs no other
file. It overwrites no existing FILE.

The exit code is 0 when the copy is complete and on disk, 1 when it failed, and 2 when a flag
is wrong.
`,
	run: backupStore,
}

// carryOut reads the flags of the command and runs it.
func (c storeCommand) carryOut(ctx context.Context, args []string, h host) error {
	data := "./spool-data"
	if set, _ := h.lookup("SPOOL_DATA"); set != "" {
		data = set
	}
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&data, "data", data, "")
	if c.flags != nil {
		c.flags(fs)
	}
	args, err := parseMixed(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		const flags = "Flags, with its environment variable and its default:\n\n" +
			"  --data DIR            folder of the database\n                        SPOOL_DATA, default ./spool-data\n"
		if _, err := fmt.Fprintf(h.stdout, "%s\nUsage:\n\n  %s\n\n%s%s", c.text, c.usage, flags, c.help); err != nil {
			return err
		}
		return errHelp
	case err != nil:
		return err
	case data == "":
		return usagef("--data: is empty")
	}
	path := findDatabase(data)
	if path == "" {
		path = filepath.Join(data, databaseName) // the error then says that it is missing
	}
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	return c.run(ctx, h, path, args)
}

// checkStore checks a database, and reports runs that would not continue as they began with a setup,
// unless that is nil.
func checkStore(ctx context.Context, h host, s *setup, path string) error {
	r, err := sqlite.Check(ctx, path)
	if err != nil {
		return err
	}
	state := "closed"
	switch {
	case r.Running:
		state = "a server has it open"
	case !r.Closed:
		state = "the last server died; the next one takes over what is in the log"
	}
	id := r.ID
	if id == "" {
		id = "none yet"
	}
	if _, err := fmt.Fprintf(h.stdout, "database  %s (%s, log %s)\nid        %s\nstate     %s\nthreads   %d\n",
		r.Path, megabytes(r.Bytes), megabytes(r.LogBytes), id, state, r.Threads); err != nil {
		return err
	}
	if s != nil {
		for _, text := range s.changedRuns(r.Unfinished) {
			if _, err := fmt.Fprintln(h.stdout, "resume   ", text); err != nil {
				return err
			}
		}
	}
	if len(r.Problems) == 0 {
		_, err := fmt.Fprintln(h.stdout, "problems  none")
		return err
	}
	for _, text := range r.Problems {
		if _, err := fmt.Fprintln(h.stdout, "problem  ", text); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s has problems", r.Path)
}

func backupStore(ctx context.Context, h host, path string, args []string) error {
	if len(args) != 1 {
		return usagef("backup needs the name of one new file")
	}
	return copyStore(ctx, h, path, args[0])
}

// copyStore copies a database into a new file and reports its progress.
func copyStore(ctx context.Context, h host, path, to string) error {
	began := time.Now()
	lastPrinted, pages := began, 0
	err := sqlite.Backup(ctx, path, to, func(done, total int) {
		pages = total
		if now := time.Now(); now.Sub(lastPrinted) >= time.Second {
			lastPrinted = now
			fmt.Fprintf(h.stderr, "%d of %d pages, %d %%\n", done, total, 100*done/max(total, 1))
		}
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(h.stderr, "%s has all %d pages, in %s\n", to, pages, time.Since(began).Round(time.Millisecond))
	return err
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
