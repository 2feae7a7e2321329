package postgres

import (
	"context"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// pieceBytes bounds the bytes in one notification. PostgreSQL allows less than 8,000 characters.
	pieceBytes = 5700
	// listenCheck is how often an idle listening connection is checked: a connection that a firewall has dropped
	// looks idle.
	listenCheck      = 20 * time.Second
	listenTimeout    = 10 * time.Second
	minListenBackoff = 100 * time.Millisecond
	maxListenBackoff = 5 * time.Second
)

// channel is the one channel of an installation.
func (l *live) channel() string { return "spool_" + l.db.dialect.schema }

// payloads divides a body into notifications. Each has the node, the number of the piece, the number of pieces,
// and the piece itself. PostgreSQL drops a notification that is equal to another one of the transaction, and no
// two of these are equal.
func payloads(node string, body []byte) (texts []string) {
	pieces := (len(body) + pieceBytes - 1) / pieceBytes
	for i := range pieces {
		piece := body[i*pieceBytes : min(len(body), (i+1)*pieceBytes)]
		texts = append(texts, node+" "+strconv.Itoa(i)+" "+strconv.Itoa(pieces)+" "+base64.StdEncoding.EncodeToString(piece))
	}
	return texts
}

// pollsPayload is a notification that tells that a process polls: it has no wake-ups.
func pollsPayload(node string) string { return node + " 0 1 " }

// pieces puts the bodies of other processes together. The notifications of a transaction arrive in order, and
// those of two transactions one after the other.
type pieces struct {
	node string
	next int
	body []byte
}

// add adds a notification. It returns the body once that is complete, and which process has sent it.
func (p *pieces) add(payload string) (node string, body []byte, complete bool) {
	fields := strings.SplitN(payload, " ", 4)
	if len(fields) != 4 {
		return "", nil, false
	}
	number, err1 := strconv.Atoi(fields[1])
	of, err2 := strconv.Atoi(fields[2])
	piece, err3 := base64.StdEncoding.DecodeString(fields[3])
	if errors.Join(err1, err2, err3) != nil {
		return "", nil, false
	}
	if number == 0 {
		p.node, p.next, p.body = fields[0], 0, nil
	}
	if p.node != fields[0] || p.next != number {
		return "", nil, false
	}
	p.next++
	p.body = append(p.body, piece...)
	return p.node, p.body, p.next == of
}

// listen keeps a connection that listens, until the database is closed.
func (l *live) listen() {
	backoff := minListenBackoff
	for first := true; ; first = false {
		began := time.Now()
		err := l.listenOnce(!first)
		if l.ctx.Err() != nil {
			return
		}
		l.db.log.WarnContext(l.ctx, "listen for wake-ups", "error", err)
		if time.Since(began) > maxListenBackoff {
			backoff = minListenBackoff
		}
		if !l.pause(backoff/2 + rand.N(backoff)) { //nolint:gosec // it is no secret
			return
		}
		backoff = min(2*backoff, maxListenBackoff)
	}
}

// listenOnce opens a connection and receives wake-ups on it, until it breaks. Again says that there was one
// before: what was sent in between is lost, and all subscribers are woken.
func (l *live) listenOnce(again bool) error {
	config := l.db.pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = "spool listen"
	ctx, cancel := context.WithTimeout(l.ctx, listenTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.channel()}.Sanitize()); err != nil {
		return err
	}
	l.notePoller() // whoever polls has not said so yet
	l.arrive(again)
	var from pieces
	for {
		notification, err := l.nextNotification(conn)
		if err != nil {
			return err
		}
		node, body, complete := from.add(notification.Payload)
		switch {
		case !complete || node == l.node:
		case len(body) == 0:
			l.notePoller()
		default:
			l.receive(body)
		}
	}
}

// nextNotification waits for a notification. While none comes, it checks the connection from time to time.
func (l *live) nextNotification(conn *pgx.Conn) (*pgconn.Notification, error) {
	for {
		ctx, cancel := context.WithTimeout(l.ctx, listenCheck)
		notification, err := conn.WaitForNotification(ctx)
		cancel()
		if err == nil || l.ctx.Err() != nil || !pgconn.Timeout(err) || conn.IsClosed() {
			return notification, err
		}
		ctx, cancel = context.WithTimeout(l.ctx, listenTimeout)
		_, err = conn.Exec(ctx, "SELECT 1")
		cancel()
		if err != nil {
			return nil, err
		}
	}
}
