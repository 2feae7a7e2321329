//go:build unix

package command

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fileOf is a file of a mode and an owner.
type fileOf struct {
	mode fs.FileMode
	uid  int
}

func (fileOf) Name() string        { return "spool.db" }
func (fileOf) Size() int64         { return 0 }
func (f fileOf) Mode() fs.FileMode { return f.mode }
func (fileOf) ModTime() time.Time  { return time.Time{} }
func (f fileOf) IsDir() bool       { return f.mode.IsDir() }
func (f fileOf) Sys() any          { return &syscall.Stat_t{Uid: uint32(f.uid)} }

const (
	notOurs  = "belongs to another user"
	notAlone = "so others can change it"
)

// A file counts as the server's by its owner and its mode, whatever user runs this test.
func TestOnlyOurFile(t *testing.T) {
	t.Parallel()

	us := os.Geteuid()
	for name, c := range map[string]struct {
		file fileOf
		want string
	}{
		"Ours":            {fileOf{0o600, us}, ""},
		"Readable":        {fileOf{0o644, us}, ""},
		"Group":           {fileOf{0o660, us}, notAlone},
		"Everyone":        {fileOf{0o602, us}, notAlone},
		"Another":         {fileOf{0o600, us + 1}, notOurs},
		"AnotherEveryone": {fileOf{0o666, us + 1}, notOurs},
		"Link":            {fileOf{fs.ModeSymlink | 0o777, us + 1}, ""}, // is refused as a link
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := onlyOurFile("data/spool.db", c.file)
			if (err == nil) != (c.want == "") ||
				err != nil && (!strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "data/spool.db ")) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A server does not use what others may have put where its database belongs, or can write to.
func TestPlantedDatabase(t *testing.T) {
	t.Parallel()

	const nobody = 65534
	for name, c := range map[string]struct {
		folder fs.FileMode
		file   string
		plant  func(path string) error
		want   string
	}{
		"Owner":      {0o777, "spool.db", func(path string) error { return os.Chown(path, nobody, nobody) }, notOurs},
		"OwnerOfLog": {0o777, "spool.db-wal", func(path string) error { return os.Chown(path, nobody, nobody) }, notOurs},
		"OwnerOfSidecar": {
			0o755, "spool.db.state", func(path string) error { return os.Chown(path, nobody, nobody) }, notOurs,
		},
		"Mode":          {0o777, "spool.db", func(path string) error { return os.Chmod(path, 0o666) }, notAlone},
		"ModeOfLog":     {0o700, "spool.db-wal", func(path string) error { return os.Chmod(path, 0o620) }, notAlone},
		"ModeOfJournal": {0o700, "spool.db-journal", func(path string) error { return os.Chmod(path, 0o606) }, notAlone},
		"ModeOfSidecar": {0o700, "spool.db.state", func(path string) error { return os.Chmod(path, 0o666) }, notAlone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.want == notOurs && os.Geteuid() != 0 {
				t.Skip("only root can give a file to another user: TestOnlyOurFile checks owners for all")
			}
			dir := folder(t, 0o700)
			if got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", dir); got.code != exitOK {
				t.Fatalf("%+v", got)
			}
			path := filepath.Join(dir, c.file)
			if !exists(t, path) {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.plant(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, c.folder); err != nil {
				t.Fatal(err)
			}
			got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", dir)
			if got.code != exitFailure || !strings.Contains(got.stderr, path+" ") || !strings.Contains(got.stderr, c.want) {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

// What is said of a folder that is not the server's own tells the way out.
func TestPlantedFolder(t *testing.T) {
	t.Parallel()

	dir := folder(t, 0o777)
	private := filepath.Join(dir, privateFolder)
	if err := os.Mkdir(private, 0o755); err != nil {
		t.Fatal(err)
	}
	refused := func(want string) {
		t.Helper()
		got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", dir)
		if got.code != exitFailure || !strings.Contains(got.stderr, private+" ") || !strings.Contains(got.stderr, want) {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	if err := os.Chmod(private, 0o755); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	refused("chmod 0700")
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // only root can give it to another user
		if err := os.Chown(private, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		refused("chown -R")
	}
}
