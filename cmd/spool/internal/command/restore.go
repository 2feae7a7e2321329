package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spoolhq/spool/backend/sqlite"
)

// newRestoreCommand returns the command that undoes a backup.
func newRestoreCommand() storeCommand {
	var replace bool
	return storeCommand{
		name:  "restore",
		usage: "spool restore [--data DIR] [--replace] FILE",
		text: `Put a backup in as the database of a data folder, after a check of all of it. FILE stays as
it is. Without --replace, the folder must not have a database. With it, the database that is
there gets another name, and no server may have it open.

The exit code is 0 when the database is complete and on disk, 1 when it failed, and 2 when a
flag is wrong.
`,
		flags: func(fs *flag.FlagSet) { fs.BoolVar(&replace, "replace", false, "") },
		help:  "  --replace             keep the database that is there under another name\n",
		run: func(ctx context.Context, h host, path string, args []string) error {
			return restoreStore(ctx, h, path, args, replace)
		},
	}
}

// restoreStore puts a backup in at path.
func restoreStore(ctx context.Context, h host, path string, args []string, replace bool) error {
	if len(args) != 1 {
		return usagef("restore needs the name of one backup")
	}
	r, err := sqlite.Check(ctx, args[0])
	switch {
	case err != nil:
		return fmt.Errorf("check %s: %w", args[0], err)
	case len(r.Problems) > 0:
		return fmt.Errorf("%s is not whole: %s", args[0], r.Problems[0])
	}
	if err := makeRoom(ctx, h, path, replace); err != nil {
		return err
	}
	return copyStore(ctx, h, args[0], path)
}

// makeRoom makes sure that there is no database at path.
func makeRoom(ctx context.Context, h host, path string, replace bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	var there []string
	for _, suffix := range databaseFiles {
		if _, err := os.Lstat(path + suffix); err == nil {
			there = append(there, suffix)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	switch {
	case len(there) == 0:
		return nil
	case !replace:
		return fmt.Errorf("%s is there already: restore into another --data, or keep it under another name with --replace",
			path)
	}
	if r, err := sqlite.Check(ctx, path); err == nil && r.Running { // a database that cannot be read may go too
		return fmt.Errorf("a server has %s open: stop it first", path)
	}
	aside := path + ".before-" + time.Now().UTC().Format("20060102T150405Z")
	for _, suffix := range there {
		if err := os.Rename(path+suffix, aside+suffix); err != nil {
			return fmt.Errorf("rename the database that is there: %w", err)
		}
	}
	_, err := fmt.Fprintf(h.stderr, "the database that was there is now %s\n", aside)
	return err
}
