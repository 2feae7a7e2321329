package sqlite

import (
	"slices"

	"github.com/spoolhq/spool"
)

var _ spool.EncodedMessages = (*view)(nil)

// MessageIDs implements [spool.EncodedMessages].
func (v *view) MessageIDs(q spool.MessageQuery) ([]spool.MessageID, error) {
	ids := []spool.MessageID{}
	query, args := v.messageQuery("id", q)
	err := v.query(query, func(r *row) error {
		ids = append(ids, spool.MessageID(r.text()))
		return nil
	}, args...)
	if q.Limit > 0 {
		slices.Reverse(ids)
	}
	return ids, err
}

// EachMessage implements [spool.EncodedMessages].
func (v *view) EachMessage(q spool.MessageQuery, fn func(m spool.Message, content string) error) error {
	query, args := v.messageQuery(messageColumns, q)
	return v.query(query, func(r *row) error {
		m, content := v.scanEncoded(r)
		if r.err != nil {
			return r.err
		}
		return fn(m, content)
	}, args...)
}
