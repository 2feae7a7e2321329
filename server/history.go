package server

import (
	"net/http"
	"net/url"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// history answers GET /api/agent/history with a snapshot. Besides threadId it takes
// limit, for the newest so many messages, before, for those before a message, and
// lastMessageId, for those after one.
func (s *Server) history(w http.ResponseWriter, r *http.Request, p Principal) error {
	q, key, err := threadQuery(r, p)
	if err != nil {
		return err
	}
	limit, err := limitOf(q)
	if err != nil {
		return err
	}
	before := q.Get("before")
	if err := checkOptionalID("before", before); err != nil {
		return err
	}
	snapshot, err := s.engine.Snapshot(r.Context(), key, &engine.SnapshotOptions{
		Before:        spool.MessageID(before),
		LastMessageID: lastMessageID(q),
		Limit:         limit,
	})
	if err != nil {
		return about(err, key, "")
	}
	s.writeJSON(w, r, http.StatusOK, snapshot)
	return nil
}

// lastMessageID returns the last message that a client has. One that cannot exist is
// treated like one that does not: the client has none.
func lastMessageID(q url.Values) spool.MessageID {
	id := q.Get("lastMessageId")
	if spool.CheckID("lastMessageId", id) != nil {
		return ""
	}
	return spool.MessageID(id)
}
