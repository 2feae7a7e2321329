package s3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/spoolhq/spool/artifact/internal/blob"
)

const (
	bufferedSize = 1 << 20 // data up to here are kept for a second try
	firstWait    = 100 * time.Millisecond
)

// PutBlob implements [store.Blobs].
func (b *Blobs) PutBlob(ctx context.Context, key string, data io.Reader, size int64) error {
	if err := blob.Check(key, size); err != nil {
		return err
	}
	if size <= bufferedSize {
		whole, err := io.ReadAll(blob.NewExact(ctx, data, size))
		if err != nil {
			return err
		}
		data = bytes.NewReader(whole)
	}
	again := restart(data)
	for try := 1; ; try++ {
		err := b.put(ctx, key, data, size)
		if err == nil || try == tries || again == nil || !passing(err) || ctx.Err() != nil {
			return failed(err)
		}
		wait := time.Duration((1 + rand.Float64()) / 2 * float64(firstWait<<(try-1))) //nolint:gosec // it spreads clients
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		if err := again(); err != nil {
			return failed(err)
		}
	}
}

// restart returns a function that goes back to where the data begin, or nil if they can be read once only.
func restart(data io.Reader) func() error {
	seeker, ok := data.(io.Seeker)
	if !ok {
		return nil
	}
	start, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil
	}
	return func() error {
		_, err := seeker.Seek(start, io.SeekStart)
		return err
	}
}

// put makes one request. Errors of the data are returned as they are.
func (b *Blobs) put(ctx context.Context, key string, data io.Reader, size int64) error {
	exact := blob.NewExact(ctx, data, size)
	sent := &body{data: exact}
	_, err := b.client.Client.PutObject(ctx, b.bucket, b.prefix+key, sent, size, minio.PutObjectOptions{
		ContentType: "application/octet-stream", DisableMultipart: true,
	})
	sent.end()
	if err != nil && exact.Err() != nil {
		return dataError{exact.Err()}
	}
	return err
}

// dataError is an error of the data, and not of the service.
type dataError struct{ error }

func (e dataError) Unwrap() error { return e.error }

// passing reports whether the request may succeed when it is made again.
func passing(err error) bool {
	if _, ok := errors.AsType[dataError](err); ok {
		return false
	}
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	return !ok || answer.StatusCode >= http.StatusInternalServerError ||
		answer.StatusCode == http.StatusRequestTimeout || answer.StatusCode == http.StatusTooManyRequests
}

// body is the body of one request. A transport may read a body after it has returned an answer: the body then ends, so
// that it takes nothing from the next request's.
type body struct {
	mu   sync.Mutex
	data io.Reader
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.data == nil {
		return 0, io.ErrClosedPipe
	}
	return b.data.Read(p)
}

func (b *body) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = nil
}
