// Package rows stores the data of artifacts as rows of an engine's own [store.Store], for a small installation: there
// is nothing else to run, to share between machines or to back up. Processes that share the database share the data.
//
// A blob is a head row and parts of 256 KiB, which are base64 in JSON and so take a third more room than the data. A
// part is a transaction of its own. The last one of a put also writes the head, so that a blob appears when it is
// complete. The rows belong to no tenant, so they count for no tenant's storage.
//
// Large files make the database, its backups and its log large. Use a directory or a bucket for them.
package rows

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact/internal/blob"
	"github.com/spoolhq/spool/store"
)

// Options of [Blobs].
type Options struct {
	// MaxBytes bounds the size of one blob: larger ones are a [spool.Limit] error. Defaults to 16 MiB.
	MaxBytes int64
}

// Blobs is a [store.Blobs] over the rows of a store. It is safe for concurrent use, also by several processes.
type Blobs struct {
	db  store.Store
	max int64
}

var _ store.Blobs = (*Blobs)(nil)

// New returns the blobs in a store. Nil options are the defaults.
func New(db store.Store, o *Options) (*Blobs, error) {
	if o == nil {
		o = &Options{}
	}
	switch {
	case db == nil:
		return nil, spool.Errorf(spool.Invalid, "the store is missing")
	case o.MaxBytes < 0:
		return nil, spool.Errorf(spool.Invalid, "MaxBytes is negative")
	}
	return &Blobs{db, cmp.Or(o.MaxBytes, 16<<20)}, nil
}

// The kinds of the rows.
const (
	headKind   = "blob"        // key: that of the blob; value: an upload
	uploadKind = "blob_upload" // a put that has begun; key: that of the blob, a colon, and the id of the upload
	partKind   = "blob_part"   // key: the id of the upload, a colon, and the number of the part
)

const (
	partSize  = 256 << 10
	together  = 4 // parts of a query
	cleanTime = 10 * time.Second
	batch     = 16 // uploads of one key that a transaction removes
	attempts  = 20
)

// upload is the value of a head or of a put that has begun. An upload has its own parts, so puts of one key do not mix.
type upload struct {
	ID       string `json:"id"`
	Size     int64  `json:"size"`
	PartSize int64  `json:"partSize"`
}

func (u upload) parts() int64 { return (u.Size + u.PartSize - 1) / u.PartSize }

// length returns the size of a part.
func (u upload) length(part int64) int64 { return min(u.PartSize, u.Size-part*u.PartSize) }

func (u upload) partKey(part int64) string { return fmt.Sprintf("%s:%08d", u.ID, part) }

// removal returns the changes that remove all parts.
func (u upload) removal() (rows []store.Row) {
	for part := range u.parts() {
		rows = append(rows, store.Row{Kind: partKind, Key: u.partKey(part), Version: store.AnyVersion})
	}
	return rows
}

func (u upload) row(kind, key string) (store.Row, error) {
	value, err := json.Marshal(u)
	return store.Row{Kind: kind, Key: key, Value: value}, err
}

func (b *Blobs) write(ctx context.Context, rows []store.Row) error {
	return b.db.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Rows: rows})
	})
}

// head returns the upload of a key. Its version is zero if the key is not stored.
func (b *Blobs) head(ctx context.Context, key string) (u upload, version int64, err error) {
	heads, err := b.db.Rows(ctx, store.RowQuery{Kind: headKind, Key: key})
	if err != nil || len(heads) == 0 {
		return u, 0, err
	}
	return u, heads[0].Version, decode(heads[0].Value, &u)
}

// PutBlob implements [store.Blobs].
func (b *Blobs) PutBlob(ctx context.Context, key string, data io.Reader, size int64) error {
	if err := blob.Check(key, size); err != nil {
		return err
	}
	if size > b.max {
		return spool.Errorf(spool.Limit, "the blob is larger than %d bytes", b.max)
	}
	if _, version, err := b.head(ctx, key); err != nil || version != 0 {
		return err
	}
	u := upload{ID: rand.Text(), Size: size, PartSize: partSize}
	err := b.put(ctx, key, u, blob.NewExact(ctx, data, size))
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	stored, cleanErr := b.clean(ctx, key, u)
	switch {
	case !errors.Is(err, store.ErrRowChanged):
		return err // DeleteBlob removes the rest, if any
	case stored: // by another put
		return nil
	default:
		return spool.Wrap(spool.Conflict, "the blob was deleted while it was stored", errors.Join(err, cleanErr))
	}
}

// put writes the parts and the head of an upload.
func (b *Blobs) put(ctx context.Context, key string, u upload, data *blob.Exact) error {
	begun, err := u.row(uploadKind, key+":"+u.ID)
	if err != nil {
		return err
	}
	head, err := u.row(headKind, key)
	if err != nil {
		return err
	}
	last := max(u.parts(), 1) - 1
	for part := range last + 1 {
		row, err := u.read(part, data)
		if err != nil {
			return err
		}
		rows := []store.Row{row}
		switch {
		case u.Size == 0:
			rows = []store.Row{head}
		case last == 0:
			rows = append(rows, head)
		case part == 0:
			rows = append(rows, begun)
		case part == last:
			if begun.Version, err = b.begun(ctx, begun.Key); err != nil {
				return err
			}
			begun.Value = nil
			rows = append(rows, begun, head)
		}
		if err := b.write(ctx, rows); err != nil {
			return err
		}
	}
	return nil
}

// begun returns the version of a put that has begun, or [store.ErrRowChanged] if somebody has deleted the blob.
func (b *Blobs) begun(ctx context.Context, key string) (int64, error) {
	rows, err := b.db.Rows(ctx, store.RowQuery{Kind: uploadKind, Key: key})
	switch {
	case err != nil:
		return 0, err
	case len(rows) == 0:
		return 0, store.ErrRowChanged
	}
	return rows[0].Version, nil
}

// read returns the row of the next part.
func (u upload) read(part int64, data *blob.Exact) (store.Row, error) {
	buf := make([]byte, u.length(part))
	var err error
	if len(buf) > 0 {
		_, err = io.ReadFull(data, buf)
	} else {
		_, err = data.Read(make([]byte, 1)) // the data must be at their end
	}
	if data.Err() != nil {
		return store.Row{}, data.Err()
	}
	if err != nil && len(buf) > 0 {
		return store.Row{}, err
	}
	value, err := json.Marshal(buf)
	return store.Row{Kind: partKind, Key: u.partKey(part), Value: value, Version: store.AnyVersion}, err
}

// clean removes what a put that failed has left, and returns whether the key is stored. The put may have succeeded: a
// store may fail after a commit.
func (b *Blobs) clean(ctx context.Context, key string, u upload) (stored bool, err error) {
	changes := u.removal()
	version, err := b.begun(ctx, key+":"+u.ID)
	switch {
	case err == nil:
		// The put has not succeeded, and cannot any more once the row is gone.
		changes = append(changes, store.Row{Kind: uploadKind, Key: key + ":" + u.ID, Version: version})
	case !errors.Is(err, store.ErrRowChanged):
		return false, err
	}
	head, version, err := b.head(ctx, key)
	if err != nil || version != 0 && head.ID == u.ID {
		return err == nil, err
	}
	return version != 0, b.write(ctx, changes)
}

// OpenBlob implements [store.Blobs]. The context is also that of the reads.
func (b *Blobs) OpenBlob(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := blob.CheckKey(key); err != nil {
		return nil, err
	}
	u, version, err := b.head(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case version == 0:
		return nil, blob.NotFound(nil)
	}
	return &reader{ctx: ctx, store: b.db, upload: u}, nil
}

// DeleteBlob implements [store.Blobs]. It also removes what puts of the key have left that did not end.
func (b *Blobs) DeleteBlob(ctx context.Context, key string) error {
	if err := blob.CheckKey(key); err != nil {
		return err
	}
	for range attempts {
		changes, err := b.deletion(ctx, key)
		if err != nil || len(changes) == 0 {
			return err
		}
		if err := b.write(ctx, changes); err != nil && !errors.Is(err, store.ErrRowChanged) {
			return err
		}
	}
	return spool.Errorf(spool.Unavailable, "the blob is being stored")
}

// deletion returns the changes that delete a key. There are none if nothing is left.
func (b *Blobs) deletion(ctx context.Context, key string) (changes []store.Row, err error) {
	stored, err := b.db.Rows(ctx, store.RowQuery{Kind: headKind, Key: key})
	if err != nil {
		return nil, err
	}
	begun, err := b.db.Rows(ctx, store.RowQuery{Kind: uploadKind, After: key + ":", Limit: batch})
	if err != nil {
		return nil, err
	}
	for _, row := range append(stored, begun...) {
		if row.Kind == uploadKind && !strings.HasPrefix(row.Key, key+":") {
			break
		}
		var u upload
		if err := decode(row.Value, &u); err != nil {
			return nil, err
		}
		changes = append(changes, store.Row{Kind: row.Kind, Key: row.Key, Version: row.Version})
		changes = append(changes, u.removal()...)
	}
	return changes, nil
}

// reader reads the parts of an upload.
type reader struct {
	ctx    context.Context //nolint:containedctx // it is the context of one read
	store  store.Store
	upload upload
	next   int64
	rest   []byte
	closed bool
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	if r.closed {
		return 0, io.ErrClosedPipe
	}
	if len(r.rest) == 0 && len(p) > 0 {
		if r.next == r.upload.parts() {
			return 0, io.EOF
		}
		if err := r.load(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// load reads the next parts. One query for several is cheaper: a database looks for the place of the first one only.
func (r *reader) load() error {
	wanted := min(together, r.upload.parts()-r.next)
	q := store.RowQuery{Kind: partKind, After: r.upload.ID + ":", Limit: int(wanted)}
	if r.next > 0 {
		q.After = r.upload.partKey(r.next - 1)
	}
	rows, err := r.store.Rows(r.ctx, q)
	if err != nil {
		return err
	}
	r.rest = make([]byte, 0, min(wanted*r.upload.PartSize, r.upload.Size))
	for n := range wanted {
		data, err := r.upload.data(rows, n, r.next)
		if err != nil && n == 0 {
			return err
		}
		if err != nil { // the next load says so, behind the parts before it
			break
		}
		r.rest = append(r.rest, data...)
		r.next++
	}
	return nil //nolint:nilerr // the next load meets the error again
}

// data returns the data of a part, the n-th of the rows of a query.
func (u upload) data(rows []store.Row, n, part int64) ([]byte, error) {
	if int64(len(rows)) <= n || rows[n].Key != u.partKey(part) {
		return nil, blob.NotFound(errors.New("a part is gone"))
	}
	data, err := bytesOf(rows[n].Value)
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) != u.length(part):
		return nil, errDamaged(nil)
	}
	return data, nil
}

// Close implements [io.Closer].
func (r *reader) Close() error {
	r.closed, r.rest = true, nil
	return nil
}

// bytesOf returns the data of a part. Its JSON is a string of base64 without escapes, which needs no reader of JSON.
func bytesOf(value json.RawMessage) (data []byte, err error) {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		inner := value[1 : len(value)-1]
		data = make([]byte, base64.StdEncoding.DecodedLen(len(inner)))
		if n, err := base64.StdEncoding.Decode(data, inner); err == nil {
			return data[:n], nil
		}
	}
	err = decode(value, &data)
	return data, err
}

func decode(value json.RawMessage, v any) error {
	if err := json.Unmarshal(value, v); err != nil {
		return errDamaged(err)
	}
	if u, ok := v.(*upload); ok && (u.ID == "" || u.Size < 0 || u.PartSize <= 0) {
		return errDamaged(nil)
	}
	return nil
}

func errDamaged(err error) error {
	return &spool.Error{Code: spool.Internal, Message: "a row of a blob is damaged", Err: err}
}
