package nats

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// LiveOptions are the options of [NewLive]. The zero value works.
type LiveOptions struct {
	// Prefix begins all subjects. Programs that share NATS servers, but no store, need different prefixes.
	// Defaults to [DefaultPrefix].
	Prefix string
	// Patience is how long a call waits for a connection to NATS, counted from the loss of the connection. After
	// that, the streams of other processes are gone. Defaults to 5 s.
	Patience time.Duration
	// MaxBytes bounds the memory of the streams that this process owns. Beyond it, the stream that ended first
	// is removed. Defaults to 256 MiB.
	MaxBytes int64
	// Log gets what goes wrong. Defaults to [slog.Default].
	Log *slog.Logger
}

const (
	defaultPatience = 5 * time.Second
	// answerTimeout is the default of [Live.answers].
	answerTimeout = 2 * time.Second
	// incoming and outgoing are how many messages may wait in this process. Further ones are dropped, so their
	// topics are read at the next poll, and their requests are not answered.
	incoming = 1 << 16
	outgoing = 1 << 14
)

// Live is a [store.Live] for processes that share a store: see the package comment. It is safe for concurrent
// use. [Live.Stop] ends it.
type Live struct {
	conn     *natsgo.Conn
	subjects subjects
	node     nodeID
	patience time.Duration
	// answers bounds the wait for an owner or a server that has a connection, and does not answer.
	answers time.Duration
	log     *slog.Logger
	// local has the streams that this process owns, and the subscribers of this process.
	local *inprocess.Live
	link  link

	in  chan *natsgo.Msg // messages of all subscriptions, in the order in which they came
	out chan wakeUp

	mu      sync.Mutex
	deletes *natsgo.Subscription
	owned   map[spool.ThreadKey]map[wire.StreamID]*owned
	topics  map[spool.ThreadKey]*topic
	// lost are streams of other processes that are gone for this one, until the given time: see [Live.lose].
	lost map[store.StreamKey]time.Time

	stalled atomic.Bool // the server has not answered a flush
	stall   chan struct{}
	// life ends with the Live.
	life    context.Context //nolint:containedctx // it is the Live's, not a call's
	end     context.CancelFunc
	stop    sync.Once
	working sync.WaitGroup
}

var _ store.Live = (*Live)(nil)

// NewLive returns a Live over a connection, which the caller closes after the Live. Several Lives and other
// code may share the connection. Nil options stand for the defaults. NewLive does not wait for a server. It
// returns an [spool.Invalid] error for a connection that does not reconnect for ever.
func NewLive(conn *natsgo.Conn, o *LiveOptions) (*Live, error) {
	if o == nil {
		o = &LiveOptions{}
	}
	prefix, patience, log := o.Prefix, o.Patience, o.Log
	if prefix == "" {
		prefix = DefaultPrefix
	}
	if patience <= 0 {
		patience = defaultPatience
	}
	if log == nil {
		log = slog.Default()
	}
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	if err := checkConn(conn); err != nil {
		return nil, err
	}
	l := &Live{
		conn: conn, subjects: subjects(prefix), node: newNodeID(), patience: patience, answers: answerTimeout, log: log,
		local: inprocess.NewLive(o.MaxBytes),
		in:    make(chan *natsgo.Msg, incoming), out: make(chan wakeUp, outgoing),
		owned: make(map[spool.ThreadKey]map[wire.StreamID]*owned), topics: make(map[spool.ThreadKey]*topic),
		lost:  make(map[store.StreamKey]time.Time),
		stall: make(chan struct{}, 1),
	}
	l.life, l.end = context.WithCancel(context.Background())
	changes := conn.StatusChanged()
	l.link.set(conn.IsConnected())
	var err error
	if l.deletes, err = conn.ChanSubscribe(l.subjects.of(kindDelete), l.in); err != nil {
		conn.RemoveStatusListener(changes)
		l.end()
		return nil, spool.Wrap(spool.Unavailable, "subscribe to NATS", err)
	}
	l.working.Go(l.receive)
	l.working.Go(l.send)
	l.working.Go(func() { l.watch(changes) })
	return l, nil
}

func newNodeID() nodeID {
	var random [8]byte
	_, _ = rand.Read(random[:])
	return nodeID(binary.LittleEndian.Uint64(random[:]))
}

// Stop ends all subscriptions and the goroutines of the Live, and gives up the streams of this process. Call it
// after the engine has ended. It may be called more than once.
func (l *Live) Stop() {
	l.stop.Do(func() {
		l.end()
		l.working.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.unsubscribe(l.deletes)
		for _, t := range l.topics {
			l.unsubscribe(t.sub)
		}
		for _, streams := range l.owned {
			for _, o := range streams {
				o.stopTimer()
				l.unsubscribe(o.sub)
			}
		}
		clear(l.topics)
		clear(l.owned)
	})
}

// unsubscribe ends a subscription. An error means that the connection is closed, and the subscription with it.
func (l *Live) unsubscribe(sub *natsgo.Subscription) { _ = sub.Unsubscribe() }

// receive handles the messages of all subscriptions, one after another, so that a deletion comes before a
// request that was sent after it.
func (l *Live) receive() {
	for {
		select {
		case <-l.life.Done():
			return
		case m := <-l.in:
			l.handle(m)
		}
	}
}

func (l *Live) handle(m *natsgo.Msg) {
	switch kind, tokens := l.subjects.parse(m.Subject); {
	case kind == kindWake && len(tokens) == 2:
		w, err := decodeWakeUp(m.Data)
		if err == nil && w.from != l.node { // its own subscribers are woken already
			l.local.Wake(spool.ThreadKey{Tenant: spool.Tenant(tokens[0]), ID: spool.ThreadID(tokens[1])}, w.kind, w.notice)
		}
	case kind == kindStream && len(tokens) == 3:
		thread := spool.ThreadKey{Tenant: spool.Tenant(tokens[0]), ID: spool.ThreadID(tokens[1])}
		l.answer(m, store.StreamKey{Thread: thread, ID: wire.StreamID(tokens[2])})
	case kind == kindDelete:
		d, err := decodeDeletion(m.Data)
		if err == nil && d.from != l.node {
			l.deleteOwned(l.life, d.thread)
		}
	}
}
