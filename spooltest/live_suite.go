package spooltest

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestLive checks that run streams and wake-ups keep the contract of [store.Live]. In general a Live may lose
// anything, but not without a failure, and these tests cause none. Open is called once per subtest. It must
// return a Live without streams that nothing else uses, and close it by the test's Cleanup.
func TestLive(t *testing.T, open func(t *testing.T) store.Live) {
	t.Helper()

	for name, test := range map[string]func(l *liveTest){
		"StreamGone":              testStreamGone,
		"StreamStaysGone":         testStreamStaysGone,
		"StreamOpenTwice":         testStreamOpenTwice,
		"StreamOpenClosed":        testStreamOpenClosed,
		"StreamEmpty":             testStreamEmpty,
		"StreamAppendRead":        testStreamAppendRead,
		"StreamReadLimit":         testStreamReadLimit,
		"StreamReadBetween":       testStreamReadBetween,
		"StreamPageIsStable":      testStreamPageIsStable,
		"StreamAppendBackwards":   testStreamAppendBackwards,
		"StreamAppendAllOrNone":   testStreamAppendAllOrNone,
		"StreamForeignThread":     testStreamForeignThread,
		"StreamIndependent":       testStreamIndependent,
		"StreamCloseEnds":         testStreamCloseEnds,
		"StreamCloseEmpty":        testStreamCloseEmpty,
		"StreamCloseMovesEnd":     testStreamCloseMovesEnd,
		"StreamCloseTwice":        testStreamCloseTwice,
		"StreamCloseRefuses":      testStreamCloseRefuses,
		"StreamCloseGrace":        testStreamCloseGrace,
		"StreamDelete":            testStreamDelete,
		"StreamDeleteClosed":      testStreamDeleteClosed,
		"StreamContextEnded":      testStreamContextEnded,
		"StreamReadersAndWriter":  testStreamReadersAndWriter,
		"StreamOneWinner":         testStreamOneWinner,
		"StreamDeleteWhileInUse":  testStreamDeleteWhileInUse,
		"StreamCloseWhileAppends": testStreamCloseWhileAppends,
		"Wake":                    testWake,
		"WakeNobody":              testWakeNobody,
		"WakeEachSubscriber":      testWakeEachSubscriber,
		"WakeOtherTopics":         testWakeOtherTopics,
		"WakeStop":                testWakeStop,
		"WakeContextEnds":         testWakeContextEnds,
		"WakeContextEnded":        testWakeContextEnded,
		"WakeSubscribeAgain":      testWakeSubscribeAgain,
		"WakeCallFromWithin":      testWakeCallFromWithin,
		"WakeManyAtOnce":          testWakeManyAtOnce,
		"WakeStopFromWithin":      testWakeStopFromWithin,
		"Notice":                  testNotice,
		"NoticeStop":              testNoticeStop,
		"NoticeTooLong":           testNoticeTooLong,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&liveTest{T: t, Live: open(t)})
		})
	}
}

// liveTest is a subtest's Live, with calls that must succeed.
type liveTest struct {
	*testing.T
	store.Live
}

// stream returns the key of a thread's stream.
func stream(thread spool.ThreadID, id wire.StreamID) store.StreamKey {
	return store.StreamKey{Thread: spool.ThreadKey{Tenant: spool.DefaultTenant, ID: thread}, ID: id}
}

// items returns items with a piece of text each, at the offsets from fence-from to fence-to.
func items(fence, from, to int64) []wire.Item {
	var all []wire.Item
	for n := from; n <= to; n++ {
		o := wire.Offset{Fence: fence, N: n}
		all = append(all, wire.NewItem(wire.ItemTextContent, o, fence+n, wire.Delta{MessageID: "m", Delta: o.String()}))
	}
	return all
}

// endItem returns an end at the given offset.
func endItem(fence, n int64) wire.Item {
	o := wire.Offset{Fence: fence, N: n}
	return wire.NewItem(wire.ItemRunFinished, o, 7, wire.StreamFinished{Status: wire.SegmentFinished})
}

func (l *liveTest) open(key store.StreamKey, all ...wire.Item) {
	l.Helper()
	if err := l.Open(l.Context(), key); err != nil {
		l.Fatalf("open %v: %v", key, err)
	}
	if len(all) > 0 {
		l.append(key, all)
	}
}

func (l *liveTest) append(key store.StreamKey, all []wire.Item) {
	l.Helper()
	if err := l.Append(l.Context(), key, all); err != nil {
		l.Fatalf("append to %v: %v", key, err)
	}
}

func (l *liveTest) read(key store.StreamKey, after wire.Offset, limit int) store.StreamPage {
	l.Helper()
	page, err := l.Read(l.Context(), key, after, limit)
	if err != nil {
		l.Fatalf("read %v after %v: %v", key, after, err)
	}
	return page
}

// want checks all items of the stream.
func (l *liveTest) want(key store.StreamKey, all []wire.Item, ended bool) {
	l.Helper()
	l.wantPage(l.read(key, wire.Offset{}, 0), all, ended)
}

func (l *liveTest) wantPage(page store.StreamPage, all []wire.Item, ended bool) {
	l.Helper()
	same := slices.EqualFunc(page.Items, all, func(a, b wire.Item) bool {
		return a.Offset == b.Offset && a.Type == b.Type && a.Seq == b.Seq && bytes.Equal(a.Data, b.Data)
	})
	if !same {
		l.Errorf("read items %s, want %s", describe(page.Items), describe(all))
	}
	if page.Ended != ended {
		l.Errorf("page has Ended %v, want %v", page.Ended, ended)
	}
}

// describe returns the data of the items, one per line.
func describe(all []wire.Item) []byte {
	var b bytes.Buffer
	for _, i := range all {
		b.WriteString("\n\t" + i.Offset.String() + " ")
		b.Write(i.Data)
	}
	return b.Bytes()
}

func (l *liveTest) wantGone(what string, err error) {
	l.Helper()
	l.wantError(what, err, store.ErrStreamGone)
}

// wantError checks that an error is the wanted one.
func (l *liveTest) wantError(what string, err, want error) {
	l.Helper()
	if !errors.Is(err, want) {
		l.Errorf("%s returned %v, want %v", what, err, want)
	}
}

func (l *liveTest) wantCanceled(what string, err error) {
	l.Helper()
	if spool.CodeOf(err) != spool.Canceled {
		l.Errorf("%s returned %v, want code %q", what, err, spool.Canceled)
	}
}
