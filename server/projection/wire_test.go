package projection_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// form is the plainest form: the messages of the thread as they are.
type form struct{}

var native wire.SnapshotForm = &form{}

func (f *form) AppendMessage(b []byte, m spool.Message) ([]byte, wire.SnapshotForm, error) {
	text, err := json.Marshal(m)
	return append(append(b, ','), text...), f, err
}

func (*form) Finish(s *wire.Snapshot) (any, int64, error) { return projection.Fold(s), 0, nil }

func decoded(pieces [][]byte) []spool.Message {
	text := bytes.TrimPrefix(bytes.Join(pieces, nil), []byte(","))
	var all []spool.Message
	if err := json.Unmarshal(slices.Concat([]byte("["), text, []byte("]")), &all); err != nil {
		panic(err)
	}
	return all
}

// plainClient is a client of the plainest protocol that a projection can feed: it applies changes to messages.
type plainClient struct {
	messages []spool.Message
	said     spool.Content // in the open step
	results  spool.Content // of calls, in the open step
	ends     []projection.RunEnded
	wrong    []string // what a client could not apply
	open     bool
}

func (w *plainClient) apply(changes []projection.Change) {
	for _, change := range changes {
		if _, opens := change.(projection.RunOpened); opens == w.open {
			w.wrong = append(w.wrong, fmt.Sprintf("%T while a run is open: %v", change, w.open))
		}
		w.applyOne(change)
	}
}

func (w *plainClient) applyOne(change projection.Change) {
	switch c := change.(type) {
	case projection.RunOpened:
		w.open = true
	case projection.RunEnded:
		w.open, w.ends = false, append(w.ends, c)
	case projection.Messages:
		w.messages, w.said, w.results = decoded(c.Saved()), nil, nil
		if c.Streamed != nil {
			for _, c := range c.Streamed.Unfinished {
				w.applyOne(c)
			}
		}
	case projection.StepSaved:
		w.messages = append(w.messages, w.drafts()...)
		w.said, w.results = nil, nil
	case projection.TakenBack:
		w.said, w.results = nil, nil
	case projection.BlockStarted:
		kind := spool.PartText
		if c.Kind == projection.Reasoning {
			kind = spool.PartReasoning
		}
		n := 0
		for _, p := range w.said {
			if p.Type == kind {
				n++
			}
		}
		if n < c.N { // else it is open in the messages
			w.said = append(w.said, spool.Part{Type: kind})
		}
	case projection.Delta:
		if len(w.said) == 0 {
			w.wrong = append(w.wrong, "a delta of no block")
			return
		}
		w.said[len(w.said)-1].Text += c.Text
	case projection.CallStarted:
		if w.call(c.ID) == nil {
			w.said = append(w.said, spool.Part{Type: spool.PartToolCall, ToolCallID: c.ID, ToolName: c.Name})
		}
	case projection.CallArgs:
		if call := w.call(c.ID); call != nil {
			call.Text += c.Delta
		}
	case projection.CallEnded:
		if call := w.call(c.ID); call != nil && c.Args != nil {
			call.Args, call.Text = c.Args, ""
		}
	case projection.CallResult:
		w.results = append(w.results, spool.Part{Type: spool.PartToolResult, ToolCallID: c.ID, Result: c.Result})
	default:
	}
}

func (w *plainClient) call(id spool.ToolCallID) *spool.Part {
	for i := range w.said {
		if w.said[i].ToolCallID == id {
			return &w.said[i]
		}
	}
	return nil
}

// drafts returns the open step as messages.
func (w *plainClient) drafts() (out []spool.Message) {
	if len(w.said) > 0 {
		out = append(out, spool.Message{Role: spool.RoleAssistant, Content: slices.Clone(w.said)})
	}
	if len(w.results) > 0 {
		out = append(out, spool.Message{Role: spool.RoleTool, Content: slices.Clone(w.results)})
	}
	return out
}

// shown renders what a client shows of the thread's own agent, one line for each part. Results come in the order
// of their ids, as calls at the same time end in any order. An empty text is nothing.
func shown(messages []spool.Message) string {
	var lines, results []string
	flush := func() {
		slices.Sort(results)
		lines, results = append(lines, results...), nil
	}
	for _, m := range messages {
		if _, summary := m.Content.Summary(); summary || m.AgentID != "" {
			continue
		}
		if m.Role != spool.RoleTool {
			flush()
		}
		for _, p := range m.Content {
			switch p.Type {
			case spool.PartToolCall:
				lines = append(lines, fmt.Sprintf("%s calls %s %s %s", m.Role, p.ToolName, p.ToolCallID, arguments(p)))
			case spool.PartToolResult:
				results = append(results, fmt.Sprintf("%s of %s: %s", m.Role, p.ToolCallID, compacted(p.Result)))
			default:
				if p.Text != "" {
					lines = append(lines, fmt.Sprintf("%s %s: %q", m.Role, p.Type, p.Text))
				}
			}
		}
	}
	flush()
	return strings.Join(lines, "\n")
}

// arguments returns those of a complete call as they are, and those of another one as the text so far.
func arguments(p spool.Part) string {
	var text string
	switch {
	case p.Text != "":
		return p.Text
	case len(p.Args) == 0 || string(p.Args) == "null":
		return ""
	case json.Unmarshal(p.Args, &text) == nil:
		return text
	default:
		return compacted(p.Args)
	}
}

func compacted(text json.RawMessage) string {
	var out bytes.Buffer
	_ = json.Compact(&out, text)
	return out.String()
}
