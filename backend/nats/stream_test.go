package nats

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A reader elsewhere gets the same pages, also of items that are larger than a message may be.
func TestPages(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.stop()
	s.options.MaxPayload = 4 << 10
	s.start()
	owner, other := s.node(nil), s.node(nil)
	random := rand.New(rand.NewPCG(3, 5))
	var all []wire.Item
	for n := range int64(300) {
		text := strings.Repeat("x", random.IntN(100))
		if n%25 == 7 {
			text = strings.Repeat("y", random.IntN(20<<10))
		}
		all = append(all, wire.NewItem(wire.ItemTextContent, wire.Offset{Fence: 2, N: n + 1}, n/9,
			wire.Delta{MessageID: "m", Delta: text}))
	}
	open(t, owner, run, all)
	check := func() {
		t.Helper()
		for _, limit := range []int{0, 1, 2, 50, 299, 300, 301} {
			for _, after := range []int64{0, 1, 6, 7, 8, 150, 299, 300, 301, 400} {
				offset := wire.Offset{Fence: 2, N: after}
				want, err := owner.Read(t.Context(), run, offset, limit)
				if err != nil {
					t.Fatal(err)
				}
				got, err := other.Read(t.Context(), run, offset, limit)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.EqualFunc(got.Items, want.Items, same) || got.Last != want.Last || got.Ended != want.Ended {
					t.Errorf(
						"limit %d after %d: %d items, last %v, ended %t, want %d, %v, %t",
						limit, after, len(got.Items), got.Last, got.Ended, len(want.Items), want.Last, want.Ended,
					)
				}
			}
		}
	}
	check()
	if err := owner.Close(t.Context(), run, endItem(2, 301), time.Hour); err != nil {
		t.Fatal(err)
	}
	check()
}

// Threads whose ids have dots do not hear each other, and their streams are apart.
func TestIDs(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	one, two := s.node(nil), s.node(nil)
	keys := []spool.ThreadKey{
		{Tenant: "a", ID: "b.c"},
		{Tenant: "a.b", ID: "c"},
		{Tenant: "a", ID: "b"},
		{Tenant: "a", ID: "b%2Ec"},
		{Tenant: "a", ID: ">"},
		{Tenant: "*", ID: "jobs"},
		{Tenant: "a", ID: ""},
		{Tenant: "a", ID: "b c"},
		{Tenant: "ü", ID: "b:c-d_e"},
	}
	heard := make([]listener, len(keys))
	for i, key := range keys {
		heard[i] = listen(t, two, key)
		open(t, one, store.StreamKey{Thread: key, ID: "r.1:1"}, items(1, 1, int64(i+1)))
	}
	for _, key := range keys {
		one.Wake(key, store.WakeRecord, nil)
	}
	for i, key := range keys {
		heard[i].wants(t, store.WakeRecord)
		wantItems(t, two, store.StreamKey{Thread: key, ID: "r.1:1"}, items(1, 1, int64(i+1)))
	}
	for i, key := range keys {
		if len(heard[i]) != 0 {
			t.Errorf("%v was woken for another one", key)
		}
	}
}

// Nothing remains of streams and subscribers that have ended.
func TestNothingRemains(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	l := s.node(nil)
	if _, err := l.Read(t.Context(), run, wire.Offset{}, 0); err == nil { // it makes the inbox of the connection
		t.Fatal("there is a stream already")
	}
	before := s.NumSubscriptions()
	stop, err := l.Subscribe(t.Context(), thread, func(store.WakeKind, []byte) {})
	if err != nil {
		t.Fatal(err)
	}
	other := store.StreamKey{Thread: spool.ThreadKey{Tenant: "acme", ID: "t2"}, ID: "r:1"}
	passing := store.StreamKey{Thread: thread, ID: "r:2"}
	for _, key := range []store.StreamKey{run, other, passing} {
		open(t, l, key, items(1, 1, 3))
	}
	if now := s.NumSubscriptions(); now != before+4 {
		t.Errorf("the server has %d subscriptions more, want 4", now-before)
	}
	if err := l.Close(t.Context(), run, endItem(1, 4), 0); err != nil {
		t.Error(err)
	}
	if err := l.Close(t.Context(), passing, endItem(1, 4), 10*time.Millisecond); err != nil {
		t.Error(err)
	}
	if err := l.Delete(t.Context(), other.Thread); err != nil {
		t.Error(err)
	}
	stop()
	eventually(t, "the subscriptions to go", func() bool { return s.NumSubscriptions() == before })
	l.Stop()
	eventually(t, "the last one to go", func() bool { return s.NumSubscriptions() < before })
}

// A stream that was closed and was pushed out can be opened again, and the timer of its earlier end does not
// touch it.
func TestOpenAgain(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	owner, other := s.node(&LiveOptions{MaxBytes: 4 << 10}), s.node(nil)
	open(t, owner, run, nil)
	if err := owner.Close(t.Context(), run, endItem(1, 1), time.Hour); err != nil {
		t.Fatal(err)
	}
	first := owner.owned[thread][run.ID]
	open(t, owner, store.StreamKey{Thread: thread, ID: "r:2"}, items(1, 1, 30))
	_, err := owner.Read(t.Context(), run, wire.Offset{}, 0)
	wantIs(t, "Read of the stream that was pushed out", err, store.ErrStreamGone)
	if err := owner.Open(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	owner.disown(run, first) // as the timer does
	if page, err := other.Read(t.Context(), run, wire.Offset{}, 0); err != nil || page.Ended {
		t.Errorf("the stream that was opened again: %v, ended %t", err, page.Ended)
	}
}

// A stream that was pushed out has no owner from the next append on.
func TestPushedOut(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	owner := s.node(&LiveOptions{MaxBytes: 4 << 10})
	open(t, owner, run, nil)
	open(t, owner, store.StreamKey{Thread: thread, ID: "r:2"}, items(1, 1, 30))
	wantIs(t, "Append", owner.Append(t.Context(), run, items(1, 1, 1)), store.ErrStreamGone)
	if owner.owns(run) {
		t.Error("it is still owned")
	}
}

// Mistakes of the caller are told at once.
func TestNewLiveRefuses(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	conn, err := natsgo.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for name, try := range map[string]func() error{
		"no connection":         func() error { _, err := NewLive(nil, nil); return err },
		"one that gives up":     func() error { _, err := NewLive(conn, nil); return err },
		"a prefix with a space": func() error { _, err := NewLive(s.connect(), &LiveOptions{Prefix: "a b"}); return err },
		"an empty token":        func() error { _, err := NewLive(s.connect(), &LiveOptions{Prefix: "a..b"}); return err },
		"tickets with a wildcard": func() error {
			_, err := NewTickets(s.connect(), &TicketOptions{Prefix: "a.>"})
			return err
		},
	} {
		if err := try(); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What another program publishes on the subjects does no harm.
func TestForeignMessages(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	l, conn := s.node(nil), s.connect()
	open(t, l, run, items(1, 1, 2))
	woken := listen(t, l, thread)
	for _, data := range []string{
		"", "{}", "\x01", "\x01\x02", "\x02\x01", string(request{op: 99}.encode()), string(request{op: opClose}.encode()),
	} {
		for _, subject := range []string{l.subjects.stream(run), l.subjects.wake(thread), "spool.delete"} {
			if err := conn.PublishRequest(subject, natsgo.NewInbox(), []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := conn.Publish(l.subjects.wake(thread), wakeUp{from: 1, kind: store.WakeStop}.encode()); err != nil {
		t.Fatal(err)
	}
	woken.wants(t, store.WakeStop)
	wantItems(t, s.node(nil), run, items(1, 1, 2))
}

func FuzzToken(f *testing.F) {
	f.Add("t.1")
	f.Add("")
	f.Add("% *>\n")
	f.Fuzz(func(t *testing.T, text string) {
		token := encodeToken(text)
		if token == "" || strings.ContainsAny(token, ". *>\t\r\n") {
			t.Errorf("%q becomes %q, which is no token", text, token)
		}
		if got, ok := decodeToken(token); !ok || got != text {
			t.Errorf("%q becomes %q and then %q", text, token, got)
		}
	})
}

// FuzzWire: a message that can be read says the same when it is written again.
func FuzzWire(f *testing.F) {
	all := items(1, 1, 2)
	f.Add(request{op: opRead, after: all[0].Offset, limit: 3, skip: 1}.encode())
	f.Add(request{op: opClose, items: all[:1], grace: time.Minute}.encode())
	f.Add(reply{
		status: statusDone, page: store.StreamPage{Items: all, Last: all[1].Offset, Ended: true}, size: 9,
	}.encode())
	f.Add(wakeUp{from: 7, kind: store.WakeNotice, notice: []byte(`{"a":1}`)}.encode())
	f.Add(deletion{from: 7, thread: thread}.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		again(t, data, decodeRequest)
		again(t, data, decodeReply)
		again(t, data, decodeWakeUp)
		again(t, data, decodeDeletion)
	})
}

func again[T interface{ encode() []byte }](t *testing.T, data []byte, decode func([]byte) (T, error)) {
	t.Helper()
	first, err := decode(data)
	if err != nil {
		return
	}
	second, err := decode(first.encode())
	if err != nil || string(first.encode()) != string(second.encode()) {
		t.Errorf("%+v became %+v, %v", first, second, err)
	}
}
