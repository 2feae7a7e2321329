package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spoolhq/spool"
)

// walSuffix is the suffix of SQLite's log, the write-ahead log.
const walSuffix = "-wal"

// The sizes and numbers of SQLite's file format, section 4 ("The Write-Ahead Log").
const (
	walHeaderSize  = 32
	walFrameHeader = 24
	walMagic       = 0x377f0682 // one higher if the checksums are of big-endian words
)

// maxResets bounds how far the first salt of a log may be ahead of the recorded salt. SQLite adds one
// each time it begins the log anew.
const maxResets = 1 << 16

// walFile is the header of a log.
type walFile struct {
	size int64 // 0 for a log that is missing or empty
	// sound is true if the header's checksum is right. SQLite treats a log with a wrong header as
	// empty.
	sound    bool
	salt     uint32
	pageSize int
	order    binary.ByteOrder
	sums     [2]uint32
	salts    [8]byte
}

// readWAL reads the header of the log of the database at path.
func readWAL(path string) (w walFile, err error) {
	f, err := os.Open(path + walSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return w, nil
	case err != nil:
		return w, spool.Wrap(spool.Unavailable, "the log of the database cannot be read", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return w, spool.Wrap(spool.Unavailable, "the log of the database cannot be read", err)
	}
	w.size = info.Size()
	var head [walHeaderSize]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return w, nil // too short: not sound
	}
	w.parse(head)
	return w, nil
}

func (w *walFile) parse(head [walHeaderSize]byte) {
	w.order = binary.ByteOrder(binary.LittleEndian)
	magic := binary.BigEndian.Uint32(head[:])
	if magic&1 == 1 {
		w.order = binary.BigEndian
	}
	w.sums = walSums(w.order, [2]uint32{}, head[:24])
	w.salt = binary.BigEndian.Uint32(head[16:])
	w.salts = [8]byte(head[16:24])
	size := binary.BigEndian.Uint32(head[8:])
	w.pageSize = int(size)
	w.sound = magic&^1 == walMagic && size >= 512 && size <= 65536 && size&(size-1) == 0 &&
		w.sums == [2]uint32{binary.BigEndian.Uint32(head[24:]), binary.BigEndian.Uint32(head[28:])}
}

// follows reports whether the log began with the given salt, or is a later log of the same process.
func (w *walFile) follows(salt uint32) bool { return w.salt-salt < maxResets }

// holed reports whether the log is damaged before writes that were acknowledged.
//
// A crash leaves at most one incomplete transaction, the last one, because each transaction is on disk
// before the next begins. So if a complete transaction follows the damage, the damage does not come
// from a crash. SQLite would drop the complete transaction together with the damaged one.
func (w *walFile) holed(path string) (bool, error) {
	f, err := os.Open(path + walSuffix)
	if err != nil {
		return false, spool.Wrap(spool.Unavailable, "the log of the database cannot be read", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	if _, err := in.Discard(walHeaderSize); err != nil {
		return false, nil // too short to contain a write
	}
	frame := make([]byte, walFrameHeader+w.pageSize)
	var (
		sums   = w.sums // the previous frame's checksums
		broken bool     // a frame does not match its checksums
		ended  bool     // a transaction has ended after that frame
	)
	for {
		if _, err := io.ReadFull(in, frame); err != nil {
			return false, nil // the end of the log, or of a frame that was cut off
		}
		stored := [2]uint32{binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])}
		ours := [8]byte(frame[8:16]) == w.salts
		sums = walSums(w.order, sums, frame[:8])
		sums = walSums(w.order, sums, frame[walFrameHeader:])
		whole := ours && sums == stored
		if whole && ended {
			return true, nil
		}
		broken = broken || !whole
		// The last frame of a transaction contains the new number of pages of the database.
		ended = broken && ours && binary.BigEndian.Uint32(frame[4:]) != 0
		sums = stored
	}
}

// walSums continues the two checksums of a log with data, whose length is a multiple of 8.
func walSums(order binary.ByteOrder, sums [2]uint32, data []byte) [2]uint32 {
	a, b := sums[0], sums[1]
	for ; len(data) >= 8; data = data[8:] {
		a += order.Uint32(data) + b
		b += order.Uint32(data[4:]) + a
	}
	return [2]uint32{a, b}
}
