package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"time"

	"github.com/spoolhq/spool/store"
)

// Format is the version of the file's form.
const Format = 1

// Header is the first line of a file.
type Header struct {
	Format int `json:"format"`
	// Version is the version of the program that wrote the file.
	Version string `json:"version"`
	// Source is the kind of database that the file is of.
	Source string `json:"source"`
	// At is when the export began.
	At time.Time `json:"at"`
	// Sections is how many sections the database had then.
	Sections int `json:"sections"`
}

// End is the last line of a section. It says how many rows the section has, and its [Sum].
type End struct {
	Rows   int    `json:"rows"`
	SHA256 string `json:"sha256"`
}

// Trailer is the last line of a file. The checksum is the SHA-256 of those of the sections, each in hex and with a
// line end.
type Trailer struct {
	Sections int    `json:"sections"`
	SHA256   string `json:"sha256"`
}

// line is a line that is not a row.
type line struct {
	Header  *Header        `json:"spoolExport,omitempty"`
	Section *store.Section `json:"section,omitempty"`
	End     *End           `json:"end,omitempty"`
	Trailer *Trailer       `json:"done,omitempty"`
}

func (l line) encode() []byte {
	text, _ := json.Marshal(l) //nolint:errchkjson // it has only texts and numbers
	return text
}

// opening returns the first line of a section.
func opening(s store.Section) []byte { return line{Section: &s}.encode() }

// Writer writes a file.
type Writer struct {
	to    *bufio.Writer
	sums  hash.Hash
	total int
}

// NewWriter writes the header of a file.
func NewWriter(to io.Writer, h Header) (*Writer, error) {
	h.Format, h.At = Format, h.At.UTC().Truncate(time.Second)
	w := &Writer{to: bufio.NewWriterSize(to, 1<<16), sums: sha256.New()}
	return w, w.line(line{Header: &h}.encode())
}

func (w *Writer) line(text []byte) error {
	if _, err := w.to.Write(text); err != nil {
		return err
	}
	return w.to.WriteByte('\n')
}

// Section writes a section of a store. It writes nothing, and returns false, if the store does not have the section
// any more. After an error the file is not whole.
func (w *Writer) Section(ctx context.Context, from store.Archive, s store.Section) (written bool, err error) {
	return w.Rows(s, func(row func(line []byte) error) error { return from.ExportSection(ctx, s, row) })
}

// Rows writes a section with the rows that all calls row with, or nothing if there are none.
func (w *Writer) Rows(s store.Section, all func(row func(line []byte) error) error) (written bool, err error) {
	sum, rows := NewSum(s), 0
	err = all(func(row []byte) error {
		if rows == 0 {
			if err := w.line(opening(s)); err != nil {
				return err
			}
		}
		rows++
		sum.Add(row)
		return w.line(row)
	})
	if err != nil || rows == 0 {
		return false, err
	}
	end := End{Rows: rows, SHA256: sum.String()}
	_, _ = w.sums.Write([]byte(end.SHA256 + "\n"))
	w.total++
	return true, w.line(line{End: &end}.encode())
}

// Close writes the trailer. It does not close the file.
func (w *Writer) Close() error {
	sum := hex.EncodeToString(w.sums.Sum(nil))
	if err := w.line(line{Trailer: &Trailer{Sections: w.total, SHA256: sum}}.encode()); err != nil {
		return err
	}
	return w.to.Flush()
}

// isRow reports whether a line is a row, and not the end of a section.
func isRow(text []byte) bool { return !bytes.HasPrefix(text, []byte(`{"end":`)) }
