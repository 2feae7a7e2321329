package sqlite

import (
	"math"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// turns returns the user turns of the main agent, as [store.View.Messages] does. It walks their index
// from SinceSeq on. The query repeats the condition of the index word for word.
func (v *view) turns(q store.MessageQuery) ([]spool.Message, error) {
	before, limit := int64(math.MaxInt64), int64(-1)
	if q.BeforeSeq > 0 {
		before = q.BeforeSeq
	}
	if q.Limit > 0 {
		limit = int64(q.Limit)
	}
	query := "SELECT " + form.MessageColumns + ` FROM message INDEXED BY message_turn
		WHERE tenant = ? AND thread_id = ? AND role = 'user' AND agent_id = '' AND after_seq >= ? AND after_seq < ?`
	args := []any{v.key.Tenant, v.key.ID, q.SinceSeq, before}
	if q.After != "" {
		query += " AND ord > coalesce((SELECT ord FROM message WHERE tenant = ? AND thread_id = ? AND id = ?), 0)"
		args = append(args, v.key.Tenant, v.key.ID, q.After)
	}
	return v.messages(query+" ORDER BY after_seq, ord LIMIT ?", append(args, limit)...)
}
