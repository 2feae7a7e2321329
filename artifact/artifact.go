// Package artifact stores the artifacts of threads. Their names, references and quotas are rows of the engine's own
// store, and their data are [store.Blobs].
//
// A tenant stores the same data once, whatever threads have them. Each save of data uploads them under a key that is
// never used again, and one transaction then makes them an artifact. So a crash at any point leaves rows that say what
// there is to undo: [Store.Sweep] does it.
package artifact

import (
	"cmp"
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Options of a [Store].
type Options struct {
	// Age is how old an upload without an artifact is when [Store.Sweep] removes it, and an artifact of a thread that
	// does not exist. An upload may take half of it. Defaults to 1 h.
	Age time.Duration
	// Earlier is where data were stored before. They are read and deleted there, and nothing is stored there any more.
	// Defaults to nowhere.
	Earlier store.Blobs
	// MaxBytes bounds the size of one artifact. Defaults to 64 MiB.
	MaxBytes int64
	// Quota bounds the bytes of each tenant. The same data count once. Zero: no bound.
	Quota int64
	// TempDir is the directory for data of more than 256 KiB while they are read, if MaxBytes is more than 1 MiB. Defaults
	// to [os.TempDir].
	TempDir string
	// ThreadBytes bounds the bytes of the artifacts of each thread. Zero: no bound.
	ThreadBytes int64
	// ThreadFiles bounds the number of the artifacts of each thread. Zero: no bound.
	ThreadFiles int
}

// Store is a [store.ArtifactStore]. Processes with the same store and the same blobs share the artifacts. It is safe
// for concurrent use.
type Store struct {
	store   store.Store
	blobs   store.Blobs
	options Options
	lanes   lanes
	tenants tenants
}

var (
	_ store.ArtifactStore   = (*Store)(nil)
	_ store.ArtifactRetirer = (*Store)(nil)
	_ store.ArtifactSweeper = (*Store)(nil)
	_ store.ArtifactBound   = (*Store)(nil)
)

// New returns a store of artifacts. The store must be the one of the engine that deletes the threads. Nil options are
// the defaults.
func New(db store.Store, blobs store.Blobs, o *Options) (*Store, error) {
	if o == nil {
		o = &Options{}
	}
	switch {
	case db == nil:
		return nil, spool.Errorf(spool.Invalid, "the store is required")
	case blobs == nil:
		return nil, spool.Errorf(spool.Invalid, "the blobs are required")
	case o.Age < 0:
		return nil, spool.Errorf(spool.Invalid, "Age is negative")
	case o.MaxBytes < 0:
		return nil, spool.Errorf(spool.Invalid, "MaxBytes is negative")
	case o.Quota < 0:
		return nil, spool.Errorf(spool.Invalid, "Quota is negative")
	case o.ThreadBytes < 0:
		return nil, spool.Errorf(spool.Invalid, "ThreadBytes is negative")
	case o.ThreadFiles < 0:
		return nil, spool.Errorf(spool.Invalid, "ThreadFiles is negative")
	}
	s := &Store{store: db, blobs: blobs, options: *o}
	s.options.Age = cmp.Or(o.Age, time.Hour)
	s.options.MaxBytes = cmp.Or(o.MaxBytes, 64<<20)
	return s, nil
}

// MaxArtifactBytes implements [store.ArtifactBound].
func (s *Store) MaxArtifactBytes() int64 { return s.options.MaxBytes }

// Bytes returns how many bytes of the tenant's quota are taken, those of uploads included.
func (s *Store) Bytes(ctx context.Context, tenant spool.Tenant) (int64, error) {
	all, err := read[account](ctx, s, tenant, kindAccount, accountKey)
	return all.Value.Bytes, err
}
