package artifact

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

var validID = regexp.MustCompile(`^art_[0-9a-f]{32}$`)

// artifactKey returns the key of an artifact's row.
func artifactKey(thread, epoch string, id spool.ArtifactID) string {
	return epochKey(thread, epoch) + string(id)
}

// epochKey returns the beginning of the keys of an epoch.
func epochKey(thread, epoch string) string { return thread + "/" + epoch + "/" }

func (a artifactRow) artifact(id spool.ArtifactID) spool.Artifact {
	return spool.Artifact{ID: id, Name: a.Name, MediaType: a.MediaType, Size: a.Size}
}

// OpenArtifact implements [store.ArtifactStore].
func (s *Store) OpenArtifact(
	ctx context.Context, key spool.ThreadKey, id spool.ArtifactID,
) (spool.Artifact, io.ReadCloser, error) {
	if !validID.MatchString(string(id)) {
		return spool.Artifact{}, nil, notFound(nil)
	}
	one := &save{Store: s, key: key, artifact: spool.Artifact{ID: id}}
	_, found, err := one.existing(ctx)
	switch {
	case err != nil:
		return spool.Artifact{}, nil, err
	case !found.exists():
		return spool.Artifact{}, nil, notFound(nil)
	}
	data, err := s.openBlob(ctx, blobKey(key.Tenant, found.Value.Sum, found.Value.Generation))
	if err != nil {
		if spool.CodeOf(err) == spool.NotFound { // the thread was deleted in the meantime
			err = notFound(err)
		}
		return spool.Artifact{}, nil, err
	}
	return found.Value.artifact(id), data, nil
}

// openBlob returns the data of a key, also of one that was stored in the earlier place.
func (s *Store) openBlob(ctx context.Context, key string) (io.ReadCloser, error) {
	data, err := s.blobs.OpenBlob(ctx, key)
	if s.options.Earlier != nil && spool.CodeOf(err) == spool.NotFound {
		return s.options.Earlier.OpenBlob(ctx, key)
	}
	return data, err
}

// deleteBlob removes a key from both places.
func (s *Store) deleteBlob(ctx context.Context, key string) error {
	err := s.blobs.DeleteBlob(ctx, key)
	if s.options.Earlier != nil {
		err = errors.Join(err, s.options.Earlier.DeleteBlob(ctx, key))
	}
	return err
}

// Artifacts implements [store.ArtifactStore].
func (s *Store) Artifacts(ctx context.Context, key spool.ThreadKey) ([]spool.Artifact, error) {
	thread, err := read[threadRow](ctx, s, key.Tenant, kindThread, hashed(string(key.ID)))
	if err != nil || thread.Value.Epoch == "" {
		return nil, err
	}
	var all []spool.Artifact
	begin := epochKey(thread.Key, thread.Value.Epoch)
	q := store.RowQuery{Tenant: key.Tenant, Kind: kindArtifact, After: begin, Limit: pageSize}
	for {
		page, err := list[artifactRow](ctx, s, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			id, ok := strings.CutPrefix(r.Key, begin)
			if !ok {
				return all, nil
			}
			all = append(all, r.Value.artifact(spool.ArtifactID(id)))
			q.After = r.Key
		}
		if len(page) < pageSize {
			return all, nil
		}
	}
}

func notFound(err error) error {
	return &spool.Error{Code: spool.NotFound, Message: "artifact not found", Err: err}
}
