package sqlite

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
)

// Messages implements [spool.View].
func (v *view) Messages(q spool.MessageQuery) ([]spool.Message, error) {
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
// message comes first. Every part of the query walks the primary key, or the index of the branch. The
// query first turns ids into positions in the order. after_seq never falls along the order, so a walk
// from the end stops at the first message that SinceSeq leaves out.
func (v *view) messageQuery(columns string, q spool.MessageQuery) (query string, args []any) {
	if q.ID != "" {
		return "SELECT " + columns + " FROM message WHERE tenant = ? AND thread_id = ? AND dropped IS NULL AND id = ?",
			[]any{v.key.Tenant, v.key.ID, q.ID}
	}
	table, shown := "message", "dropped IS NULL"
	args = []any{v.key.Tenant, v.key.ID}
	if q.Branch != 0 {
		table, shown = "message INDEXED BY message_branch", "dropped = ?"
		args = append(args, int64(q.Branch))
	}
	if q.Branch == 0 && q.Role == spool.RoleSystem {
		table = "message INDEXED BY message_summary"
	}
	of := slices.Clip(args)
	place := "(SELECT ord FROM message WHERE tenant = ? AND thread_id = ? AND " + shown + " AND id = ?)"

	query = "SELECT " + columns + " FROM " + table + " WHERE tenant = ? AND thread_id = ? AND " + shown
	if q.After != "" {
		query += " AND ord > coalesce(" + place + ", 0)"
		args = append(append(args, of...), q.After)
	}
	if q.Before != "" {
		query += " AND ord < coalesce(" + place + ", 9223372036854775807)"
		args = append(append(args, of...), q.Before)
	}
	if q.SinceSeq > 0 {
		query += ` AND ord > coalesce((SELECT ord FROM message WHERE tenant = ? AND thread_id = ? AND after_seq < ?
			ORDER BY ord DESC LIMIT 1), 0)`
		args = append(args, v.key.Tenant, v.key.ID, q.SinceSeq)
	}
	switch q.Role {
	case "":
	case spool.RoleSystem: // a literal, so that the index of summaries can be used
		query += " AND role = 'system'"
	default:
		query += " AND role = ?"
		args = append(args, string(q.Role))
	}
	if q.Run != "" {
		query += " AND run_id = ?"
		args = append(args, string(q.Run))
	}
	if q.Agent != nil {
		query += " AND agent_id = ?"
		args = append(args, *q.Agent)
	}
	if q.Limit > 0 {
		query += " ORDER BY ord DESC LIMIT ?"
		args = append(args, q.Limit)
	} else {
		query += " ORDER BY ord"
	}
	return query, args
}

// messages returns the messages that a query selects.
func (v *view) messages(query string, args ...any) ([]spool.Message, error) {
	messages := []spool.Message{}
	err := v.query(query, func(r *row) error {
		messages = append(messages, form.ScanMessage(r, v.key.ID))
		return nil
	}, args...)
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
			return spool.ErrMessageIDUsed
		case err != nil:
			return err
		}
		t.grow(form.MessageSize(m.Role, content))
	}
	return nil
}

var errNoMessage = &spool.Error{Code: spool.NotFound, Message: "message not found"}
