package spooltest

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/spoolhq/spool"
)

// TestStreams checks that streams keep the contract of [spool.Streams]. Open is called once per
// subtest. It must return empty streams, and close them by the test's Cleanup.
func TestStreams(t *testing.T, open func(t *testing.T) spool.Streams) {
	t.Helper()

	for name, test := range map[string]func(t *testing.T, s streamsTest){
		"Gone":              testStreamGone,
		"OpenTwice":         testStreamOpenTwice,
		"OpenClosed":        testStreamOpenClosed,
		"Empty":             testStreamEmpty,
		"AppendRead":        testStreamAppendRead,
		"ReadLimit":         testStreamReadLimit,
		"ReadBetween":       testStreamReadBetween,
		"PageIsStable":      testStreamPageIsStable,
		"AppendBackwards":   testStreamAppendBackwards,
		"AppendAllOrNone":   testStreamAppendAllOrNone,
		"ForeignThread":     testStreamForeignThread,
		"Independent":       testStreamIndependent,
		"CloseEnds":         testStreamCloseEnds,
		"CloseEmpty":        testStreamCloseEmpty,
		"CloseMovesEnd":     testStreamCloseMovesEnd,
		"CloseTwice":        testStreamCloseTwice,
		"CloseRefuses":      testStreamCloseRefuses,
		"CloseGrace":        testStreamCloseGrace,
		"Delete":            testStreamDelete,
		"DeleteClosed":      testStreamDeleteClosed,
		"ContextEnded":      testStreamContextEnded,
		"ReadersAndWriter":  testStreamReadersAndWriter,
		"OneWinner":         testStreamOneWinner,
		"DeleteWhileInUse":  testStreamDeleteWhileInUse,
		"CloseWhileAppends": testStreamCloseWhileAppends,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, streamsTest{t: t, Streams: open(t)})
		})
	}
}

// streamsTest is a subtest's streams, with calls that must succeed.
type streamsTest struct {
	t *testing.T
	spool.Streams
}

// stream returns the key of a thread's stream.
func stream(thread spool.ThreadID, id spool.StreamID) spool.StreamKey {
	return spool.StreamKey{Thread: spool.ThreadKey{Tenant: spool.DefaultTenant, ID: thread}, ID: id}
}

// items returns items with a piece of text each, at the offsets from fence-from to fence-to.
func items(fence, from, to int64) []spool.Item {
	var all []spool.Item
	for n := from; n <= to; n++ {
		o := spool.Offset{Fence: fence, N: n}
		all = append(all, spool.NewItem(spool.ItemTextContent, o, fence+n, spool.Delta{MessageID: "m", Delta: o.String()}))
	}
	return all
}

// endItem returns an end at the given offset.
func endItem(fence, n int64) spool.Item {
	o := spool.Offset{Fence: fence, N: n}
	return spool.NewItem(spool.ItemRunFinished, o, 7, spool.StreamFinished{Status: spool.SegmentFinished})
}

func (s streamsTest) open(key spool.StreamKey, all ...spool.Item) {
	s.t.Helper()
	if err := s.Open(s.t.Context(), key); err != nil {
		s.t.Fatalf("open %v: %v", key, err)
	}
	if len(all) > 0 {
		s.append(key, all)
	}
}

func (s streamsTest) append(key spool.StreamKey, all []spool.Item) {
	s.t.Helper()
	if err := s.Append(s.t.Context(), key, all); err != nil {
		s.t.Fatalf("append to %v: %v", key, err)
	}
}

func (s streamsTest) read(key spool.StreamKey, after spool.Offset, limit int) spool.StreamPage {
	s.t.Helper()
	page, err := s.Read(s.t.Context(), key, after, limit)
	if err != nil {
		s.t.Fatalf("read %v after %v: %v", key, after, err)
	}
	return page
}

// want checks all items of the stream.
func (s streamsTest) want(key spool.StreamKey, all []spool.Item, ended bool) {
	s.t.Helper()
	s.wantPage(s.read(key, spool.Offset{}, 0), all, ended)
}

func (s streamsTest) wantPage(page spool.StreamPage, all []spool.Item, ended bool) {
	s.t.Helper()
	same := slices.EqualFunc(page.Items, all, func(a, b spool.Item) bool {
		return a.Offset == b.Offset && a.Type == b.Type && a.Seq == b.Seq && bytes.Equal(a.Data, b.Data)
	})
	if !same {
		s.t.Errorf("read items %s, want %s", describe(page.Items), describe(all))
	}
	if page.Ended != ended {
		s.t.Errorf("page has Ended %v, want %v", page.Ended, ended)
	}
}

// describe returns the data of the items, one per line.
func describe(all []spool.Item) []byte {
	var b bytes.Buffer
	for _, i := range all {
		b.WriteString("\n\t" + i.Offset.String() + " ")
		b.Write(i.Data)
	}
	return b.Bytes()
}

func wantGone(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, spool.ErrStreamGone) && spool.CodeOf(err) != spool.Gone {
		t.Errorf("%s returned %v, want %v", what, err, spool.ErrStreamGone)
	}
}

func wantCode(t *testing.T, what string, err error, code spool.Code) {
	t.Helper()
	if spool.CodeOf(err) != code {
		t.Errorf("%s returned %v, want code %q", what, err, code)
	}
}
