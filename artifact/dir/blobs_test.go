package dir_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact/dir"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

func openBlobs(t *testing.T, place string) *dir.Blobs {
	t.Helper()
	b, err := dir.OpenBlobs(place)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBlobs(t *testing.T) {
	t.Parallel()

	spooltest.TestBlobs(t, func(t *testing.T) store.Blobs {
		t.Helper()
		return openBlobs(t, filepath.Join(t.TempDir(), "a", "blobs"))
	})
}

// shared puts with one store, and does the rest with another one of the same directory.
type shared struct {
	store.Blobs

	first store.Blobs
}

func (s shared) PutBlob(ctx context.Context, key string, data io.Reader, size int64) error {
	return s.first.PutBlob(ctx, key, data, size)
}

// Two stores of one directory, which may also be that of a store of artifacts, share the data.
func TestBlobsShared(t *testing.T) {
	t.Parallel()

	spooltest.TestBlobs(t, func(t *testing.T) store.Blobs {
		t.Helper()
		place := t.TempDir()
		if _, err := dir.Open(place, nil); err != nil {
			t.Fatal(err)
		}
		return shared{openBlobs(t, place), openBlobs(t, place)}
	})
}

// files returns the names of the files below a directory.
func files(t *testing.T, place string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(place, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A put that fails leaves no file, and the names of files do not have the text of keys.
func TestBlobsFiles(t *testing.T) {
	t.Parallel()

	place := t.TempDir()
	b := openBlobs(t, place)
	if err := b.PutBlob(t.Context(), "secret", iotest.ErrReader(io.ErrUnexpectedEOF), 4); err == nil {
		t.Error("it took a broken reader")
	}
	if names := files(t, place); len(names) > 0 {
		t.Errorf("a put that failed left %q", names)
	}
	if err := b.PutBlob(t.Context(), "secret", strings.NewReader("data"), 4); err != nil {
		t.Fatal(err)
	}
	if names := files(t, place); len(names) != 1 || strings.Contains(names[0], "secret") {
		t.Errorf("the files are %q", names)
	}
	if err := b.DeleteBlob(t.Context(), "secret"); err != nil || len(files(t, place)) > 0 {
		t.Errorf("after the deletion: %q, %v", files(t, place), err)
	}
}

// Files that a process did not complete are removed after a day.
func TestBlobsSweep(t *testing.T) {
	t.Parallel()

	place := t.TempDir()
	openBlobs(t, place)
	for name, age := range map[string]time.Duration{"new-1.tmp": 25 * time.Hour, "new-2.tmp": 23 * time.Hour} {
		file := filepath.Join(place, "new", name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	openBlobs(t, place)
	if names := files(t, place); len(names) != 1 || filepath.Base(names[0]) != "new-2.tmp" {
		t.Errorf("the files are %q", names)
	}
}

// An error of the disk is one that a client may see, without a path.
func TestBlobsBrokenDisk(t *testing.T) {
	t.Parallel()

	place := t.TempDir()
	b := openBlobs(t, place)
	if err := os.RemoveAll(filepath.Join(place, "new")); err != nil {
		t.Fatal(err)
	}
	err := b.PutBlob(t.Context(), "a", bytes.NewReader(nil), 0)
	if spool.CodeOf(err) != spool.Unavailable || strings.Contains(spool.MessageOf(err), place) {
		t.Errorf("%q: %v", spool.MessageOf(err), err)
	}
	if _, err := dir.OpenBlobs(filepath.Join(place, "file")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(place, "taken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.OpenBlobs(filepath.Join(place, "taken")); err == nil {
		t.Error("it opened a file")
	}
}

func ExampleOpenBlobs() {
	place, err := os.MkdirTemp("", "blobs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(place)
	blobs, err := dir.OpenBlobs(place)
	if err != nil {
		log.Fatal(err) //nolint:gocritic // the directory is empty
	}
	ctx := context.Background()
	fmt.Println(blobs.PutBlob(ctx, "reports/4711", strings.NewReader("Sales rose."), 11))

	r, err := blobs.OpenBlob(ctx, "reports/4711")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	fmt.Printf("%s %v\n", text, err)
	// Output:
	// <nil>
	// Sales rose. <nil>
}
