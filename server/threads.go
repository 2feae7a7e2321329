package server

import (
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// threadList is the answer to a list of threads.
type threadList struct {
	Threads []spool.Thread `json:"threads"`
	// Next is the before parameter of the next page. Empty: there is none.
	Next string `json:"next,omitempty"`
}

// threads answers GET /api/threads with the tenant's threads, the last updated first: all
// of them, or a page of limit, which before continues.
func (s *Server) threads(w http.ResponseWriter, r *http.Request, p Principal) error {
	q, err := query(r)
	if err != nil {
		return err
	}
	limit, err := limitOf(q)
	if err != nil {
		return err
	}
	page := spool.ThreadQuery{Limit: limit}
	if before := q.Get("before"); before != "" {
		if page.Before, page.BeforeID, err = parseThreadMark(before); err != nil {
			return err
		}
	}
	list, err := s.engine.Threads(r.Context(), p.Tenant, page)
	if err != nil {
		return about(err, p.key(""), "")
	}
	out := threadList{Threads: list}
	if list == nil {
		out.Threads = []spool.Thread{} // an array, whatever the engine made of nothing
	}
	if limit > 0 && len(list) == limit {
		out.Next = threadMark(list[limit-1])
	}
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

// threadMark returns "<updatedAt>~<id>", from which a list goes on after the thread. An
// id has no tilde.
func threadMark(t spool.Thread) string {
	return t.UpdatedAt.UTC().Format(time.RFC3339Nano) + "~" + string(t.ID)
}

func parseThreadMark(mark string) (time.Time, spool.ThreadID, error) {
	at, id, ok := strings.Cut(mark, "~")
	t, err := time.Parse(time.RFC3339Nano, at)
	if !ok || err != nil || spool.CheckID("before", id) != nil {
		return time.Time{}, "", spool.Errorf(spool.Invalid, "before must be the next of an earlier page")
	}
	return t, spool.ThreadID(id), nil
}

// deleteThread answers DELETE /api/threads: 200 when the thread is gone, 404 when it was
// not there, 409 while it has an active run. All bodies are the result.
func (s *Server) deleteThread(w http.ResponseWriter, r *http.Request, p Principal) error {
	_, key, err := threadQuery(r, p)
	if err != nil {
		if spool.CodeOf(err) != spool.Invalid {
			return err
		}
		s.writeJSON(w, r, http.StatusBadRequest, deleteRefusal{Error: spool.MessageOf(err), Code: spool.Invalid})
		return nil
	}
	result, err := s.engine.DeleteThread(r.Context(), key)
	if err != nil {
		return about(err, key, "")
	}
	switch {
	case result.Accepted:
		s.writeJSON(w, r, http.StatusOK, result)
	case result.Reason == engine.ReasonNotFound:
		s.writeJSON(w, r, http.StatusNotFound, result)
	default:
		s.writeJSON(w, r, http.StatusConflict, result)
	}
	return nil
}

// deleteRefusal is the result of a deletion for a request that never got to the engine.
type deleteRefusal struct {
	Accepted bool       `json:"accepted"`
	Error    string     `json:"error"`
	Code     spool.Code `json:"code"`
}
