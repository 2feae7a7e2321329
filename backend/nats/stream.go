package nats

import (
	"context"
	"errors"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Open makes this process the owner of the stream, unless another process has it. If two processes open the
// same stream at the same moment, each may get its own. An engine never does that, because the id of a stream
// has the number of its segment.
func (l *Live) Open(ctx context.Context, key store.StreamKey) error {
	if l.owns(key) {
		return l.openOwned(ctx, key)
	}
	if _, err := l.ask(ctx, key, request{op: opFind}); !errors.Is(err, store.ErrStreamGone) {
		return err
	}
	if err := l.openOwned(ctx, key); err != nil {
		return err
	}
	l.confirm(ctx)
	return nil
}

func (l *Live) openOwned(ctx context.Context, key store.StreamKey) error {
	if err := l.local.Open(ctx, key); err != nil {
		return err
	}
	return l.own(key)
}

// Append adds items in this process, if it owns the stream. Then it does not wait for NATS.
func (l *Live) Append(ctx context.Context, key store.StreamKey, items []wire.Item) error {
	if l.owns(key) {
		return l.appendOwned(ctx, key, items)
	}
	_, err := l.ask(ctx, key, request{op: opAppend, items: items})
	return err
}

// Read reads in this process, or asks the stream's owner. If NATS stays away for
// [LiveOptions.Patience], it returns an [store.ErrStreamGone] error. A reader that has read a part of the stream
// has lost it then: the stream stays gone for this process, as for a reader whose stream was removed.
func (l *Live) Read(ctx context.Context, key store.StreamKey, after wire.Offset, limit int) (store.StreamPage, error) {
	if l.owns(key) {
		return l.local.Read(ctx, key, after, limit)
	}
	r := remoteRead{after: after}
	for {
		q := request{op: opRead, after: r.after, skip: int64(len(r.part))}
		if limit > 0 {
			q.limit = int64(limit - len(r.page.Items))
		}
		p, err := l.ask(ctx, key, q)
		if err == nil {
			err = r.add(p)
		}
		if err != nil {
			return store.StreamPage{}, err
		}
		if r.part == nil && (len(p.page.Items) == 0 || r.after.Compare(r.page.Last) >= 0 ||
			limit > 0 && len(r.page.Items) >= limit) {
			return r.page, nil
		}
	}
}

// remoteRead collects a page from several replies.
type remoteRead struct {
	page  store.StreamPage
	after wire.Offset // of the last item in page
	part  []byte      // of the data of an item that one message has no room for
}

func (r *remoteRead) add(p reply) error {
	r.page.Last, r.page.Ended = p.page.Last, p.page.Ended
	switch {
	case p.size == 0 && r.part == nil:
		r.page.Items = append(r.page.Items, p.page.Items...)
	case p.size == 0 || len(p.page.Items) != 1 || len(p.page.Items[0].Data) == 0:
		return store.ErrStreamGone // the stream has begun anew
	default:
		item := p.page.Items[0]
		if r.part = append(r.part, item.Data...); int64(len(r.part)) < p.size {
			return nil
		}
		item.Data, r.part = r.part, nil
		r.page.Items = append(r.page.Items, item)
	}
	if n := len(r.page.Items); n > 0 {
		r.after = r.page.Items[n-1].Offset
	}
	return nil
}

// Close closes the stream in this process, or asks the stream's owner to.
func (l *Live) Close(ctx context.Context, key store.StreamKey, end wire.Item, grace time.Duration) error {
	if l.owns(key) {
		return l.closeOwned(ctx, key, end, grace)
	}
	_, err := l.ask(ctx, key, request{op: opClose, items: []wire.Item{end}, grace: grace})
	return err
}

// Delete removes the thread's streams in all processes that can be reached. If NATS is away, it returns an
// [spool.Unavailable] error, and streams elsewhere stay up to their grace.
func (l *Live) Delete(ctx context.Context, thread spool.ThreadKey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.deleteOwned(ctx, thread)
	err := l.conn.Publish(l.subjects.of(kindDelete), deletion{from: l.node, thread: thread}.encode())
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, l.answers)
		defer cancel()
		if !l.link.state().up {
			err = natsgo.ErrDisconnected
		} else {
			err = l.conn.FlushWithContext(ctx)
		}
	}
	return spool.Wrap(spool.Unavailable, "tell the other processes to delete run streams", err)
}

// ask asks the owner of a stream. It returns [store.ErrStreamGone] if there is none, or if it cannot be reached
// in time.
func (l *Live) ask(ctx context.Context, key store.StreamKey, q request) (reply, error) {
	if err := ctx.Err(); err != nil {
		return reply{}, err
	}
	if l.isLost(key) {
		return reply{}, store.ErrStreamGone
	}
	p, err := l.askOwner(ctx, key, q)
	switch {
	case err != nil && ctx.Err() != nil:
		return reply{}, ctx.Err()
	case errors.Is(err, natsgo.ErrMaxPayload), errors.Is(err, errInterrupted):
		return reply{}, spool.Wrap(spool.Unavailable, "ask the process that owns the run stream", err)
	case err == nil && p.status != statusGone:
		return p, p.status.err()
	case q.positioned():
		l.lose(key, lostFor)
	case errors.Is(err, errSilent):
		l.lose(key, silentFor)
	}
	return reply{}, store.ErrStreamGone
}

var (
	// errSilent says that the owner has not answered in time: it is stopped or overloaded.
	errSilent = errors.New("no answer")
	// errInterrupted says that the owner may have done what it was asked to, and that it is wrong to ask again.
	errInterrupted = errors.New("the connection was lost")
)

// askOwner sends a request to the owner of a stream, and waits for a connection before that. If the connection
// changes in between, it asks again.
func (l *Live) askOwner(ctx context.Context, key store.StreamKey, q request) (reply, error) {
	subject, data := l.subjects.stream(key), q.encode()
	for {
		state, up := l.link.wait(ctx, l.patience)
		if !up {
			return reply{}, natsgo.ErrDisconnected
		}
		m, err := l.request(ctx, state, subject, data)
		switch {
		case err == nil:
			return decodeReply(m.Data)
		case ctx.Err() == nil && state.current.Err() != nil && q.op == opAppend:
			return reply{}, errInterrupted
		case ctx.Err() == nil && state.current.Err() != nil && !errors.Is(err, natsgo.ErrConnectionClosed):
			continue
		case errors.Is(err, context.DeadlineExceeded):
			return reply{}, errSilent
		default:
			return reply{}, err
		}
	}
}

// request sends a request. It waits for an answer until the connection changes, but not for long.
func (l *Live) request(ctx context.Context, of linkState, subject string, data []byte) (*natsgo.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, l.answers)
	defer cancel()
	defer context.AfterFunc(of.current, cancel)() //nolint:contextcheck // the state of the connection ends the wait as well
	return l.conn.RequestWithContext(ctx, subject, data)
}
