package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"

	"github.com/spoolhq/spool"
)

const (
	// memoryBytes is how much of an artifact is kept in memory while it is read. More is in a temporary file.
	memoryBytes = 256 << 10
	// smallBytes is the bound of a store that needs no temporary files.
	smallBytes = 1 << 20
)

// data are the bytes of an artifact, which were read to their end.
type data struct {
	size int64
	sum  [sha256.Size]byte
	head []byte
	file *os.File
}

// collect reads data to their end, or to the first byte behind most. An error of the reader is returned as it is.
func collect(ctx context.Context, from io.Reader, dir string, most int64) (*data, error) {
	hash, memory := sha256.New(), int64(memoryBytes)
	if most <= smallBytes {
		memory = most + 1
	}
	from = io.TeeReader(io.LimitReader(reader{ctx, from}, most+1), hash)
	head, err := io.ReadAll(io.LimitReader(from, memory))
	if err != nil {
		return nil, err
	}
	d := &data{size: int64(len(head)), head: head}
	if d.size == memory && d.size <= most {
		if err := d.spill(from, dir); err != nil {
			d.close()
			return nil, err
		}
	}
	if d.size > most {
		d.close()
		return nil, spool.Errorf(spool.Limit, "the artifact is larger than %d bytes", most)
	}
	d.sum = [sha256.Size]byte(hash.Sum(nil))
	return d, nil
}

// spill writes what follows the head to a file.
func (d *data) spill(from io.Reader, dir string) error {
	f, err := os.CreateTemp(dir, "spool-artifact-*.tmp")
	if err != nil {
		return unwritten(err)
	}
	d.file = f
	// Without a name, the file ends with the process, also one that is killed. Windows keeps it until close.
	_ = os.Remove(f.Name())
	out := &writer{File: f}
	n, err := io.Copy(out, from)
	d.size += n
	if out.err != nil {
		return unwritten(out.err)
	}
	return err
}

func unwritten(err error) error {
	return &spool.Error{
		Code: spool.Unavailable, Message: "the data of an artifact cannot be kept while they are read", Err: err,
	}
}

// writer knows whether an error is its own.
type writer struct {
	*os.File

	err error
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	w.err = err
	return n, err
}

// ReadFrom keeps [io.Copy] from the method of the file, which would mix the errors.
func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{w}, r)
}

// reader returns the data from their beginning.
func (d *data) reader() io.Reader {
	if d.file == nil {
		return bytes.NewReader(d.head)
	}
	return io.MultiReader(bytes.NewReader(d.head), io.NewSectionReader(d.file, 0, d.size-int64(len(d.head))))
}

func (d *data) close() {
	if d.file != nil {
		_ = errors.Join(d.file.Close(), os.Remove(d.file.Name()))
	}
}

// reader ends with the error of its context.
type reader struct {
	ctx context.Context //nolint:containedctx // it is the context of one save
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
