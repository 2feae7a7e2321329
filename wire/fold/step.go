package fold

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Step is what one agent has said since its last finished step.
type Step struct {
	// Agent is the nested run. Empty: the run's own agent.
	Agent  spool.AgentID
	Stream wire.StreamID
	// parts are the text, reasoning, calls, sources and files. They begin with the item began.
	parts []*growing
	began wire.Offset
	// results are those of calls of this step, or of an earlier one that waited. They begin with the item landed.
	results []spool.Part
	landed  wire.Offset
}

// growing is a part of a message.
type growing struct {
	spool.Part

	// id is that of [Content].
	id string
	// text grows without being copied each time: the text, or the arguments of a call.
	text []byte
	// whole says that Part has all that the message will have.
	whole bool
}

// Add adds the content of an item at an offset.
func (s *Step) Add(at wire.Offset, c Content) {
	if c.Type == spool.PartToolResult {
		if s.landed.IsZero() {
			s.landed = at
		}
		s.results = append(s.results, *c.Part)
		for _, source := range c.Sources {
			s.results = append(s.results, spool.SourcePart(source, c.Part.ToolCallID))
		}
		return
	}
	p := s.part(at, c)
	p.text = append(p.text, c.Delta...)
	switch {
	case c.Part == nil:
	case c.Act == Begins:
		p.ToolName = c.Part.ToolName
	default:
		p.Part, p.whole = *c.Part, true
	}
}

// part returns the part that an item begins, changes or ends.
func (s *Step) part(at wire.Offset, c Content) *growing {
	for _, p := range slices.Backward(s.parts) {
		if c.Act != Whole && p.Type == c.Type && p.id == c.ID {
			return p
		}
	}
	if len(s.parts) == 0 {
		s.began = at
	}
	p := &growing{Part: spool.Part{Type: c.Type}, id: c.ID}
	if c.Type == spool.PartToolCall {
		p.ToolCallID = spool.ToolCallID(c.ID)
	}
	s.parts = append(s.parts, p)
	return p
}

// Messages returns the step in the form in which it will be saved: a message of the agent, and one with the results
// of its calls. The arguments of an unfinished call are the text so far, as a JSON string.
func (s *Step) Messages(thread spool.ThreadID) []spool.Message {
	run := spool.RunID(s.Agent)
	if s.Agent == "" {
		run, _, _ = s.Stream.Split()
	}
	var out []spool.Message
	add := func(role spool.Role, began wire.Offset, content spool.Content) {
		if len(content) > 0 {
			id := spool.MessageID(string(s.Stream) + ":" + began.String())
			out = append(out, spool.Message{
				ID: id, ThreadID: thread, AgentID: s.Agent, RunID: run, Role: role, Content: content,
			})
		}
	}
	add(spool.RoleAssistant, s.began, s.content())
	add(spool.RoleTool, s.landed, s.inCallOrder())
	return out
}

// content returns the parts. A block without text is no part.
func (s *Step) content() (content spool.Content) {
	for _, p := range s.parts {
		out := p.Part
		switch {
		case p.Type != spool.PartToolCall && !p.whole:
			if out.Text = string(p.text); out.Text == "" {
				continue
			}
		case !p.whole && len(p.text) > 0:
			out.Args, _ = json.Marshal(string(p.text)) //nolint:errchkjson // a string has a JSON form
		case string(p.Args) == "null":
			out.Args = nil
		}
		content = append(content, out)
	}
	return content
}

// inCallOrder returns the results in the order of the calls, in which they are saved.
func (s *Step) inCallOrder() spool.Content {
	place := func(p spool.Part) int {
		return slices.IndexFunc(s.parts, func(c *growing) bool {
			return c.Type == spool.PartToolCall && c.ToolCallID == p.ToolCallID
		})
	}
	out := slices.Clone(s.results)
	slices.SortStableFunc(out, func(a, b spool.Part) int { return place(a) - place(b) })
	return out
}
