package artifact

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// undoTimeout bounds what is done after a failure or for a caller that has gone.
const undoTimeout = 30 * time.Second

// save is one save.
type save struct {
	*Store

	key spool.ThreadKey
	// artifact is what the save makes. If the thread has it already, it becomes the one of the thread.
	artifact spool.Artifact
	sum      string
	data     *data
	// epoch is the one that the thread must have, and gets with its first artifact. Empty: any, and a new one.
	epoch string
}

// SaveArtifact implements [store.ArtifactStore].
func (s *Store) SaveArtifact(ctx context.Context, key spool.ThreadKey, a spool.NewArtifact) (spool.Artifact, error) {
	d, err := collect(ctx, a.Data, s.options.TempDir, s.options.MaxBytes)
	if err != nil {
		return spool.Artifact{}, err
	}
	defer d.close()
	if err := s.register(ctx, key.Tenant); err != nil {
		return spool.Artifact{}, err
	}
	one := &save{
		Store: s, key: key, sum: hex.EncodeToString(d.sum[:]), data: d,
		artifact: spool.Artifact{ID: spool.ArtifactIDOf(a.Key, d.sum), Name: a.Name, MediaType: a.MediaType, Size: d.size},
	}
	if err := one.run(ctx); err != nil {
		return spool.Artifact{}, err
	}
	return one.artifact, nil
}

// run saves the artifact.
func (s *save) run(ctx context.Context) error {
	// Without it, goroutines with the same data would all upload them, and all need room for them.
	unlock, err := s.lanes.lock(ctx, "data "+s.sum+string(s.key.Tenant))
	if err != nil {
		return err
	}
	defer unlock()
	for {
		done, err := s.refer(ctx)
		if err == nil && !done {
			done, err = s.upload(ctx)
		}
		if err != nil || done {
			return err
		}
	}
}

// refer makes the artifact of data that the tenant has, and reports whether it has them.
func (s *save) refer(ctx context.Context) (done bool, err error) {
	end, err := s.link(ctx, "")
	if err != nil {
		if s.find(ctx) {
			return true, nil
		}
		return false, err
	}
	if end != linked {
		return false, nil
	}
	return true, s.again(ctx)
}

// again stores the data of the artifact once more if they are not in their place, as after a change of the place.
func (s *save) again(ctx context.Context) error {
	_, first, err := s.existing(ctx)
	if err != nil || !first.exists() { // the artifact is saved, or the thread was deleted in the meantime
		return nil
	}
	key := blobKey(s.key.Tenant, s.sum, first.Value.Generation)
	stored, err := s.openBlob(ctx, key)
	if err == nil {
		_ = stored.Close()
	}
	if spool.CodeOf(err) != spool.NotFound {
		return nil
	}
	put, cancel := context.WithTimeout(ctx, s.options.Age/2)
	defer cancel()
	return s.blobs.PutBlob(put, key, s.data.reader(), s.data.size)
}

// upload stores the data and makes the artifact. It is not done if the upload took so long that a sweep has removed it.
func (s *save) upload(ctx context.Context) (done bool, err error) {
	generation := newGeneration()
	if err := s.reserve(ctx, generation); err != nil {
		if spool.CodeOf(err) != spool.StorageFull { // the transaction may have been committed
			s.undo(ctx, generation, nothingStored)
		}
		return false, err
	}
	put, cancel := context.WithTimeout(ctx, s.options.Age/2)
	err = s.blobs.PutBlob(put, blobKey(s.key.Tenant, s.sum, generation), s.data.reader(), s.data.size)
	cancel()
	if err != nil {
		s.undo(ctx, generation, maybeStored)
		return false, err
	}
	end, err := s.link(ctx, generation)
	switch {
	case err != nil && !s.undo(ctx, generation, allStored) && s.find(ctx):
		return true, nil // the transaction was committed
	case err != nil:
		return false, err
	case end == lost:
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
		defer cancel()
		return false, s.blobs.DeleteBlob(ctx, blobKey(s.key.Tenant, s.sum, generation))
	case end == twice:
		_ = s.discard(ctx, s.key.Tenant, generation) // a sweep does it again
	}
	return true, nil
}

// reserve takes room for an upload.
func (s *save) reserve(ctx context.Context, generation string) error {
	return s.update(ctx, s.key.Tenant, func() ([]store.Row, error) {
		bytes, err := s.add(ctx, s.key.Tenant, s.data.size)
		if err != nil {
			return nil, err
		}
		up := row[uploadRow]{Kind: kindUpload, Key: generation, Value: uploadRow{Sum: s.sum, Size: s.data.size}}
		return []store.Row{bytes, up.put()}, nil
	})
}

// outcome says what link has done.
type outcome int

const (
	// absent says that the tenant does not have the data.
	absent outcome = iota
	// linked says that the artifact exists.
	linked
	// twice says so too, but that its data are those of another upload.
	twice
	// lost says that a sweep has removed the upload.
	lost
)

// link makes the artifact, with the data of an upload or of an artifact that the tenant has. If the thread has the
// artifact, it only says that somebody has saved it now.
func (s *save) link(ctx context.Context, generation string) (end outcome, err error) {
	err = s.update(ctx, s.key.Tenant, func() (rows []store.Row, err error) {
		thread, first, err := s.existing(ctx)
		if err != nil {
			return nil, err
		}
		if s.epoch != "" && thread.exists() && thread.Value.Epoch != s.epoch {
			return nil, spool.Errorf(spool.Conflict, "the thread %s has other artifacts", s.key.ID)
		}
		if !first.exists() {
			if err := s.fits(ctx); err != nil {
				return nil, err
			}
		}
		blob, err := read[blobRow](ctx, s.Store, s.key.Tenant, kindBlob, s.sum)
		if err != nil {
			return nil, err
		}
		end = linked
		if generation != "" {
			if rows, end, err = s.take(ctx, generation, &blob); err != nil || end == lost {
				return nil, err
			}
		} else if !blob.exists() {
			end = absent
			return nil, nil
		}
		if !thread.exists() || thread.Value.Epoch == "" {
			thread.Value = threadRow{Thread: s.key.ID, Epoch: cmp.Or(s.epoch, newGeneration())}
			check := row[nothing]{Kind: kindCheck, Key: thread.Key}
			rows = append(rows, whatever(check.put()))
		}
		rows = append(rows, thread.put())
		if first.exists() {
			s.artifact = first.Value.artifact(s.artifact.ID)
			return rows, nil
		}
		blob.Value.References++
		made := row[artifactRow]{
			Kind: kindArtifact, Key: artifactKey(thread.Key, thread.Value.Epoch, s.artifact.ID),
			Value: artifactRow{
				Name: s.artifact.Name, MediaType: s.artifact.MediaType, Size: s.artifact.Size, Sum: s.sum,
				Generation: blob.Value.Generation,
			},
		}
		return append(rows, blob.put(), made.put()), nil
	})
	return end, err
}

// fits returns a [spool.Limit] error if the thread has no room for one more artifact. Each save writes the row of the
// thread that it has read before, so what fits counts belongs to that row.
func (s *save) fits(ctx context.Context) error {
	mostBytes, mostFiles := s.options.ThreadBytes, s.options.ThreadFiles
	if mostBytes == 0 && mostFiles == 0 {
		return nil
	}
	all, err := s.Artifacts(ctx, s.key)
	if err != nil {
		return err
	}
	bytes := s.artifact.Size
	for _, a := range all {
		bytes += a.Size
	}
	switch {
	case mostFiles > 0 && len(all) >= mostFiles:
		return spool.Errorf(spool.Limit, "the thread has %d files, and no room for more", len(all))
	case mostBytes > 0 && bytes > mostBytes:
		return spool.Errorf(spool.Limit, "the files of the thread have %d of at most %d bytes, and %d more have no room",
			bytes-s.artifact.Size, mostBytes, s.artifact.Size)
	}
	return nil
}

// take returns the changes that end an upload, whose data become the blob's if there is none.
func (s *save) take(ctx context.Context, generation string, blob *row[blobRow]) ([]store.Row, outcome, error) {
	up, err := read[uploadRow](ctx, s.Store, s.key.Tenant, kindUpload, generation)
	switch {
	case err != nil:
		return nil, lost, err
	case !up.exists():
		return nil, lost, nil
	case !blob.exists():
		blob.Value = blobRow{Generation: generation, Size: s.data.size}
		return []store.Row{up.remove()}, linked, nil
	}
	rows, err := s.drop(ctx, s.key.Tenant, up, false)
	return rows, twice, err
}

// drop returns the changes that give the room of an upload back and make its data garbage.
func (s *Store) drop(ctx context.Context, tenant spool.Tenant, up row[uploadRow], late bool) ([]store.Row, error) {
	bytes, err := s.add(ctx, tenant, -up.Value.Size)
	garbage := row[garbageRow]{Kind: kindGarbage, Key: up.Key, Value: garbageRow{Sum: up.Value.Sum, Late: late}}
	return []store.Row{bytes, up.remove(), garbage.put()}, err
}

// existing returns the row of the thread, and that of the artifact if the thread has it.
func (s *save) existing(ctx context.Context) (row[threadRow], row[artifactRow], error) {
	thread, err := read[threadRow](ctx, s.Store, s.key.Tenant, kindThread, hashed(string(s.key.ID)))
	if err != nil || thread.Value.Epoch == "" {
		return thread, row[artifactRow]{}, err
	}
	first, err := read[artifactRow](ctx, s.Store, s.key.Tenant, kindArtifact,
		artifactKey(thread.Key, thread.Value.Epoch, s.artifact.ID))
	return thread, first, err
}

// find looks for the artifact after a transaction with an unknown outcome.
func (s *save) find(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	_, first, err := s.existing(ctx)
	if err != nil || !first.exists() {
		return false
	}
	s.artifact = first.Value.artifact(s.artifact.ID)
	return true
}

// left says what an upload that ends without an artifact has stored.
type left int

const (
	nothingStored left = iota
	maybeStored
	allStored
)

// undo removes an upload and its data. It reports whether there was such an upload, or whether it cannot know: a sweep
// removes what is left.
func (s *save) undo(ctx context.Context, generation string, l left) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	undone := false
	err := s.update(ctx, s.key.Tenant, func() ([]store.Row, error) {
		up, err := read[uploadRow](ctx, s.Store, s.key.Tenant, kindUpload, generation)
		undone = err != nil || up.exists()
		if err != nil || !up.exists() {
			return nil, err
		}
		rows, err := s.drop(ctx, s.key.Tenant, up, l == maybeStored)
		if l == nothingStored && err == nil {
			rows = rows[:2] // without the garbage
		}
		return rows, err
	})
	switch {
	case err != nil || !undone || l == nothingStored:
	case l == maybeStored: // the row stays, so that a sweep deletes a part that arrives later
		_ = s.blobs.DeleteBlob(ctx, blobKey(s.key.Tenant, s.sum, generation))
	default:
		_ = s.discard(ctx, s.key.Tenant, generation)
	}
	return undone
}

// discard deletes data that are garbage, and then their rows.
func (s *Store) discard(ctx context.Context, tenant spool.Tenant, generations ...string) error {
	var failed error
	var rows []store.Row
	for _, generation := range generations {
		garbage, err := read[garbageRow](ctx, s, tenant, kindGarbage, generation)
		if err == nil && garbage.exists() {
			if err = s.deleteBlob(ctx, blobKey(tenant, garbage.Value.Sum, generation)); err == nil {
				rows = append(rows, whatever(garbage.remove()))
			}
		}
		failed = errors.Join(failed, err)
	}
	if len(rows) > 0 {
		failed = errors.Join(failed, s.write(ctx, spool.ThreadKey{Tenant: tenant}, rows))
	}
	return failed
}
