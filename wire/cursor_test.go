package wire_test

import (
	"testing"

	"github.com/spoolhq/spool/wire"
)

type cursorCase struct {
	Text      string        `json:"text"`
	Seq       int64         `json:"seq"`
	StreamID  wire.StreamID `json:"streamId"`
	Offset    *wire.Offset  `json:"offset"`
	Canonical string        `json:"canonical"`
}

func cursorFixtures(tb testing.TB) (valid []cursorCase, invalid []string) {
	tb.Helper()

	var file struct {
		About   string       `json:"about"`
		Valid   []cursorCase `json:"valid"`
		Invalid []string     `json:"invalid"`
	}
	fixture(tb, "cursors", &file)
	return file.Valid, file.Invalid
}

func TestFixturesCursors(t *testing.T) {
	t.Parallel()

	valid, invalid := cursorFixtures(t)
	for _, c := range valid {
		want := wire.Cursor{Seq: c.Seq, Stream: c.StreamID}
		if c.Offset != nil {
			want.Offset = *c.Offset
		}
		got, ok := wire.ParseCursor(c.Text)
		if !ok || got != want {
			t.Errorf("ParseCursor(%q) = %+v, %v, want %+v", c.Text, got, ok, want)
		}
		if got.String() != c.Canonical {
			t.Errorf("ParseCursor(%q).String() = %q, want %q", c.Text, got, c.Canonical)
		}
	}
	for _, text := range invalid {
		if got, ok := wire.ParseCursor(text); ok || got != (wire.Cursor{}) {
			t.Errorf("ParseCursor(%q) = %+v, %v, want nothing", text, got, ok)
		}
	}
}

// FuzzParseCursor checks that no text breaks the parser and that what it accepts is a
// position which survives being written and read again.
func FuzzParseCursor(f *testing.F) {
	valid, invalid := cursorFixtures(f)
	for _, c := range valid {
		f.Add(c.Text)
	}
	for _, text := range invalid {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := wire.ParseCursor(text)
		if !ok {
			if c != (wire.Cursor{}) {
				t.Errorf("a refused cursor left %+v", c)
			}
			return
		}
		if c.Seq < -1 || c.Offset.Fence < 0 || c.Offset.N < 0 {
			t.Errorf("negative parts: %+v", c)
		}
		if c.Stream == "" && !c.Offset.IsZero() {
			t.Errorf("an offset without a stream: %+v", c)
		}
		again, ok := wire.ParseCursor(c.String())
		if !ok || again != c {
			t.Errorf("%q is read as %+v, %v, want %+v", c, again, ok, c)
		}
		for i := range len(c.String()) {
			if b := c.String()[i]; b < ' ' || b > '~' {
				t.Errorf("%q is not fit for a header", c)
			}
		}
	})
}
