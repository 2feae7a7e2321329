package sse_test

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spoolhq/spool/internal/sse"
)

func TestIsJSON(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]bool{
		`{"a":1}`: true, "\r\n\t [1]": true, "\ufeff{}": true,
		"data: {}\n\n": false, ": comment\n\ndata: {}\n\n": false, "\n\nevent: x\n": false, "\ufeffdata: {}\n\n": false,
		"": false, " ": false,
	} {
		in := bufio.NewReader(iotest.OneByteReader(strings.NewReader(body)))
		if got := sse.IsJSON(in); got != want {
			t.Errorf("%q: %t", body, got)
		}
		rest, err := io.ReadAll(in)
		if trimmed := strings.TrimLeft(body, "\ufeff \t\r\n"); err != nil || string(rest) != trimmed {
			t.Errorf("%q leaves %q, %v", body, rest, err)
		}
	}

	broken := errors.New("broken")
	in := bufio.NewReader(iotest.ErrReader(broken))
	if got := sse.IsJSON(in); got {
		t.Error("nothing is JSON")
	}
	if _, err := sse.NewReader(in, 0).Next(); !errors.Is(err, broken) {
		t.Errorf("the error is lost: %v", err)
	}
}
