package spooltest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Artifacts is a [store.ArtifactStore] in memory. The zero value is empty.
type Artifacts struct {
	mu  sync.Mutex
	all map[spool.ThreadKey]map[spool.ArtifactID]stored
}

type stored struct {
	spool.Artifact

	data []byte
}

var _ store.ArtifactStore = (*Artifacts)(nil)

// SaveArtifact implements [store.ArtifactStore].
func (s *Artifacts) SaveArtifact(
	ctx context.Context, key spool.ThreadKey, a spool.NewArtifact,
) (spool.Artifact, error) {
	data, err := io.ReadAll(a.Data)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return spool.Artifact{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := spool.ArtifactIDOf(a.Key, sha256.Sum256(data))
	if first, ok := s.all[key][id]; ok {
		return first.Artifact, nil
	}
	if s.all == nil {
		s.all = make(map[spool.ThreadKey]map[spool.ArtifactID]stored)
	}
	if s.all[key] == nil {
		s.all[key] = make(map[spool.ArtifactID]stored)
	}
	saved := spool.Artifact{ID: id, Name: a.Name, MediaType: a.MediaType, Size: int64(len(data))}
	s.all[key][id] = stored{saved, data}
	return saved, nil
}

// OpenArtifact implements [store.ArtifactStore].
func (s *Artifacts) OpenArtifact(
	_ context.Context, key spool.ThreadKey, id spool.ArtifactID,
) (spool.Artifact, io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[key][id]
	if !ok {
		return spool.Artifact{}, nil, spool.Errorf(spool.NotFound, "artifact not found")
	}
	return one.Artifact, io.NopCloser(bytes.NewReader(one.data)), nil
}

// Artifacts implements [store.ArtifactStore].
func (s *Artifacts) Artifacts(_ context.Context, key spool.ThreadKey) ([]spool.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]spool.Artifact, 0, len(s.all[key]))
	for one := range maps.Values(s.all[key]) {
		all = append(all, one.Artifact)
	}
	slices.SortFunc(all, func(a, b spool.Artifact) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all, nil
}

// DeleteArtifacts implements [store.ArtifactStore].
func (s *Artifacts) DeleteArtifacts(_ context.Context, key spool.ThreadKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, key)
	return nil
}
