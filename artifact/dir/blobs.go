package dir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spoolhq/spool/artifact/internal/blob"
	"github.com/spoolhq/spool/store"
)

// Blobs is a [store.Blobs] in a directory. Processes that share the directory share the data. It is safe for
// concurrent use.
//
// The name of a file is a hash of its key, so that keys are limited neither by the file system nor by each other. A
// file appears when it is complete and on disk.
type Blobs struct{ root string }

var _ store.Blobs = (*Blobs)(nil)

const (
	unfinished = "new" // the directory of files that are not complete
	forgotten  = 24 * time.Hour
)

// OpenBlobs returns the blobs in a directory, which it creates if it does not exist. It removes files that a process
// began a day ago and did not complete. The directory may be that of a [Store], too.
func OpenBlobs(path string) (*Blobs, error) {
	places := []string{unfinished}
	for i := range 256 {
		places = append(places, fmt.Sprintf("%02x", i))
	}
	for _, place := range places {
		if err := os.MkdirAll(filepath.Join(path, place), 0o700); err != nil {
			return nil, err
		}
	}
	if err := flush(path); err != nil {
		return nil, err
	}
	b := &Blobs{path}
	return b, b.sweep(time.Now().Add(-forgotten))
}

// sweep removes files that are not complete and were last written before a time.
func (b *Blobs) sweep(before time.Time) error {
	entries, err := os.ReadDir(filepath.Join(b.root, unfinished))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.ModTime().Before(before) {
			err = os.Remove(filepath.Join(b.root, unfinished, entry.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may have been faster
			return err
		}
	}
	return nil
}

// file returns the name of the file of a key.
func (b *Blobs) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	name := hex.EncodeToString(sum[:])
	return filepath.Join(b.root, name[:2], name)
}

// PutBlob implements [store.Blobs].
func (b *Blobs) PutBlob(ctx context.Context, key string, data io.Reader, size int64) error {
	if err := blob.Check(key, size); err != nil {
		return err
	}
	file := b.file(key)
	if _, err := os.Stat(file); err == nil {
		return b.settle(file)
	}
	exact := blob.NewExact(ctx, data, size)
	fresh, _, err := write(filepath.Join(b.root, unfinished), exact)
	switch {
	case exact.Err() != nil:
		return exact.Err()
	case err != nil:
		return failed(err)
	}
	if err := os.Rename(fresh, file); err != nil {
		_ = os.Remove(fresh)
		return failed(err)
	}
	return b.settle(file)
}

// settle makes the directory entry of a file durable (fsync), even if another process has just made the file.
func (b *Blobs) settle(file string) error {
	if err := flush(filepath.Dir(file)); err != nil {
		return failed(err)
	}
	return nil
}

// OpenBlob implements [store.Blobs]. Data that are deleted while they are read can be read to their end.
func (b *Blobs) OpenBlob(_ context.Context, key string) (io.ReadCloser, error) {
	if err := blob.CheckKey(key); err != nil {
		return nil, err
	}
	f, err := os.Open(b.file(key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, blob.NotFound(err)
	case err != nil:
		return nil, failed(err)
	}
	return f, nil
}

// DeleteBlob implements [store.Blobs].
func (b *Blobs) DeleteBlob(_ context.Context, key string) error {
	if err := blob.CheckKey(key); err != nil {
		return err
	}
	file := b.file(key)
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed(err)
	}
	return b.settle(file)
}
