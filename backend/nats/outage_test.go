package nats

import (
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var (
	thread = spool.ThreadKey{Tenant: "acme", ID: "t.1"}
	run    = store.StreamKey{Thread: thread, ID: "r.1:1"}
)

// items returns items of a fence with the numbers from first to last.
func items(fence, first, last int64) (all []wire.Item) {
	for n := first; n <= last; n++ {
		all = append(all, wire.NewItem(wire.ItemTextContent, wire.Offset{Fence: fence, N: n}, n,
			wire.Delta{MessageID: "m", Delta: "word"}))
	}
	return all
}

func endItem(fence, n int64) wire.Item {
	return wire.NewItem(wire.ItemRunFinished, wire.Offset{Fence: fence, N: n}, n,
		wire.StreamFinished{Status: wire.SegmentFinished})
}

// open opens a stream with items.
func open(t *testing.T, l *Live, key store.StreamKey, all []wire.Item) {
	t.Helper()
	if err := l.Open(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), key, all); err != nil {
		t.Fatal(err)
	}
}

// wantItems checks all items of a stream.
func wantItems(t *testing.T, l *Live, key store.StreamKey, want []wire.Item) {
	t.Helper()
	page, err := l.Read(t.Context(), key, wire.Offset{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(page.Items, want, same) {
		t.Errorf("the stream has %d items, and should have these %d", len(page.Items), len(want))
	}
}

func same(a, b wire.Item) bool {
	return a.Offset == b.Offset && a.Type == b.Type && a.Seq == b.Seq && string(a.Data) == string(b.Data)
}

func wantIs(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s returns %v, want %v", what, err, want)
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx := testwait.Context(t, what)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited %s for %s", testwait.Limit, what)
		}
	}
}

// listener collects wake-ups.
type listener chan store.WakeKind

func listen(t *testing.T, l *Live, topic spool.ThreadKey) listener {
	t.Helper()
	woken := make(listener, 1<<16)
	stop, err := l.Subscribe(t.Context(), topic, func(kind store.WakeKind, _ []byte) {
		select {
		case woken <- kind:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return woken
}

// wants waits for a wake-up of the given kind, and passes over others.
func (l listener) wants(t *testing.T, kind store.WakeKind) {
	t.Helper()
	for got := store.WakeKind(""); got != kind; {
		got = testwait.For(t, l, "a wake-up for "+string(kind))
	}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// A stream goes with the process that wrote it.
func TestOwnerDies(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	conn := s.connect()
	owner, err := NewLive(conn, &LiveOptions{Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	other := s.node(nil)
	open(t, owner, run, items(1, 1, 3))
	wantItems(t, other, run, items(1, 1, 3))
	conn.Close()
	eventually(t, "the stream to go", func() bool {
		_, err := other.Read(t.Context(), run, wire.Offset{}, 0)
		return errors.Is(err, store.ErrStreamGone)
	})
	wantIs(t, "Append", other.Append(t.Context(), run, items(1, 4, 4)), store.ErrStreamGone)
	wantIs(t, "Close", other.Close(t.Context(), run, endItem(1, 4), time.Hour), store.ErrStreamGone)
	owner.Stop()
}

// A worker whose lease went to another one cannot write what readers take for the other one's items.
func TestStaleFence(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	owner, other := s.node(nil), s.node(nil)
	open(t, owner, run, items(4, 1, 2))
	for name, l := range map[string]*Live{"the owner": owner, "another process": other} {
		wantIs(t, "an append with an old fence, of "+name, l.Append(t.Context(), run, items(3, 9, 9)), store.ErrOffsetUsed)
		wantIs(t, "an append of an old item, of "+name, l.Append(t.Context(), run, items(4, 2, 2)), store.ErrOffsetUsed)
	}
	if err := other.Close(t.Context(), run, endItem(5, 1), time.Hour); err != nil { // as the worker that has the lease now
		t.Fatal(err)
	}
	wantIs(t, "an append of the owner after the close", owner.Append(t.Context(), run, items(4, 3, 3)),
		store.ErrStreamClosed)
	wantIs(t, "opening the closed stream elsewhere", other.Open(t.Context(), run), store.ErrStreamClosed)
	wantItems(t, other, run, append(items(4, 1, 2), endItem(5, 1)))
}

// While the server is away, the owner's process notices nothing, and another one has no stream. Afterwards
// everything is as if the server had never been away.
func TestServerAway(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	owner, other := s.node(nil), s.node(&LiveOptions{Patience: 50 * time.Millisecond, Log: quiet()})
	open(t, owner, run, items(1, 1, 3))
	wantItems(t, other, run, items(1, 1, 3))
	before := listen(t, other, thread)
	jobs, events := listen(t, other, store.JobsTopic), listen(t, other, store.EventsTopic)
	s.stop()
	eventually(t, "both to notice", func() bool { return !owner.link.state().up && !other.link.state().up })

	if err := owner.Append(t.Context(), run, items(1, 4, 6)); err != nil {
		t.Errorf("Append without a server: %v", err)
	}
	wantItems(t, owner, run, items(1, 1, 6))
	_, err := other.Read(t.Context(), run, wire.Offset{}, 0)
	wantIs(t, "Read elsewhere without a server", err, store.ErrStreamGone)
	if err := other.Delete(
		t.Context(), spool.ThreadKey{Tenant: "acme", ID: "t2"},
	); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("Delete without a server: %v", err)
	}
	next := store.StreamKey{Thread: thread, ID: "r.1:2"}
	open(t, other, next, items(2, 1, 1))
	during := listen(t, other, thread)
	for range 2 * outgoing {
		other.Wake(thread, store.WakeStream, nil)
	}
	before.wants(t, store.WakeStream) // within the process, nothing has changed
	during.wants(t, store.WakeStream)

	s.start()
	before.wants(t, store.WakeRecord)
	during.wants(t, store.WakeRecord)
	during.wants(t, store.WakeStop)
	jobs.wants(t, store.WakeJobs)
	events.wants(t, store.WakeJobs)
	eventually(t, "both to be back", func() bool { return owner.link.state().up && other.link.state().up })
	wantItems(t, other, run, items(1, 1, 6))
	wantItems(t, owner, next, items(2, 1, 1))
	owner.Wake(thread, store.WakeDeleted, nil)
	before.wants(t, store.WakeDeleted)
	during.wants(t, store.WakeDeleted)
}

// A reader that was told in the middle of a stream that the rest is gone has got a snapshot instead. So the
// stream stays gone for its process, also when the owner can be reached again.
func TestLostStaysLost(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	owner, other := s.node(nil), s.node(&LiveOptions{Patience: 50 * time.Millisecond})
	next := store.StreamKey{Thread: thread, ID: "r.1:2"}
	open(t, owner, run, items(1, 1, 3))
	open(t, owner, next, nil)
	wantItems(t, other, run, items(1, 1, 3))
	s.stop()
	eventually(t, "both to notice", func() bool { return !owner.link.state().up && !other.link.state().up })
	_, err := other.Read(t.Context(), run, wire.Offset{Fence: 1, N: 2}, 0)
	wantIs(t, "Read of the rest", err, store.ErrStreamGone)
	_, err = other.Read(t.Context(), next, wire.Offset{}, 0)
	wantIs(t, "Read of a stream that may not be open yet", err, store.ErrStreamGone)
	s.start()
	eventually(t, "both to be back", func() bool { return owner.link.state().up && other.link.state().up })
	for _, after := range []wire.Offset{{}, {Fence: 1, N: 2}, {Fence: math.MaxInt64, N: math.MaxInt64}} {
		_, err = other.Read(t.Context(), run, after, 0)
		wantIs(t, "Read after the outage", err, store.ErrStreamGone)
	}
	wantItems(t, other, next, nil)
	wantItems(t, owner, run, items(1, 1, 3))
}

// A short outage costs a reader time, and nothing else.
func TestShortOutage(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	owner, other := s.node(nil), s.node(&LiveOptions{Patience: testwait.Limit})
	open(t, owner, run, items(1, 1, 3))
	wantItems(t, other, run, items(1, 1, 3))
	s.stop()
	eventually(t, "both to notice", func() bool { return !owner.link.state().up && !other.link.state().up })
	read := make(chan store.StreamPage, 1)
	go func() {
		page, err := other.Read(t.Context(), run, wire.Offset{Fence: 1, N: 1}, 0)
		if err != nil && !errors.Is(err, store.ErrStreamGone) { // the owner may be back later
			t.Error(err)
		}
		read <- page
	}()
	s.start()
	page := testwait.For(t, read, "the read")
	if page.Items != nil && !slices.EqualFunc(page.Items, items(1, 2, 3), same) {
		t.Errorf("the reader got %v", page.Items)
	}
}

// An owner that does not answer costs the first reader the patience, and the next ones nothing.
func TestSilentOwner(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	l := s.node(nil)
	l.answers = 50 * time.Millisecond
	asked := make(chan *natsgo.Msg, 10)
	conn := s.connect()
	if _, err := conn.ChanSubscribe(l.subjects.stream(run), asked); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err := l.Read(t.Context(), run, wire.Offset{}, 0)
		wantIs(t, "Read", err, store.ErrStreamGone)
	}
	if len(asked) != 1 {
		t.Errorf("the owner was asked %d times", len(asked))
	}
}

// gate is a connection between clients and a server that can be held up without being cut.
type gate struct {
	net.Listener

	open sync.RWMutex
}

func newGate(t *testing.T, address string) *gate {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{Listener: inner}
	t.Cleanup(func() { _ = inner.Close() })
	go func() {
		for {
			client, err := g.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", address)
			if err != nil {
				_ = client.Close()
				return
			}
			go g.pass(client, server)
			go g.pass(server, client)
		}
	}()
	return g
}

func (g *gate) pass(to io.WriteCloser, from io.ReadCloser) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 1<<12)
	for {
		n, err := from.Read(buf)
		g.open.RLock()
		g.open.RUnlock() //nolint:staticcheck // it waits while somebody holds the gate
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// A server that is connected and does not answer neither blocks Wake nor fails Subscribe. When it answers
// again, the subscribers that it did not know of are woken.
func TestStalledServer(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	g := newGate(t, s.Addr().String())
	conn, err := Connect("nats://" + g.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	l, err := NewLive(conn, &LiveOptions{Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	l.answers = 50 * time.Millisecond
	t.Cleanup(l.Stop)
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	g.open.Lock()
	woken := listen(t, l, thread)
	long := []byte(`"` + strings.Repeat("x", store.MaxNoticeBytes-2) + `"`)
	if err := l.Open(t.Context(), run); err != nil {
		t.Errorf("Open: %v", err)
	}
	for range 4 * outgoing { // more than the queue and the buffers of the connection have room for
		l.Wake(spool.ThreadKey{Tenant: "acme", ID: "other"}, store.WakeNotice, long)
	}
	if !l.link.state().up {
		t.Error("Wake has waited until the connection was given up")
	}
	g.open.Unlock()
	woken.wants(t, store.WakeRecord)
}
