package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Reader reads a file. It checks everything before it returns it. Its errors have the code [spool.Invalid] for a
// file that is cut, damaged or of a later version, and name the line and the section.
type Reader struct {
	from   *bufio.Reader
	header Header
	sums   hash.Hash
	total  int
	// at is the number of the last line, and bytes are how many bytes were read.
	at    int
	bytes int64
	// section is the one that is being read, or the last one that was. Nil: there was none yet.
	section *store.Section
	within  bool
	// sum and rows are those of the section so far, and data those of its last artifact.
	sum  Sum
	rows int
	data *artifactData
}

// NewReader reads the header of a file.
func NewReader(from io.Reader) (*Reader, error) {
	r := &Reader{from: bufio.NewReaderSize(from, 1<<16), sums: sha256.New()}
	const begin = `{"spoolExport":`
	if text, err := r.from.Peek(len(begin)); string(text) != begin {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read the export: %w", err)
		}
		return nil, spool.Errorf(spool.Invalid, "it is no file of `spool export`")
	}
	text, err := r.next()
	if err != nil {
		return nil, err
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil || l.Header == nil {
		return nil, r.damaged("the header cannot be read")
	}
	if r.header = *l.Header; r.header.Format != Format {
		return nil, spool.Errorf(spool.Invalid,
			"the file has the format %d, and this version reads the format %d: use spool %s or later",
			r.header.Format, Format, r.header.Version)
	}
	return r, nil
}

// Header returns the header.
func (r *Reader) Header() Header { return r.header }

// Read returns how many bytes were read.
func (r *Reader) Read() int64 { return r.bytes }

// Next returns the next section. At the end of a whole file it returns [io.EOF]. A section of [Artifacts] comes without
// its rows: [Reader.NextArtifact] returns them, and Next checks those that were left.
func (r *Reader) Next() (store.Section, [][]byte, error) {
	for r.within {
		if _, _, err := r.NextArtifact(); err != nil && !errors.Is(err, io.EOF) {
			return store.Section{}, nil, err
		}
	}
	text, err := r.next()
	if err != nil {
		return store.Section{}, nil, err
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return store.Section{}, nil, r.damaged("there is no section")
	}
	switch {
	case l.Trailer != nil:
		return store.Section{}, nil, r.finish(*l.Trailer)
	case l.Section == nil || !bytes.Equal(text, opening(*l.Section)):
		return store.Section{}, nil, r.damaged("there is no section")
	}
	r.section, r.within, r.sum, r.rows, r.data = l.Section, true, NewSum(*l.Section), 0, nil
	if l.Section.Kind == Artifacts {
		return *r.section, nil, nil
	}
	var lines [][]byte
	for {
		switch text, err := r.row(); {
		case errors.Is(err, io.EOF):
			return *r.section, lines, nil
		case err != nil:
			return *r.section, nil, err
		default:
			lines = append(lines, text)
		}
	}
}

// row reads a row of the section. At the section's end it returns [io.EOF].
func (r *Reader) row() ([]byte, error) {
	text, err := r.next()
	if err != nil {
		return nil, err
	}
	if isRow(text) {
		r.sum.Add(text)
		r.rows++
		return text, nil
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil || l.End == nil {
		return nil, r.damaged("its end cannot be read")
	}
	if l.End.Rows != r.rows || l.End.SHA256 != r.sum.String() {
		return nil, r.damaged("its checksum is wrong")
	}
	_, _ = r.sums.Write([]byte(l.End.SHA256 + "\n"))
	r.total++
	r.within = false
	return nil, io.EOF
}

// finish checks the trailer, and that nothing follows.
func (r *Reader) finish(t Trailer) error {
	if t.Sections != r.total || t.SHA256 != hex.EncodeToString(r.sums.Sum(nil)) {
		return r.damaged("the file's checksum is wrong: sections are missing, or in another order")
	}
	switch _, err := r.from.ReadByte(); {
	case err == nil:
		return r.damaged("something follows the end")
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read the export: %w", err)
	}
	return io.EOF
}

// next returns the next line without its end.
func (r *Reader) next() ([]byte, error) {
	text, err := r.from.ReadBytes('\n')
	r.bytes += int64(len(text))
	r.at++
	switch {
	case errors.Is(err, io.EOF):
		return nil, r.damaged("the file is cut here")
	case err != nil:
		return nil, fmt.Errorf("read the export: %w", err)
	}
	return text[:len(text)-1], nil
}

// damaged returns an error for the last line.
func (r *Reader) damaged(text string) error {
	switch {
	case r.within:
		return spool.Errorf(spool.Invalid, "line %d, in the %s: %s", r.at, r.section, text)
	case r.section != nil:
		return spool.Errorf(spool.Invalid, "line %d, after the %s: %s", r.at, r.section, text)
	default:
		return spool.Errorf(spool.Invalid, "line %d: %s", r.at, text)
	}
}
