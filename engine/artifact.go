package engine

import (
	"context"
	"io"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact"
	"github.com/spoolhq/spool/artifact/rows"
	artifactcheck "github.com/spoolhq/spool/engine/internal/artifact"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Artifacts returns the artifacts of a thread, by their ids. It returns a [spool.NotFound] error for a thread that
// does not exist.
func (e *Engine) Artifacts(ctx context.Context, key spool.ThreadKey) ([]spool.Artifact, error) {
	if err := e.hasArtifacts(ctx, key); err != nil {
		return nil, err
	}
	return e.artifacts.Artifacts(ctx, key)
}

// OpenArtifact returns an artifact of a thread with its data, which the caller closes. It returns a [spool.NotFound]
// error for a thread that does not exist or does not have the artifact.
func (e *Engine) OpenArtifact(
	ctx context.Context, key spool.ThreadKey, id spool.ArtifactID,
) (spool.Artifact, io.ReadCloser, error) {
	if err := e.hasArtifacts(ctx, key); err != nil {
		return spool.Artifact{}, nil, err
	}
	return e.artifacts.OpenArtifact(ctx, key, id)
}

// SaveArtifact saves an artifact of a thread, which a later start can attach by its id. The same data are saved once.
// It returns a [spool.NotFound] error for a thread that does not exist, the error of [spool.ErrNoArtifacts] if the
// engine stores none, and the errors of [store.ArtifactStore].
func (e *Engine) SaveArtifact(ctx context.Context, key spool.ThreadKey, a spool.NewArtifact) (spool.Artifact, error) {
	if err := e.hasArtifacts(ctx, key); err != nil {
		return spool.Artifact{}, err
	}
	if err := e.runner.CheckRoom(ctx, key.Tenant); err != nil {
		return spool.Artifact{}, err
	}
	a.Key = "upload:" + artifactcheck.Name(a.Name)
	return artifactcheck.Save(ctx, e.artifacts, key, a)
}

// MaxArtifactBytes returns the size of the largest artifact that the engine stores, or 0 if it does not know it.
func (e *Engine) MaxArtifactBytes() int64 {
	if bounded, ok := e.artifacts.(store.ArtifactBound); ok {
		return bounded.MaxArtifactBytes()
	}
	return 0
}

// hasArtifacts returns an error if the engine stores no artifacts, or if the caller has no such thread.
func (e *Engine) hasArtifacts(ctx context.Context, key spool.ThreadKey) error {
	if e.artifacts == nil {
		return spool.ErrNoArtifacts
	}
	return record.View(ctx, e.store, key, func(store.View, wire.Thread) error { return nil })
}

// artifacts returns the store of artifacts: the configured one, or the engine's own over its store, which is bounded.
// Nil: the engine keeps no files.
func (c Config) artifacts(db store.Store) (store.ArtifactStore, error) {
	if c.Artifacts != nil || c.Limits.FileBytes < 0 {
		return c.Artifacts, nil
	}
	blobs, err := rows.New(db, &rows.Options{MaxBytes: c.Limits.FileBytes})
	if err != nil {
		return nil, err
	}
	return artifact.New(db, blobs, &artifact.Options{
		MaxBytes: c.Limits.FileBytes, Quota: c.Limits.TenantBytes, ThreadBytes: c.Limits.ThreadFileBytes,
		ThreadFiles: c.Limits.ThreadFiles,
	})
}
