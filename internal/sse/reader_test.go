package sse_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/internal/sse"
)

func read(in io.Reader, limit int) ([]sse.Event, error) {
	r := sse.NewReader(in, limit)
	var events []sse.Event
	for {
		event, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
}

func TestReader(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		in   string
		want []sse.Event
		err  error
	}{
		"empty":       {"", nil, io.EOF},
		"one":         {"data: a\n\n", []sse.Event{{Data: "a"}}, io.EOF},
		"no space":    {"data:a\n\n", []sse.Event{{Data: "a"}}, io.EOF},
		"two spaces":  {"data:  a\n\n", []sse.Event{{Data: " a"}}, io.EOF},
		"cr":          {"data: a\r\rdata: b\r\r", []sse.Event{{Data: "a"}, {Data: "b"}}, io.EOF},
		"crlf":        {"data: a\r\n\r\ndata: b\r\n\r\n", []sse.Event{{Data: "a"}, {Data: "b"}}, io.EOF},
		"mixed":       {"data: a\r\ndata: b\n\rdata: c\r\n\n", []sse.Event{{Data: "a\nb"}, {Data: "c"}}, io.EOF},
		"bom":         {"\ufeffdata: a\n\n", []sse.Event{{Data: "a"}}, io.EOF},
		"bom comment": {"\ufeff: x\ndata: a\n\n", []sse.Event{{Data: "a"}}, io.EOF},
		"second bom":  {"\ufeff\ufeffdata: a\n\n", nil, io.EOF},
		"comments":    {": hi\n:\ndata: a\n:data: x\n\n", []sse.Event{{Data: "a"}}, io.EOF},
		"many lines":  {"data: a\ndata\ndata: b\n\n", []sse.Event{{Data: "a\n\nb"}}, io.EOF},
		"no data":     {"event: x\n\ndata: a\n\n", []sse.Event{{Data: "a"}}, io.EOF},
		"empty data":  {"data:\n\n", []sse.Event{{}}, io.EOF},
		"named":       {"event: ping\ndata: a\n\ndata: b\n\n", []sse.Event{{Name: "ping", Data: "a"}, {Data: "b"}}, io.EOF},
		"id stays": {
			"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
			[]sse.Event{{ID: "1", Data: "a"}, {ID: "1", Data: "b"}, {Data: "c"}},
			io.EOF,
		},
		"id alone":    {"id: 7\n\ndata: a\n\n", []sse.Event{{ID: "7", Data: "a"}}, io.EOF},
		"id with nul": {"id: a\x00b\ndata: a\n\n", []sse.Event{{Data: "a"}}, io.EOF},
		"retry": {
			"retry: 1500\n\ndata: a\n\ndata: b\n\n",
			[]sse.Event{{Data: "a", Retry: 1500 * time.Millisecond}, {Data: "b"}},
			io.EOF,
		},
		"bad retry":    {"retry: -1\nretry: 1e3\nretry: 9999999999999999\ndata: a\n\n", []sse.Event{{Data: "a"}}, io.EOF},
		"unknown":      {"datax: b\nfoo\ndata: a\n\n", []sse.Event{{Data: "a"}}, io.EOF},
		"colon first":  {":\n\n\n\n", nil, io.EOF},
		"cut line":     {"data: a\n\ndata: b", []sse.Event{{Data: "a"}}, io.ErrUnexpectedEOF},
		"cut event":    {"data: a\n\ndata: b\n", []sse.Event{{Data: "a"}}, io.ErrUnexpectedEOF},
		"cut comment":  {"data: a\n\n: b", []sse.Event{{Data: "a"}}, io.EOF},
		"colon inside": {"data: {\"a\":\"b:c\"}\n\n", []sse.Event{{Data: `{"a":"b:c"}`}}, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := read(strings.NewReader(c.in), 0)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if !errors.Is(err, c.err) {
				t.Errorf("ended with %v, want %v", err, c.err)
			}
			slowly, _ := read(iotest.OneByteReader(strings.NewReader(c.in)), 0)
			if diff := cmp.Diff(got, slowly); diff != "" {
				t.Errorf("byte by byte: %s", diff)
			}
		})
	}
}

func TestReaderLimit(t *testing.T) {
	t.Parallel()

	for name, in := range map[string]string{
		"line":  "data: " + strings.Repeat("x", 200),
		"lines": strings.Repeat("data: xxxxxxxxx\n", 20),
	} {
		r := sse.NewReader(strings.NewReader("data: ok\n\n"+in), 100)
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		_, err := r.Next()
		if !errors.Is(err, sse.ErrTooLarge) || !strings.Contains(err.Error(), "100 bytes") {
			t.Errorf("%s: got %v", name, err)
		}
		if _, again := r.Next(); !errors.Is(again, sse.ErrTooLarge) {
			t.Errorf("%s: then %v", name, again)
		}
	}
	in := ":" + strings.Repeat("x", 100_000) + "\ndata: a\n\n"
	if got, err := read(strings.NewReader(in), 100); len(got) != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("a long comment: %v, %v", got, err)
	}
}

// An event must come out when its blank line has arrived, whatever ends the line.
func TestReaderDoesNotWaitForTheNextByte(t *testing.T) {
	t.Parallel()

	for _, in := range []string{"data: a\n\n", "data: a\r\r", "data: a\r\n\r\n"} {
		reader, writer := io.Pipe()
		go func() { _, _ = io.WriteString(writer, in) }()
		event, err := sse.NewReader(reader, 0).Next()
		if err != nil || event.Data != "a" {
			t.Errorf("%q: got %v, %v", in, event, err)
		}
		_ = reader.Close()
	}
}

func TestReaderPassesErrorsOn(t *testing.T) {
	t.Parallel()

	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken))
	got, err := read(in, 0)
	if len(got) != 1 || !errors.Is(err, broken) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestLastRetry(t *testing.T) {
	t.Parallel()

	r := sse.NewReader(strings.NewReader("retry: 5\n\ndata: x\n\nretry: 7\n\nretry: soon\n\n"), 0)
	if r.LastRetry() != 0 {
		t.Errorf("before the first line: %s", r.LastRetry())
	}
	for _, want := range []time.Duration{5 * time.Millisecond, 7 * time.Millisecond} {
		_, err := r.Next()
		if got := r.LastRetry(); got != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

func TestLastID(t *testing.T) {
	t.Parallel()

	r := sse.NewReader(strings.NewReader("data: a\n\nid: 9\n\n"), 0)
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	if r.LastID() != "9" {
		t.Errorf("got %q", r.LastID())
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("id: 1\r\nevent: x\r\ndata: a\r\n\r\n"), 3)
	f.Add([]byte("\ufeff: c\rdata: a\rdata: b\r\rretry: 5\n\n"), 1)
	f.Fuzz(func(t *testing.T, in []byte, at int) {
		const limit = 64
		whole, wholeErr := read(strings.NewReader(string(in)), limit)
		at = max(0, min(at, len(in)))
		split, splitErr := read(io.MultiReader(
			strings.NewReader(string(in[:at])), strings.NewReader(string(in[at:])),
		), limit)
		if diff := cmp.Diff(whole, split); diff != "" {
			t.Errorf("split at %d: %s", at, diff)
		}
		if wholeErr.Error() != splitErr.Error() {
			t.Errorf("split at %d: ended with %v, want %v", at, splitErr, wholeErr)
		}
		for _, event := range whole {
			if len(event.Data) > limit || strings.ContainsAny(event.ID+event.Name, "\r\n") ||
				strings.Contains(event.Data, "\r") {
				t.Errorf("event %q", event)
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	in := strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\"word\"}}]}\n\n", 1000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := read(strings.NewReader(in), 0); !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}
