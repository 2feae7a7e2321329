package artifact

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// The kinds of rows. Those of a tenant agree with each other after each transaction: the account has the bytes of all
// blobs and uploads, and a blob has as many references as artifacts have its sum.
const (
	// kindArtifact has the artifacts, by the name of their thread, its epoch and their id.
	kindArtifact = "artifact"
	// kindThread has the threads that have artifacts, by their names.
	kindThread = "artifact_thread"
	// kindCheck has the names of the threads that a sweep looks at: new ones, and those that were deleted.
	kindCheck = "artifact_check"
	// kindBlob has the stored data, by their sum.
	kindBlob = "artifact_blob"
	// kindUpload has the data that are no artifact yet, by their generation.
	kindUpload = "artifact_upload"
	// kindGarbage has the data that are no artifact any more, by their generation.
	kindGarbage = "artifact_garbage"
	// kindAccount has the bytes of the tenant, in one row.
	kindAccount = "artifact_account"
	// kindTenant has the tenants. Its rows are those of the empty tenant.
	kindTenant = "artifact_tenant"

	accountKey = "bytes"
)

type (
	artifactRow struct {
		Name       string `json:"name,omitempty"`
		MediaType  string `json:"mediaType"`
		Size       int64  `json:"size"`
		Sum        string `json:"sum"`
		Generation string `json:"generation"`
	}
	threadRow struct {
		Thread spool.ThreadID `json:"thread"`
		// Epoch begins with the first artifact, and ends when the thread is deleted. Empty: the thread was deleted and
		// has had no artifact since. Artifacts of other epochs are to be removed.
		Epoch string `json:"epoch,omitempty"`
	}
	blobRow struct {
		Generation string `json:"generation"`
		Size       int64  `json:"size"`
		References int    `json:"references"`
	}
	uploadRow struct {
		Sum  string `json:"sum"`
		Size int64  `json:"size"`
	}
	garbageRow struct {
		Sum string `json:"sum"`
		// Late says that the upload failed, and that a part of it may still arrive.
		Late bool `json:"late,omitempty"`
	}
	account struct {
		Bytes int64 `json:"bytes"`
	}
	nothing struct{}
)

// row is a row whose value has been read. Version zero says that there is no such row.
type row[V any] struct {
	Kind, Key string
	Version   int64
	At        time.Time
	Value     V
}

func (r row[V]) exists() bool { return r.Version != 0 }

// put returns the change that writes the value, if nobody else has written the row.
func (r row[V]) put() store.Row {
	value, _ := json.Marshal(r.Value) //nolint:errchkjson // texts and numbers
	return store.Row{Kind: r.Kind, Key: r.Key, Value: value, Version: r.Version}
}

// remove returns the change that removes the row, if nobody else has written it.
func (r row[V]) remove() store.Row { return store.Row{Kind: r.Kind, Key: r.Key, Version: r.Version} }

// whatever returns the change without its condition.
func whatever(r store.Row) store.Row {
	r.Version = store.AnyVersion
	return r
}

// read returns one row of a tenant.
func read[V any](ctx context.Context, s *Store, tenant spool.Tenant, kind, key string) (row[V], error) {
	found, err := list[V](ctx, s, store.RowQuery{Tenant: tenant, Kind: kind, Key: key})
	if err != nil || len(found) == 0 {
		return row[V]{Kind: kind, Key: key}, err
	}
	return found[0], nil
}

// list returns rows of a tenant.
func list[V any](ctx context.Context, s *Store, q store.RowQuery) ([]row[V], error) {
	rows, err := s.store.Rows(ctx, q)
	if err != nil {
		return nil, err
	}
	found := make([]row[V], 0, len(rows))
	for _, r := range rows {
		one := row[V]{Kind: r.Kind, Key: r.Key, Version: r.Version, At: r.UpdatedAt}
		if err := json.Unmarshal(r.Value, &one.Value); err != nil {
			return nil, &spool.Error{Code: spool.Internal, Message: "a row of the artifacts is broken", Err: err}
		}
		found = append(found, one)
	}
	return found, nil
}

// pageSize bounds the rows of a query.
const pageSize = 100

// each calls fn with all rows of a kind, page by page.
func each[V any](ctx context.Context, s *Store, tenant spool.Tenant, kind string, fn func(row[V]) error) error {
	var failed error
	q := store.RowQuery{Tenant: tenant, Kind: kind, Limit: pageSize}
	for {
		page, err := list[V](ctx, s, q)
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, r := range page {
			if err := fn(r); err != nil {
				failed = errors.Join(failed, err)
			}
			q.After = r.Key
		}
		if len(page) < pageSize || ctx.Err() != nil {
			return failed
		}
	}
}

// update writes the rows that fn returns. It calls fn again when somebody else has written one of them since fn read
// it. Without rows it writes nothing.
func (s *Store) update(ctx context.Context, tenant spool.Tenant, fn func() ([]store.Row, error)) error {
	unlock, err := s.lanes.lock(ctx, "tenant "+string(tenant))
	if err != nil {
		return err
	}
	defer unlock()
	for try := 0; ; try++ {
		rows, err := fn()
		if err != nil || len(rows) == 0 {
			return err
		}
		err = s.write(ctx, spool.ThreadKey{Tenant: tenant}, rows)
		if !errors.Is(err, store.ErrRowChanged) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// write writes rows in one transaction. Their order is the same in all transactions, so that none waits for another in
// a circle.
func (s *Store) write(ctx context.Context, key spool.ThreadKey, rows []store.Row) error {
	ordered(rows)
	return s.store.Update(ctx, key, 0, func(tx store.Tx) error { return tx.Write(store.Changes{Rows: rows}) })
}

func ordered(rows []store.Row) {
	slices.SortFunc(rows, func(a, b store.Row) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Key, b.Key))
	})
}

// maxPause bounds the delay before a transaction is tried again.
const maxPause = 50 * time.Millisecond

// pause waits for a random time, so that the writers of a tenant do not meet again.
func pause(ctx context.Context, try int) error {
	most := min(time.Millisecond<<min(try, 10), maxPause)
	n, err := rand.Int(rand.Reader, big.NewInt(int64(most)))
	if err != nil {
		return err
	}
	timer := time.NewTimer(time.Duration(n.Int64()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// hashed returns a name of a tenant or a thread, which its text cannot be read from.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func newGeneration() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// blobKey returns the key of data.
func blobKey(tenant spool.Tenant, sum, generation string) string {
	return hashed(string(tenant)) + "/" + sum[:2] + "/" + sum + "-" + generation
}

// add returns the change of the tenant's bytes. It reads the row at most once for a transaction.
func (s *Store) add(ctx context.Context, tenant spool.Tenant, bytes int64) (store.Row, error) {
	all, err := read[account](ctx, s, tenant, kindAccount, accountKey)
	if err != nil {
		return store.Row{}, err
	}
	all.Value.Bytes += bytes
	if bytes > 0 && s.options.Quota > 0 && all.Value.Bytes > s.options.Quota {
		return store.Row{}, spool.Errorf(spool.StorageFull,
			"the artifacts of the tenant have %d of at most %d bytes, and %d more have no room: delete threads to make room",
			all.Value.Bytes-bytes, s.options.Quota, bytes)
	}
	return all.put(), nil
}
