// Package dir stores artifacts, or the blobs of a store of artifacts, as files of a directory. Processes that share the
// directory share the data.
//
// The directory of a [Store] has one directory for each tenant, in it one for each thread, both named by hashes, and in
// it two files for each artifact: its data, and its name and type as JSON. The directory of [Blobs] has one file for
// each blob. A file appears under its name when it is complete and on disk.
package dir

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Options of a [Store].
type Options struct {
	// MaxBytes bounds the size of one artifact. Defaults to 64 MiB.
	MaxBytes int64
}

// Store is a [store.ArtifactStore]. It is safe for concurrent use.
type Store struct {
	root string
	max  int64
}

var _ store.ArtifactBound = (*Store)(nil)

// Open returns the store in a directory, which it creates if it does not exist. Nil options are the defaults.
func Open(path string, o *Options) (*Store, error) {
	if o == nil {
		o = &Options{}
	}
	if o.MaxBytes < 0 {
		return nil, spool.Errorf(spool.Invalid, "MaxBytes is negative")
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return &Store{root: path, max: cmp.Or(o.MaxBytes, 64<<20)}, nil
}

// MaxArtifactBytes implements [store.ArtifactBound].
func (s *Store) MaxArtifactBytes() int64 { return s.max }

const (
	described = ".json"
	temporary = "new-*.tmp"
)

var validID = regexp.MustCompile(`^art_[0-9a-f]{32}$`)

// place returns the directory of a thread.
func (s *Store) place(key spool.ThreadKey) string {
	return filepath.Join(s.root, hashed(string(key.Tenant)), hashed(string(key.ID)))
}

func hashed(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// SaveArtifact implements [store.ArtifactStore].
func (s *Store) SaveArtifact(ctx context.Context, key spool.ThreadKey, a spool.NewArtifact) (spool.Artifact, error) {
	place := s.place(key)
	if err := os.MkdirAll(place, 0o700); err != nil {
		return spool.Artifact{}, failed(err)
	}
	hash := sha256.New()
	data := io.TeeReader(io.LimitReader(reader{ctx, a.Data}, s.max+1), hash)
	file, size, err := write(place, data)
	if err != nil {
		return spool.Artifact{}, err
	}
	defer os.Remove(file) // it has another name by then
	if size > s.max {
		return spool.Artifact{}, spool.Errorf(spool.Limit, "the artifact is larger than %d bytes", s.max)
	}
	saved := spool.Artifact{
		ID: spool.ArtifactIDOf(a.Key, [sha256.Size]byte(hash.Sum(nil))), Name: a.Name, MediaType: a.MediaType, Size: size,
	}
	if first, err := read(place, saved.ID); err == nil {
		return first, nil
	}
	text, err := json.Marshal(saved)
	if err != nil {
		return spool.Artifact{}, failed(err)
	}
	description, _, err := write(place, strings.NewReader(string(text)))
	if err != nil {
		return spool.Artifact{}, err
	}
	defer os.Remove(description)
	target := filepath.Join(place, string(saved.ID))
	if err := os.Rename(file, target); err != nil {
		return spool.Artifact{}, failed(err)
	}
	if err := os.Link(description, target+described); err != nil && !errors.Is(err, fs.ErrExist) {
		return spool.Artifact{}, failed(err)
	}
	if err := flush(place); err != nil {
		return spool.Artifact{}, failed(err)
	}
	return read(place, saved.ID) // another process may have been faster
}

// reader ends with the error of its context.
type reader struct {
	ctx context.Context //nolint:containedctx // it is the context of one save
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// write writes a file with a temporary name to the disk. An error of the data is returned as it is.
func write(place string, data io.Reader) (name string, size int64, err error) {
	f, err := os.CreateTemp(place, temporary)
	if err != nil {
		return "", 0, failed(err)
	}
	size, err = io.Copy(f, data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", 0, err
	}
	return f.Name(), size, nil
}

// flush writes the names in a directory to the disk.
func flush(place string) error {
	d, err := os.Open(place)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// read returns an artifact without its data.
func read(place string, id spool.ArtifactID) (a spool.Artifact, err error) {
	if !validID.MatchString(string(id)) {
		return a, notFound(nil)
	}
	text, err := os.ReadFile(filepath.Join(place, string(id)+described))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a, notFound(err)
	case err != nil:
		return a, failed(err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, failed(err)
	}
	return a, nil
}

// OpenArtifact implements [store.ArtifactStore].
func (s *Store) OpenArtifact(
	_ context.Context, key spool.ThreadKey, id spool.ArtifactID,
) (spool.Artifact, io.ReadCloser, error) {
	place := s.place(key)
	a, err := read(place, id)
	if err != nil {
		return a, nil, err
	}
	f, err := os.Open(filepath.Join(place, string(id)))
	switch {
	case errors.Is(err, fs.ErrNotExist): // the thread was deleted in the meantime
		return a, nil, notFound(err)
	case err != nil:
		return a, nil, failed(err)
	}
	return a, f, nil
}

// Artifacts implements [store.ArtifactStore].
func (s *Store) Artifacts(_ context.Context, key spool.ThreadKey) ([]spool.Artifact, error) {
	place := s.place(key)
	entries, err := os.ReadDir(place) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed(err)
	}
	var all []spool.Artifact
	for _, entry := range entries {
		id, isDescription := strings.CutSuffix(entry.Name(), described)
		if !isDescription {
			continue
		}
		a, err := read(place, spool.ArtifactID(id))
		switch {
		case spool.CodeOf(err) == spool.NotFound:
			continue
		case err != nil:
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// DeleteArtifacts implements [store.ArtifactStore].
func (s *Store) DeleteArtifacts(_ context.Context, key spool.ThreadKey) error {
	if err := os.RemoveAll(s.place(key)); err != nil {
		return failed(err)
	}
	return nil
}

func notFound(err error) error {
	return &spool.Error{Code: spool.NotFound, Message: "artifact not found", Err: err}
}

// failed returns the error of a failing disk, whose message has no path.
func failed(err error) error {
	return &spool.Error{Code: spool.Unavailable, Message: "the store of artifacts failed", Err: err}
}
