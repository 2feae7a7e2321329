package store

import (
	"context"
	"io"

	"github.com/spoolhq/spool"
)

// ArtifactStore stores the artifacts of threads. The engine has checked that the caller may use the thread, which may
// not exist yet. It is safe for concurrent use, also by several processes.
//
// A store has one artifact for the same thread, key and data: see [spool.ArtifactIDOf].
type ArtifactStore interface {
	// SaveArtifact saves an artifact, which is durable when it returns. It returns a [spool.Limit] error for data that are
	// too large, and a [spool.StorageFull] error if the tenant has no room. After an error, there is no artifact.
	SaveArtifact(ctx context.Context, key spool.ThreadKey, a spool.NewArtifact) (spool.Artifact, error)
	// OpenArtifact returns an artifact of the thread with its data, which the caller closes. It returns a [spool.NotFound]
	// error if the thread has no such artifact, whatever the text of the id is.
	OpenArtifact(ctx context.Context, key spool.ThreadKey, id spool.ArtifactID) (spool.Artifact, io.ReadCloser, error)
	// Artifacts returns the artifacts of the thread, by their ids.
	Artifacts(ctx context.Context, key spool.ThreadKey) ([]spool.Artifact, error)
	// DeleteArtifacts removes all artifacts of a thread that was deleted. A thread without artifacts is no error.
	DeleteArtifacts(ctx context.Context, key spool.ThreadKey) error
}

// ArtifactRetirer is an [ArtifactStore] whose references are rows of the engine's own store. The artifacts of a thread
// then end in the transaction that deletes it: a failure or a crash after it leaves none, and a thread that is made
// again with the same id keeps its new ones.
type ArtifactRetirer interface {
	ArtifactStore

	// RetireArtifacts returns rows that the transaction which deletes the thread writes, and a function that then removes
	// the data. What that function leaves after an error, [ArtifactSweeper] removes.
	RetireArtifacts(key spool.ThreadKey) (rows []Row, remove func(ctx context.Context) error)
}

// ArtifactSweeper is an [ArtifactStore] that removes what crashes and failures left. Workers sweep about once an hour.
type ArtifactSweeper interface {
	ArtifactStore

	// Sweep removes data without an artifact, and artifacts without a thread.
	Sweep(ctx context.Context) error
}

// ArtifactBound is an [ArtifactStore] that knows its bound: a server refuses a larger file before it is sent.
type ArtifactBound interface {
	ArtifactStore

	// MaxArtifactBytes returns the size of the largest artifact, in bytes.
	MaxArtifactBytes() int64
}
