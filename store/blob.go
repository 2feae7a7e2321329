package store

import (
	"context"
	"io"
)

// Blobs stores the data of artifacts under keys. The artifact store above it has the names, the types, the quotas and
// the references: a key is never used again for other data, and never again after it was deleted.
//
// A key has up to 200 bytes: lower-case letters, digits, - and /, without an empty element. It does not have the text
// of a tenant or a thread. Blobs is safe for concurrent use, also by several processes.
type Blobs interface {
	// PutBlob stores data of a size, which are durable when it returns. Data of another size than size are an
	// [spool.Invalid] error. A key that is stored already has the same data: its put changes nothing. After an error,
	// the key may be stored or not.
	PutBlob(ctx context.Context, key string, data io.Reader, size int64) error
	// OpenBlob returns the data of a key, which the caller closes. It returns a [spool.NotFound] error for a key that is
	// not stored. Data that are deleted while they are read end with an error, and never early without one.
	OpenBlob(ctx context.Context, key string) (io.ReadCloser, error)
	// DeleteBlob removes a key. One that is not stored is no error.
	DeleteBlob(ctx context.Context, key string) error
}
