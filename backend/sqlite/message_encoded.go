package sqlite

import (
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

var _ store.EncodedMessages = (*view)(nil)

// A whole thread is read rarely and may be large. A small cache does not keep the thread's pages in
// memory, and does not slow down a reader that goes from start to end.
const (
	smallCache = "PRAGMA cache_size = -256"
	wholeCache = "PRAGMA " + cacheSize
)

// MessageIDs implements [store.EncodedMessages].
func (v *view) MessageIDs(q store.MessageQuery) ([]spool.MessageID, error) {
	ids := []spool.MessageID{}
	query, args := v.messageQuery("id", q)
	err := v.query(query, func(r *row) error {
		ids = append(ids, spool.MessageID(r.Text()))
		return nil
	}, args...)
	if q.Limit > 0 && q.ID == "" {
		slices.Reverse(ids)
	}
	return ids, err
}

// EachMessage implements [store.EncodedMessages].
func (v *view) EachMessage(q store.MessageQuery, fn func(m spool.Message, content []byte) error) (err error) {
	query, args := v.messageQuery(form.MessageColumns, q)
	// possibly the whole thread; a lender may take the connection back, which must have its cache then
	if q.ID == "" && q.After == "" && q.SinceSeq == 0 && v.c.lender == nil {
		if err = v.c.raw.Script(smallCache); err != nil {
			return unavailable(err)
		}
		defer func() { err = errors.Join(err, unavailable(v.c.raw.Script(wholeCache))) }()
	}
	return v.query(query, func(r *row) error {
		m, content := form.ScanEncodedMessage(r, v.key.ID)
		if r.err != nil {
			return r.err
		}
		return fn(m, content)
	}, args...)
}
