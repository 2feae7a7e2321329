package postgres

import (
	"math"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// Messages implements [store.View].
func (v *view) Messages(q store.MessageQuery) ([]spool.Message, error) {
	messages := []spool.Message{}
	scan := func(r *row) spool.Message { return form.ScanMessage(r, v.key.ID) }
	if q.Turns && q.ID == "" {
		query, args := v.turnQuery(q)
		err := v.query(query, each(&messages, scan), args...)
		return messages, err
	}
	query, args := v.messageQuery(form.MessageColumns, q)
	err := v.query(query, each(&messages, scan), args...)
	if q.Limit > 0 {
		slices.Reverse(messages)
	}
	return messages, err
}

// messageQuery returns the statement that selects columns of messages. If q has a limit, the newest message comes
// first: see [form.MessageConditions].
func (v *view) messageQuery(columns string, q store.MessageQuery) (query string, args []any) {
	where := form.MessageConditions(v.key, "spool.message", q)
	query = "SELECT " + columns + " FROM spool.message WHERE " + where.Text
	switch {
	case q.ID != "":
		return query, where.Args
	case q.Limit > 0:
		return query + " ORDER BY ord DESC LIMIT ?", append(where.Args, q.Limit)
	default:
		return query + " ORDER BY ord", where.Args
	}
}

// turnQuery returns the statement that selects user turns of the main agent. It walks their index from SinceSeq on,
// and repeats the condition of the index word for word.
func (v *view) turnQuery(q store.MessageQuery) (query string, args []any) {
	before := int64(math.MaxInt64)
	if q.BeforeSeq > 0 {
		before = q.BeforeSeq
	}
	query = "SELECT " + form.MessageColumns + ` FROM spool.message
		WHERE tenant = ? AND thread_id = ? AND role = 'user' AND agent_id = '' AND after_seq >= ? AND after_seq < ?`
	args = []any{v.key.Tenant, v.key.ID, q.SinceSeq, before}
	if q.After != "" {
		query += " AND ord > coalesce((SELECT ord FROM spool.message WHERE tenant = ? AND thread_id = ? AND id = ?), 0)"
		args = append(args, v.key.Tenant, v.key.ID, q.After)
	}
	return query + " ORDER BY after_seq, ord LIMIT ?", append(args, bound(q.Limit))
}

var _ store.EncodedMessages = (*view)(nil)

// MessageIDs implements [store.EncodedMessages].
func (v *view) MessageIDs(q store.MessageQuery) ([]spool.MessageID, error) {
	ids := []spool.MessageID{}
	query, args := v.messageQuery("id", q)
	err := v.query(query, func(r *row) { ids = append(ids, spool.MessageID(r.Text())) }, args...)
	if q.Limit > 0 {
		slices.Reverse(ids)
	}
	return ids, err
}

// EachMessage implements [store.EncodedMessages]. The server sends the messages while fn is called.
func (v *view) EachMessage(q store.MessageQuery, fn func(m spool.Message, content []byte) error) error {
	query, args := v.messageQuery(form.MessageColumns, q)
	return v.query(query, func(r *row) {
		m, content := form.ScanEncodedMessage(r, v.key.ID)
		if r.err == nil {
			r.err = fn(m, content)
		}
	}, args...)
}

// addMessages saves messages in order.
func (t *tx) addMessages(messages []*spool.Message) error {
	for _, m := range messages {
		content, err := form.CompleteMessage(m, t.row.LastSeq, t.now)
		if err != nil {
			return err
		}
		t.write("INSERT INTO spool.message (tenant, thread_id, "+form.MessageColumns+", ord) VALUES (?, ?, "+
			places(form.MessageColumns)+`,
				coalesce((SELECT ord FROM spool.message WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0) + 1)`,
			t.key.Tenant, t.key.ID, m.ID, m.AgentID, string(m.Role), content,
			m.CreatedAt, m.ClientMessageID, m.RunID, m.AfterSeq,
			t.key.Tenant, t.key.ID)
		t.grow(form.MessageSize(m.Role, content))
	}
	return nil
}
