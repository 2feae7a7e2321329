package server

import (
	"context"

	"github.com/spoolhq/spool"
)

// oneThread names the thread that a request is about.
type oneThread struct {
	ThreadID spool.ThreadID `doc:"The thread." example:"t1" maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"threadId" required:"true"`
}

// of returns the thread's key.
func (q oneThread) of(ctx context.Context, s *Server) spool.ThreadKey {
	key := s.asking(ctx).key(q.ThreadID)
	concerns(ctx, key, "")
	return key
}

// lastMessage is the last message that a client has. One that cannot exist is treated like
// one that does not: the client has none.
type lastMessage struct {
	LastMessageID string `doc:"The last message that you have. Those up to it are left out; an unknown one leaves out nothing." query:"lastMessageId"`
}

func (q lastMessage) id() spool.MessageID {
	if spool.CheckID("lastMessageId", q.LastMessageID) != nil {
		return ""
	}
	return spool.MessageID(q.LastMessageID)
}

// checkOptionalID is [spool.CheckID] for a field that may be absent.
func checkOptionalID(field, id string) error {
	if id == "" {
		return nil
	}
	return spool.CheckID(field, id)
}
