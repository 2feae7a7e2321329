package blob_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact/internal/blob"
)

func TestCheck(t *testing.T) {
	t.Parallel()

	for _, key := range []string{"a", "-", "0/1-2/z", strings.Repeat("a", 200)} {
		if err := blob.Check(key, 0); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", "A", "a.b", "..", "a/../b", "a_b", "a b", "a\n", "ä", "a\\b", strings.Repeat("a", 201),
	} {
		if err := blob.Check(key, 0); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%q: %v", key, err)
		}
	}
	if err := blob.Check("a", -1); spool.CodeOf(err) != spool.Invalid {
		t.Error(err)
	}
}

// Data of another size end with an error, and never have as many bytes as the size.
func TestExact(t *testing.T) {
	t.Parallel()

	broken := errors.New("it broke")
	readers := map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "single": iotest.OneByteReader, "half": iotest.HalfReader,
		"end": iotest.DataErrReader,
	}
	for name, of := range readers {
		for _, c := range []struct {
			data string
			size int64
			tail error
			code spool.Code
		}{
			{"", 0, nil, ""},
			{"hello", 5, nil, ""},
			{"hello", 4, nil, spool.Invalid},
			{"hello", 6, nil, spool.Invalid},
			{"", 1, nil, spool.Invalid},
			{"h", 0, nil, spool.Invalid},
			{"hel", 5, broken, spool.Internal},
			{"hello", 5, broken, spool.Internal},
			{"", 0, broken, spool.Internal},
		} {
			data := io.Reader(strings.NewReader(c.data))
			if c.tail != nil {
				data = io.MultiReader(data, iotest.ErrReader(c.tail))
			}
			r := blob.NewExact(t.Context(), of(data), c.size)
			got, err := io.ReadAll(r)
			switch {
			case spool.CodeOf(err) != c.code || spool.CodeOf(r.Err()) != c.code:
				t.Errorf("%s, %+v: %v, %v", name, c, err, r.Err())
			case err == nil && string(got) != c.data:
				t.Errorf("%s, %+v: %q", name, c, got)
			case err != nil && c.size > 0 && int64(len(got)) >= c.size:
				t.Errorf("%s, %+v: all %d bytes before the error", name, c, len(got))
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := io.ReadAll(blob.NewExact(ctx, strings.NewReader("x"), 1)); spool.CodeOf(err) != spool.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
