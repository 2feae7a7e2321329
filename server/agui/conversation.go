package agui

import (
	"bytes"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// NewForm returns the form of snapshots for AG-UI. The engine shares snapshots of the same form: a server makes one.
func NewForm(a Address) wire.SnapshotForm { return &conversation{address: a} }

// conversation turns the messages of a thread into messages of the protocol. It takes the messages of the
// run's own agent, with the ids that they had in the stream. It leaves out summaries, which are only for
// models.
type conversation struct {
	address Address

	run  spool.RunID // of the last message
	step int         // of that run
}

// AppendMessage implements [engine.SnapshotForm].
func (c *conversation) AppendMessage(b []byte, m spool.Message) ([]byte, wire.SnapshotForm, error) {
	next := *c
	if _, summary := m.Content.Summary(); summary || m.AgentID != "" {
		return b, &next, nil // the messages that a summary covers are there
	}
	if m.RunID != next.run {
		next.run, next.step = m.RunID, 0
	}
	if m.Role == spool.RoleAssistant {
		next.step++ // each step has one message, except an empty last step
	}
	b, err := appendMessages(b, next.messages(m))
	return b, &next, err
}

// messages returns a message of the thread in the form of the protocol.
func (c *conversation) messages(m spool.Message) (all []Message) {
	switch m.Role {
	case spool.RoleAssistant:
		return c.assistant(m)
	case spool.RoleTool:
		for _, p := range m.ToolResults() {
			all = append(all, Message{
				ID: resultID(c.run, c.step, p.ToolCallID), Role: spool.RoleTool, Content: resultText(p.Result),
				ToolCallID: p.ToolCallID, Metadata: c.address.extraOf(m.ThreadID, m.Content, p.ToolCallID),
			})
		}
		return all
	case spool.RoleUser:
		return []Message{{ID: turnID(m), Role: spool.RoleUser, Content: userContent(m.Content)}}
	default:
		return []Message{{ID: string(m.ID), Role: m.Role, Content: m.Text()}}
	}
}

// assistant returns the messages of a step, and each block of reasoning as a message of its own, in the order
// in which they began in the stream.
func (c *conversation) assistant(m spool.Message) (all []Message) {
	id, reasonings, at := messageID(c.run, c.step), 0, -1
	own := Message{ID: id, Role: spool.RoleAssistant, Metadata: c.address.extraOf(m.ThreadID, m.Content, "")}
	for _, p := range m.Content {
		if p.Type == spool.PartReasoning && p.Text != "" {
			reasonings++
			all = append(all, Message{ID: reasoningID(c.run, c.step, reasonings), Role: roleReasoning, Content: p.Text})
		}
		switch p.Type {
		case spool.PartText, spool.PartToolCall, spool.PartImage, spool.PartFile:
		default:
			continue
		}
		if at < 0 {
			at = len(all)
			all = append(all, own)
		}
		if p.Type == spool.PartToolCall {
			own.ToolCalls = append(own.ToolCalls, call(p.ToolCallID, p.ToolName, argsText(p.Args)))
		}
	}
	if at < 0 {
		return all
	}
	if text := m.Text(); text != "" {
		own.Content = text
	}
	all[at] = own
	return all
}

// unfinished are the messages of what the stream says behind those of the thread. Each has a comma before it.
type unfinished []byte

// Finish implements [engine.SnapshotForm]. It returns a [*projection.Streamed] with its [unfinished] messages.
func (c *conversation) Finish(s *wire.Snapshot) (shared any, size int64, err error) {
	f := projection.Fold(s)
	if len(f.Unfinished) == 0 {
		return f, f.Size(), nil
	}
	r, _ := projection.RunOf(s, s.Stream.RunID)
	var text []byte
	var form wire.SnapshotForm = &conversation{address: c.address, run: r.ID, step: r.Steps}
	for _, m := range f.Said(s) {
		if text, form, err = form.AppendMessage(text, m); err != nil {
			return nil, 0, err
		}
	}
	f.Unfinished, f.Form = nil, unfinished(text)
	return f, int64(len(text)) + f.Size(), nil
}

// appendMessages appends messages as elements of a JSON array, each with a comma before it.
func appendMessages(b []byte, messages []Message) ([]byte, error) {
	text := bytes.NewBuffer(b)
	encoder := json.NewEncoder(text)
	for _, m := range messages {
		text.WriteByte(',')
		if err := encoder.Encode(m); err != nil {
			return b, &spool.Error{Code: spool.Internal, Message: "a message cannot be encoded", Err: err}
		}
		text.Truncate(text.Len() - len("\n"))
	}
	return text.Bytes(), nil
}
