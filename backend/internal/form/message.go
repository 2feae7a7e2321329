package form

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// MessageColumns are the columns of [spool.Message] without its thread.
const MessageColumns = `id, agent_id, role, content, created_at, client_message_id, run_id, after_seq`

// ScanMessage reads MessageColumns of a thread.
func ScanMessage(r Row, thread spool.ThreadID) spool.Message {
	m, content := ScanEncodedMessage(r, thread)
	if err := m.Content.UnmarshalJSON(content); err != nil { // package json would scan all of it twice more
		r.Fail(spool.Wrap(spool.Internal, "a message cannot be read", err))
	}
	return m
}

// ScanEncodedMessage reads MessageColumns of a thread. It returns the message without its content, and the stored
// content, which is valid until the next row.
func ScanEncodedMessage(r Row, thread spool.ThreadID) (m spool.Message, content []byte) {
	m = spool.Message{
		ID: spool.MessageID(r.Text()), ThreadID: thread, AgentID: spool.AgentID(r.Text()), Role: spool.Role(r.Text()),
	}
	content = r.Borrowed()
	m.CreatedAt, m.ClientMessageID, m.RunID, m.AfterSeq = r.Time(), r.Text(), spool.RunID(r.Text()), r.Int64()
	return m, content
}

// CompleteMessage sets what a store adds to a new message of a thread whose record ends at last. It returns the stored
// form of the message's content.
func CompleteMessage(m *spool.Message, last int64, now time.Time) (content json.RawMessage, err error) {
	if content, err = m.Content.MarshalStored(); err != nil {
		return nil, spool.Wrap(spool.Invalid, "the message's content cannot be encoded", err)
	}
	m.AfterSeq = last
	if m.CreatedAt.IsZero() {
		m.CreatedAt = now
	}
	return content, nil
}
