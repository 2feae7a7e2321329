package sqlite

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spoolhq/spool"
)

// roomNeeded is how many bytes must fit on the disk: what a start with a long prompt writes, including
// its part of the log.
const roomNeeded = 1 << 20

// Check implements [store.Store]. It writes a file next to the database and removes it. A
// full disk, a quota and a read-only disk refuse that file as they would refuse a start. The file is
// not synced.
func (db *DB) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return spool.Wrap(spool.Canceled, "canceled", err)
	}
	path := db.path + ".room"
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return noRoom(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return noRoom(err)
	}
	return errors.Join(noRoom(errors.Join(fill(f, roomNeeded), f.Close())), noRoom(os.Remove(path)))
}

// fill writes n bytes.
func fill(w io.Writer, n int) error {
	zeros := make([]byte, 64<<10)
	for n > 0 {
		wrote, err := w.Write(zeros[:min(n, len(zeros))])
		if err != nil {
			return err
		}
		n -= wrote
	}
	return nil
}

func noRoom(err error) error {
	return spool.Wrap(spool.Unavailable, "the disk has no room: starts are refused", err)
}
