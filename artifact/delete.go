package artifact

import (
	"context"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// DeleteArtifacts implements [store.ArtifactStore].
func (s *Store) DeleteArtifacts(ctx context.Context, key spool.ThreadKey) error {
	rows, remove := s.RetireArtifacts(key)
	if err := s.write(ctx, spool.ThreadKey{Tenant: key.Tenant}, rows); err != nil {
		return err
	}
	return remove(ctx)
}

// RetireArtifacts implements [store.ArtifactRetirer].
func (s *Store) RetireArtifacts(key spool.ThreadKey) (rows []store.Row, remove func(ctx context.Context) error) {
	name := hashed(string(key.ID))
	thread := row[threadRow]{Kind: kindThread, Key: name, Version: store.AnyVersion, Value: threadRow{Thread: key.ID}}
	return retire(thread), func(ctx context.Context) error { return s.reap(ctx, key.Tenant, name) }
}

// retire returns the changes that end the epoch of a thread.
func retire(thread row[threadRow]) []store.Row {
	thread.Value.Epoch = ""
	check := row[nothing]{Kind: kindCheck, Key: thread.Key}
	rows := []store.Row{thread.put(), whatever(check.put())}
	ordered(rows)
	return rows
}

// reapSize bounds the artifacts that one transaction removes.
const reapSize = 32

// reap removes the artifacts of a thread's earlier epochs, and the thread's rows if it has no other ones.
func (s *Store) reap(ctx context.Context, tenant spool.Tenant, name string) error {
	for {
		var freed []string
		more := true
		err := s.update(ctx, tenant, func() (rows []store.Row, err error) {
			freed = nil
			thread, err := read[threadRow](ctx, s, tenant, kindThread, name)
			if err != nil {
				return nil, err
			}
			old, err := s.earlier(ctx, tenant, thread)
			if err != nil {
				return nil, err
			}
			if more = len(old) > 0; more {
				rows, freed, err = s.release(ctx, tenant, old)
				return rows, err
			}
			return s.forget(ctx, tenant, thread)
		})
		if err != nil {
			return err
		}
		if err := s.discard(ctx, tenant, freed...); err != nil {
			return err
		}
		if !more {
			return nil
		}
	}
}

// forget returns the changes that remove the rows of a thread that has no artifacts.
func (s *Store) forget(ctx context.Context, tenant spool.Tenant, thread row[threadRow]) (rows []store.Row, err error) {
	if thread.Value.Epoch != "" {
		return nil, nil
	}
	mark, err := read[nothing](ctx, s, tenant, kindCheck, thread.Key)
	if err == nil && mark.exists() {
		rows = append(rows, mark.remove())
	}
	if thread.exists() {
		rows = append(rows, thread.remove())
	}
	return rows, err
}

// earlier returns some artifacts of a thread that are not of its epoch.
func (s *Store) earlier(ctx context.Context, tenant spool.Tenant, thread row[threadRow]) ([]row[artifactRow], error) {
	var old []row[artifactRow]
	begin, now := thread.Key+"/", epochKey(thread.Key, thread.Value.Epoch)
	q := store.RowQuery{Tenant: tenant, Kind: kindArtifact, After: begin, Limit: pageSize}
	for {
		page, err := list[artifactRow](ctx, s, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			q.After = r.Key
			switch {
			case !strings.HasPrefix(r.Key, begin), len(old) == reapSize:
				return old, nil
			case !strings.HasPrefix(r.Key, now):
				old = append(old, r)
			}
		}
		if len(page) < pageSize {
			return old, nil
		}
	}
}

// release returns the changes that remove artifacts, and the generations of the data that no artifact has any more.
func (s *Store) release(
	ctx context.Context, tenant spool.Tenant, old []row[artifactRow],
) (rows []store.Row, freed []string, err error) {
	blobs := make(map[string]*row[blobRow])
	for _, a := range old {
		rows = append(rows, a.remove())
		blob := blobs[a.Value.Sum]
		if blob == nil {
			one, err := read[blobRow](ctx, s, tenant, kindBlob, a.Value.Sum)
			if err != nil {
				return nil, nil, err
			}
			blob = &one
			blobs[a.Value.Sum] = blob
		}
		blob.Value.References--
	}
	var bytes int64
	for sum, blob := range blobs {
		switch {
		case !blob.exists(): // another process has removed the artifact
		case blob.Value.References > 0:
			rows = append(rows, blob.put())
		default:
			garbage := row[garbageRow]{Kind: kindGarbage, Key: blob.Value.Generation, Value: garbageRow{Sum: sum}}
			rows = append(rows, blob.remove(), garbage.put())
			freed = append(freed, garbage.Key)
			bytes += blob.Value.Size
		}
	}
	if bytes > 0 {
		given, err := s.add(ctx, tenant, -bytes)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, given)
	}
	return rows, freed, nil
}
