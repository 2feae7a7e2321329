package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// MediaType is the media type of a record file: one JSON object a line.
const MediaType = "application/x-ndjson"

const (
	format        = "spool.record"
	formatVersion = 1
)

// Line is a line of the file. Kind says which of the other fields it has. Readers ignore kinds and fields that they
// do not know.
type Line struct {
	// Kind is the kind of line: the thread comes first, and the end last.
	Kind string `enum:"thread,run,message,entry,delta,end" json:"kind"`

	Format string `json:"format,omitempty"` // Of a thread: spool.record.
	// Of a thread: the version of the format, 1.
	FormatVersion int          `json:"formatVersion,omitempty"`
	Thread        *wire.Thread `json:"thread,omitempty"        nullable:"false"` // Of a thread: the present thread.
	// Of a thread: the run that has the thread, or had it last.
	RunID spool.RunID `json:"runId,omitempty"`

	// Run is a present run, the oldest one first.
	Run *wire.Run `json:"run,omitempty" nullable:"false"`
	// Message is a message: those of the view in their order, then those of each branch.
	Message *spool.Message `json:"message,omitempty" nullable:"false"`
	// Of a message: the branch that has it. Left out: it is in the view.
	Branch wire.BranchID `json:"branch,omitempty"`
	Entry  *wire.Entry   `json:"entry,omitempty"  nullable:"false"` // An entry of the record, by seq.
	// Delta is what a commit has changed, by version.
	Delta   *store.SnapshotDelta `json:"delta,omitempty"   nullable:"false"`
	Version *int64               `json:"version,omitempty" nullable:"false"` // Of the end: the last version.
}

// The kinds of line, in the order of the file.
const (
	kindThread  = "thread"
	kindRun     = "run"
	kindMessage = "message"
	kindEntry   = "entry"
	kindDelta   = "delta"
	kindEnd     = "end"
)

// lines calls fn with each line of the file. It stops at the first error of fn and returns it.
func (r *Record) lines(fn func(Line) error) error {
	if err := fn(Line{
		Kind: kindThread, Format: format, FormatVersion: formatVersion, Thread: &r.Thread, RunID: r.RunID,
	}); err != nil {
		return err
	}
	for i := range r.Runs {
		if err := fn(Line{Kind: kindRun, Run: &r.Runs[i]}); err != nil {
			return err
		}
	}
	for i := range r.Messages {
		if err := fn(Line{Kind: kindMessage, Message: &r.Messages[i].Message, Branch: r.Messages[i].Branch}); err != nil {
			return err
		}
	}
	for i := range r.Entries {
		if err := fn(Line{Kind: kindEntry, Entry: &r.Entries[i]}); err != nil {
			return err
		}
	}
	for i := range r.Deltas {
		if err := fn(Line{Kind: kindDelta, Delta: &r.Deltas[i]}); err != nil {
			return err
		}
	}
	last := r.Last()
	return fn(Line{Kind: kindEnd, Version: &last})
}

// WriteTo writes the record as a file.
func (r *Record) WriteTo(w io.Writer) (int64, error) {
	counting := &countingWriter{w: w}
	encoder := json.NewEncoder(counting)
	err := r.lines(func(l Line) error { return encoder.Encode(l) })
	return counting.n, err
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// Read reads a record file. It returns an [spool.Invalid] error that names the line if the file is something else, is
// of a newer format, or was cut.
func Read(from io.Reader) (*Record, error) {
	lines := bufio.NewReader(from)
	r := &Record{}
	for number, ended := 1, false; ; number++ {
		text, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		over := err != nil
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if ended {
				return nil, spool.Errorf(spool.Invalid, "line %d of the record comes after its end", number)
			}
			if ended, err = r.read(number, text); err != nil {
				return nil, err
			}
		}
		switch {
		case over && ended:
			return r, nil
		case over:
			return nil, spool.Errorf(spool.Invalid, "the record was cut after line %d: its last line must be of the kind end",
				number)
		}
	}
}

// read adds a line to the record. It reports whether the line is the last one.
func (r *Record) read(number int, text []byte) (ended bool, err error) {
	var l Line
	if err := json.Unmarshal(text, &l); err != nil {
		if number == 1 {
			return false, errNoRecord
		}
		return false, spool.Errorf(spool.Invalid, "line %d of the record cannot be read: %v", number, err)
	}
	switch {
	case number == 1 && (l.Kind != kindThread || l.Format != format || l.Thread == nil):
		return false, errNoRecord
	case number == 1 && l.FormatVersion != formatVersion:
		return false, spool.Errorf(spool.Invalid, "the record has the format version %d, and only version %d can be read",
			l.FormatVersion, formatVersion)
	case number == 1:
		r.Thread, r.RunID = *l.Thread, l.RunID
	case l.Kind == kindRun && l.Run != nil:
		r.Runs = append(r.Runs, *l.Run)
	case l.Kind == kindMessage && l.Message != nil:
		r.Messages = append(r.Messages, Message{*l.Message, l.Branch})
	case l.Kind == kindEntry && l.Entry != nil:
		r.Entries = append(r.Entries, *l.Entry)
	case l.Kind == kindDelta && l.Delta != nil:
		if l.Delta.Version != r.Last()+1 {
			return false, spool.Errorf(spool.Invalid, "line %d of the record has version %d, and should have %d", number,
				l.Delta.Version, r.Last()+1)
		}
		r.Deltas = append(r.Deltas, *l.Delta)
	case l.Kind == kindEnd && l.Version != nil:
		if *l.Version != r.Last() {
			return false, spool.Errorf(spool.Invalid,
				"line %d of the record ends it with version %d, and its deltas end with %d", number, *l.Version, r.Last())
		}
		return true, nil
	}
	return false, nil
}

var errNoRecord = spool.Errorf(spool.Invalid,
	"this is not the record of a thread: its first line must be of the kind thread and the format %s", format)
