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

// walSuffix ends the name of SQLite's log, the write-ahead log.
const walSuffix = "-wal"

// The sizes and numbers of SQLite's file format, section 4 ("The Write-Ahead Log").
const (
	walHeaderSize  = 32
	walFrameHeader = 24
	walMagic       = 0x377f0682 // with 1 added where the sums are of big-endian words
)

// maxResets bounds by how much the first salt of a log may be ahead of the one that was
// written down. Each time that SQLite begins the log anew it adds one.
const maxResets = 1 << 16

// walFile is what the header of a log says.
type walFile struct {
	size int64 // 0 for a log that is missing or empty
	// sound is true when the header's sum is right. A log whose header is not is taken for an
	// empty one by SQLite.
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

// follows reports whether the log is the one that began with a salt, or a later one of the
// same process.
func (w *walFile) follows(salt uint32) bool { return w.salt-salt < maxResets }

// holed reports whether the log is damaged in front of writes that were acknowledged.
//
// A crash leaves at most one transaction by half, the last: each is on disk before the next
// begins. So the damage is no crash's when a transaction that begins behind it is whole.
// SQLite would drop that one together with the damaged one.
func (w *walFile) holed(path string) (bool, error) {
	f, err := os.Open(path + walSuffix)
	if err != nil {
		return false, spool.Wrap(spool.Unavailable, "the log of the database cannot be read", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	if _, err := in.Discard(walHeaderSize); err != nil {
		return false, nil // too short: nothing is in it
	}
	frame := make([]byte, walFrameHeader+w.pageSize)
	var (
		sums   = w.sums // what the frame before says of itself
		broken bool     // a frame was not what its sum says
		ended  bool     // a transaction ended behind that
	)
	for {
		if _, err := io.ReadFull(in, frame); err != nil {
			return false, nil // the end of the log, or a frame that was cut off there
		}
		said := [2]uint32{binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])}
		ours := [8]byte(frame[8:16]) == w.salts
		sums = walSums(w.order, sums, frame[:8])
		sums = walSums(w.order, sums, frame[walFrameHeader:])
		whole := ours && sums == said
		if whole && ended {
			return true, nil
		}
		broken = broken || !whole
		// The frame that ends a transaction says how many pages the database then has.
		ended = broken && ours && binary.BigEndian.Uint32(frame[4:]) != 0
		sums = said
	}
}

// walSums goes on with the two sums of a log over data, whose length is a multiple of 8.
func walSums(order binary.ByteOrder, sums [2]uint32, data []byte) [2]uint32 {
	a, b := sums[0], sums[1]
	for ; len(data) >= 8; data = data[8:] {
		a += order.Uint32(data) + b
		b += order.Uint32(data[4:]) + a
	}
	return [2]uint32{a, b}
}
