// Package blob has the checks that all stores of blobs share: those of keys, and of the size of data.
package blob

import (
	"context"
	"io"
	"regexp"

	"github.com/spoolhq/spool"
)

const maxKey = 200

var validKey = regexp.MustCompile(`^[a-z0-9-]+(/[a-z0-9-]+)*$`)

// CheckKey returns an [spool.Invalid] error for a text that is not a key of [store.Blobs].
func CheckKey(key string) error {
	if len(key) > maxKey || !validKey.MatchString(key) {
		return spool.Errorf(spool.Invalid,
			"a key of a blob has 1 to %d bytes: lower-case letters, digits, - and /, without an empty element", maxKey)
	}
	return nil
}

// Check returns an [spool.Invalid] error for a key or a size that [store.Blobs] cannot have.
func Check(key string, size int64) error {
	if size < 0 {
		return spool.Errorf(spool.Invalid, "the size of a blob is negative")
	}
	return CheckKey(key)
}

// NotFound returns the error for a key that is not stored.
func NotFound(err error) error {
	return &spool.Error{Code: spool.NotFound, Message: "blob not found", Err: err}
}

// Exact reads data of a size. It ends with an [spool.Invalid] error if the data have another size, with the error of
// the data, or with that of its context. Before such an error it never yields as many bytes as the size, so that a peer
// that counts bytes does not take data that are too long for complete. An Exact of the size zero must be read too.
type Exact struct {
	ctx  context.Context //nolint:containedctx // it is the context of one put
	data io.Reader
	size int64
	left int64
	err  error
}

// NewExact returns a reader of data of a size.
func NewExact(ctx context.Context, data io.Reader, size int64) *Exact {
	return &Exact{ctx: ctx, data: data, size: size, left: size}
}

// Read implements [io.Reader].
func (e *Exact) Read(p []byte) (int, error) {
	if e.err == nil {
		e.err = e.ctx.Err()
	}
	if e.err != nil || len(p) == 0 {
		return 0, e.err
	}
	n, err := 0, error(nil)
	if e.left > 0 {
		n, err = e.data.Read(p[:min(int64(len(p)), e.left)])
		e.left -= int64(n)
	}
	switch {
	case e.left > 0 && ends(err):
		e.err = e.wrong()
	case e.left > 0:
		e.err = err
	case err == nil:
		e.err = e.end()
	default:
		e.err = err
	}
	if e.err != nil && !ends(e.err) {
		return 0, e.err
	}
	return n, nil
}

// ends reports whether a reader returned the end of its data. An error that wraps [io.EOF] is a failure.
func ends(err error) bool { return err == io.EOF } //nolint:errorlint // see above

// end returns [io.EOF] if the data have no more bytes.
func (e *Exact) end() error {
	for {
		n, err := e.data.Read(make([]byte, 1))
		switch {
		case e.ctx.Err() != nil:
			return e.ctx.Err()
		case n > 0:
			return e.wrong()
		case err != nil:
			return err
		}
	}
}

func (e *Exact) wrong() error {
	return spool.Errorf(spool.Invalid, "the data do not have the size %d", e.size)
}

// Err returns the error with which the reader ended, or nil if it has not ended or has read the data.
func (e *Exact) Err() error {
	if ends(e.err) {
		return nil
	}
	return e.err
}
