package sqlite

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// Messages implements [store.View].
func (v *view) Messages(q store.MessageQuery) ([]spool.Message, error) {
	if q.Turns && q.ID == "" {
		return v.turns(q)
	}
	query, args := v.messageQuery(form.MessageColumns, q)
	messages, err := v.messages(query, args...)
	if q.Limit > 0 && q.ID == "" {
		slices.Reverse(messages)
	}
	return messages, err
}

// messageQuery returns the statement that selects columns of messages. If q has a limit, the newest
// message comes first: see [form.MessageConditions].
func (v *view) messageQuery(columns string, q store.MessageQuery) (query string, args []any) {
	table := "message"
	switch {
	case q.ID != "":
	case q.Branch != 0:
		table = "message INDEXED BY message_branch"
	case q.Role == spool.RoleSystem:
		table = "message INDEXED BY message_summary"
	}
	where := form.MessageConditions(v.key, "message", q)
	query = "SELECT " + columns + " FROM " + table + " WHERE " + where.Text
	switch {
	case q.ID != "":
		return query, where.Args
	case q.Limit > 0:
		return query + " ORDER BY ord DESC LIMIT ?", append(where.Args, q.Limit)
	default:
		return query + " ORDER BY ord", where.Args
	}
}

// messages returns the messages that a query selects.
func (v *view) messages(query string, args ...any) ([]spool.Message, error) {
	messages := []spool.Message{}
	err := v.query(query, each(&messages, func(r form.Row) spool.Message { return form.ScanMessage(r, v.key.ID) }),
		args...)
	return messages, err
}

// appendMessages adds messages to the end of the view.
func (t *tx) appendMessages(messages []*spool.Message) error {
	if err := t.needThread(); err != nil {
		return err
	}
	for _, m := range messages {
		content, err := form.CompleteMessage(m, t.row.LastSeq, t.now)
		if err != nil {
			return err
		}
		err = t.write("INSERT INTO message (tenant, thread_id, "+form.MessageColumns+`, ord)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
				coalesce((SELECT ord FROM message WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0) + 1)`,
			t.key.Tenant, t.key.ID, m.ID, m.AgentID, string(m.Role), content,
			m.CreatedAt, m.ClientMessageID, m.RunID, m.AfterSeq,
			t.key.Tenant, t.key.ID)
		switch {
		case isUnique(err):
			return store.ErrMessageIDUsed
		case err != nil:
			return err
		}
		t.grow(form.MessageSize(m.Role, content))
	}
	return nil
}

var errNoMessage = &spool.Error{Code: spool.NotFound, Message: "message not found"}
