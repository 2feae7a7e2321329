package artifact

import (
	"context"
	"encoding/hex"
	"io"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Archived is an artifact as an archive has it.
type Archived struct {
	spool.Artifact

	// SHA256 is the checksum of the data, in hex.
	SHA256 string
	// Epoch is the time between two deletions of the thread that the artifact belongs to. Empty: the thread's own.
	Epoch string
}

// Archive calls write with each artifact of a thread and its data, by their ids. The data were compared with their
// checksum, so nothing is written of damaged ones. Archive returns the artifacts whose data are missing or damaged, and
// write's error unchanged.
func (s *Store) Archive(
	ctx context.Context, key spool.ThreadKey, write func(a Archived, data io.Reader) error,
) (lost []spool.Artifact, err error) {
	all, err := s.Artifacts(ctx, key)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		one := &save{Store: s, key: key, artifact: a}
		thread, found, err := one.existing(ctx)
		switch {
		case err != nil:
			return lost, err
		case !found.exists(): // the thread was deleted in the meantime
			return lost, nil
		}
		d, err := s.stored(ctx, key.Tenant, found.Value)
		switch {
		case spool.CodeOf(err) == spool.NotFound:
			lost = append(lost, a)
			continue
		case err != nil:
			return lost, err
		}
		err = write(Archived{a, found.Value.Sum, thread.Value.Epoch}, d.reader())
		d.close()
		if err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// stored reads the data of an artifact to their end. Data that are missing or damaged are a [spool.NotFound] error.
func (s *Store) stored(ctx context.Context, tenant spool.Tenant, a artifactRow) (*data, error) {
	from, err := s.openBlob(ctx, blobKey(tenant, a.Sum, a.Generation))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	d, err := collect(ctx, from, s.options.TempDir, a.Size)
	switch {
	case spool.CodeOf(err) == spool.Limit:
		return nil, notFound(err)
	case err != nil:
		return nil, err
	case hex.EncodeToString(d.sum[:]) != a.Sum:
		d.close()
		return nil, notFound(nil)
	}
	return d, nil
}

// Restore saves an artifact of an archive as SaveArtifact does, with its id and its epoch. It returns false if the
// thread has the artifact. It returns a [spool.Conflict] error if the thread has artifacts of another epoch, and an
// [spool.Invalid] error if the data have another size or checksum.
func (s *Store) Restore(ctx context.Context, key spool.ThreadKey, a Archived, from io.Reader) (added bool, err error) {
	if !validID.MatchString(string(a.ID)) {
		return false, spool.Errorf(spool.Invalid, "%q is no id of an artifact", a.ID)
	}
	if err := s.register(ctx, key.Tenant); err != nil {
		return false, err
	}
	one := &save{Store: s, key: key, sum: a.SHA256, artifact: a.Artifact, epoch: a.Epoch}
	thread, first, err := one.existing(ctx)
	switch {
	case err != nil:
		return false, err
	case first.exists() && first.Value.Sum != a.SHA256:
		return false, spool.Errorf(spool.Conflict, "the thread has another artifact %s", a.ID)
	case thread.exists() && thread.Value.Epoch == "": // artifacts of the same epoch may be left
		err = s.reap(ctx, key.Tenant, thread.Key)
	}
	if err != nil {
		return false, err
	}
	d, err := collect(ctx, from, s.options.TempDir, s.options.MaxBytes)
	if err != nil {
		return false, err
	}
	defer d.close()
	if d.size != a.Size || hex.EncodeToString(d.sum[:]) != a.SHA256 {
		return false, spool.Errorf(spool.Invalid, "the data of the artifact %s have another checksum", a.ID)
	}
	one.data = d
	err = one.run(ctx)
	return err == nil && !first.exists(), err
}

// Withdraw removes artifacts of a thread, which exists or not. It is for those that [Store.Restore] has added for a
// thread that is then refused.
func (s *Store) Withdraw(ctx context.Context, key spool.ThreadKey, ids ...spool.ArtifactID) error {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for some := range slices.Chunk(ids, reapSize) {
		var freed []string
		err := s.update(ctx, key.Tenant, func() (rows []store.Row, err error) {
			var old []row[artifactRow]
			freed = nil
			for _, id := range some {
				one := &save{Store: s, key: key, artifact: spool.Artifact{ID: id}}
				_, found, err := one.existing(ctx)
				if err != nil {
					return nil, err
				}
				if found.exists() {
					old = append(old, found)
				}
			}
			rows, freed, err = s.release(ctx, key.Tenant, old)
			return rows, err
		})
		if err != nil {
			return err
		}
		if err := s.discard(ctx, key.Tenant, freed...); err != nil {
			return err
		}
	}
	return nil
}
