package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spoolhq/spool/backend/sqlite"
)

// databaseName is the file's name in the data folder.
const databaseName = "spool.db"

// privateFolder is a folder inside the data folder. It has the database if others can write to the
// data folder itself.
const privateFolder = "private"

// openData opens the database of a folder that no other process serves, and logs what it found.
func openData(o options, log *slog.Logger) (*sqlite.DB, error) {
	if err := os.MkdirAll(o.data, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	path, err := placeDatabase(o.data, log)
	if err != nil {
		return nil, fmt.Errorf("open the data folder %s: %w", o.data, err)
	}
	db, err := sqlite.Open(path, &sqlite.Options{Exclusive: true, AcceptLoss: o.acceptLoss, Log: log})
	if err != nil {
		return nil, fmt.Errorf("open the data folder %s: %w", o.data, err)
	}
	threads, err := db.CountThreads(context.Background()) // a start that a signal ends exits with 0
	if err != nil {
		return nil, errors.Join(fmt.Errorf("count the threads in %s: %w", path, err), db.Close())
	}
	log.Info("the database is open", "path", path, "threads", threads)
	return db, nil
}

// findDatabase returns the path of the database of a data folder, if at least one of its files exists,
// and "" otherwise.
func findDatabase(dir string) string {
	for _, path := range []string{filepath.Join(dir, privateFolder, databaseName), filepath.Join(dir, databaseName)} {
		for _, suffix := range []string{"", "-wal", ".state"} {
			if _, err := os.Lstat(path + suffix); err == nil {
				return path
			}
		}
	}
	return ""
}

// placeDatabase returns the path of the database, whether it exists or not. If others can write to the
// folder, they could exchange the file, so the database gets a private folder inside.
func placeDatabase(dir string, log *slog.Logger) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	shared := info.Mode().Perm()&0o022 != 0
	path, private := findDatabase(dir), filepath.Join(dir, privateFolder)
	switch {
	case path == "" && !shared:
		path = filepath.Join(dir, databaseName)
	case path == "":
		if err := os.Mkdir(private, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		log.Info("others can write to the data folder, so the database is made in a folder of its own", "folder", private)
		path = filepath.Join(private, databaseName)
	case shared && filepath.Dir(path) == filepath.Clean(dir):
		log.Warn("others can write to the data folder and exchange the database: take that away (chmod go-w), or move the files spool.db* into "+
			"a folder of mode 0700 while no server runs", "folder", dir, "move_to", private)
	}
	if filepath.Dir(path) == private {
		if err := onlyOurs(private); err != nil {
			return "", err
		}
	}
	return path, onlyOurFiles(path)
}

// databaseFiles are the suffixes of the files that SQLite reads. It rolls a journal back into the
// database next to it.
var databaseFiles = []string{"", "-wal", "-shm", "-journal", ".state"}

// onlyOurFiles refuses a database that another user may have put there, or can change.
func onlyOurFiles(path string) error {
	for _, suffix := range databaseFiles {
		info, err := os.Lstat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil:
			err = onlyOurFile(path+suffix, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// onlyOurFile refuses a file that belongs to another user, or that others can write to. It leaves links
// to [sqlite.Open], which refuses all of them.
func onlyOurFile(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return nil
	case !ownedByUs(info):
		return fmt.Errorf(
			"%s belongs to another user, who may have put it there: move it away, or make it the server's (chown) if you know what is in it",
			name,
		)
	case mode.Perm()&0o022 != 0:
		return fmt.Errorf("%s has the mode %#o, so others can change it: move it away, or take that from them (chmod go-w) if you know what is in it. "+
			"Where the file system keeps no modes, name another folder with --data",
			name, mode.Perm())
	}
	return nil
}

// onlyOurs refuses a folder that belongs to another user, or that others can read.
func onlyOurs(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s must be a folder, and no link to one", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf(
			"%s has the mode %#o, and must be for its owner alone: chmod 0700, or name another folder with --data where the file system keeps no modes",
			dir, info.Mode().Perm(),
		)
	case !ownedByUs(info):
		return fmt.Errorf(
			"%s belongs to another user, who may have made it: move it away, or make it the server's with all that is in it (chown -R) if you know what that is",
			dir,
		)
	}
	return nil
}
