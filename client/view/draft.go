package view

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// draft is what one agent says in the step that it is in.
type draft struct {
	agent  spool.AgentID
	stream wire.StreamID
	// parts are the text, reasoning and calls, and began the item with which they begin.
	parts []*part
	began wire.Offset
	// results are those of calls of this step, or of an earlier one that waited. They begin with the item landed.
	results []spool.Part
	landed  wire.Offset
}

// part is a part of a message that grows.
type part struct {
	spool.Part

	// block is the name of a text in its stream. Empty: a call.
	block string
	// text grows without being copied each time: the text, or the arguments of a call.
	text []byte
	// whole says that the arguments of a call are complete.
	whole bool
}

// add applies a content item.
func (d *draft) add(item wire.Item) error {
	switch item.Type {
	case wire.ItemTextStart, wire.ItemTextEnd:
		return read(item, func(b wire.Block) { d.text(item, spool.PartText, b.MessageID) })
	case wire.ItemReasoningStart, wire.ItemReasoningEnd:
		return read(item, func(b wire.Block) { d.text(item, spool.PartReasoning, b.MessageID) })
	case wire.ItemTextContent:
		return read(item, func(b wire.Delta) { d.text(item, spool.PartText, b.MessageID).grow(b.Delta) })
	case wire.ItemReasoningContent:
		return read(item, func(b wire.Delta) { d.text(item, spool.PartReasoning, b.MessageID).grow(b.Delta) })
	case wire.ItemFile:
		return read(item, func(f wire.FileShown) {
			p := part{Part: spool.Part{Type: spool.PartFile, Image: f.Image, File: f.File, MIMEType: f.MIMEType, FileName: f.FileName}}
			if f.Image != "" {
				p.Type = spool.PartImage
			}
			d.part(item, func(*part) bool { return false }, p)
		})
	case wire.ItemToolStart:
		return read(item, func(c wire.ToolStarted) { d.call(item, c.ToolCallID).ToolName = c.ToolName })
	case wire.ItemToolArgs:
		return read(item, func(c wire.ToolArgs) { d.call(item, c.ToolCallID).grow(c.Delta) })
	case wire.ItemToolEnd:
		return read(item, func(c wire.ToolEnded) {
			p := d.call(item, c.ToolCallID)
			p.ToolName, p.Args, p.SentArgs, p.whole = c.ToolName, c.Args, c.SentArgs, true
		})
	case wire.ItemSource:
		return read(item, func(s spool.Source) {
			d.part(item, func(p *part) bool { return p.Type == spool.PartSource && p.URL == s.URL && p.Title == s.Title }, part{Part: spool.SourcePart(s, "")})
		})
	case wire.ItemToolResult:
		return read(item, func(c wire.ToolResulted) {
			if d.landed.IsZero() {
				d.landed = item.Offset
			}
			d.results = append(d.results, spool.Part{Type: spool.PartToolResult, ToolCallID: c.ToolCallID, ToolName: c.ToolName, Result: c.Result})
			for _, s := range c.Sources {
				d.results = append(d.results, spool.SourcePart(s, c.ToolCallID))
			}
		})
	default:
		return nil
	}
}

func (p *part) grow(delta string) { p.text = append(p.text, delta...) }

// text returns the part of a block, which begins with the item if it is new.
func (d *draft) text(item wire.Item, kind spool.PartType, block string) *part {
	return d.part(item, func(p *part) bool { return p.Type == kind && p.block == block }, part{Part: spool.Part{Type: kind}, block: block})
}

// call returns the part of a tool call, which begins with the item if it is new.
func (d *draft) call(item wire.Item, id spool.ToolCallID) *part {
	return d.part(item, func(p *part) bool { return p.Type == spool.PartToolCall && p.ToolCallID == id },
		part{Part: spool.Part{Type: spool.PartToolCall, ToolCallID: id}})
}

func (d *draft) part(item wire.Item, is func(*part) bool, otherwise part) *part {
	for _, p := range slices.Backward(d.parts) {
		if is(p) {
			return p
		}
	}
	if len(d.parts) == 0 {
		d.began = item.Offset
	}
	d.parts = append(d.parts, &otherwise)
	return &otherwise
}

// messages returns the draft in the form in which its step will be saved: a message of the agent, and one with
// the results of its calls.
func (d *draft) messages(thread spool.ThreadID) []spool.Message {
	run := spool.RunID(d.agent)
	if d.agent == "" {
		run, _, _ = d.stream.Split()
	}
	message := func(role spool.Role, began wire.Offset, content spool.Content) spool.Message {
		return spool.Message{
			ID: spool.MessageID(string(d.stream) + ":" + began.String()), ThreadID: thread, AgentID: d.agent, RunID: run,
			Role: role, Content: content,
		}
	}
	var out []spool.Message
	if content := d.said(); len(content) > 0 {
		out = append(out, message(spool.RoleAssistant, d.began, content))
	}
	if len(d.results) > 0 {
		out = append(out, message(spool.RoleTool, d.landed, d.inCallOrder()))
	}
	return out
}

// said returns the parts with their text, and the files. A block without text is no part.
func (d *draft) said() spool.Content {
	var content spool.Content
	for _, p := range d.parts {
		out := p.Part
		switch {
		case p.Type == spool.PartSource:
			content = append(content, out)
			continue
		case p.Type != spool.PartToolCall:
			out.Text = string(p.text)
		case !p.whole && len(p.text) > 0:
			out.Args, _ = json.Marshal(string(p.text)) //nolint:errchkjson // a string has a JSON form
		case string(p.Args) == "null":
			out.Args = nil
		}
		if p.Type == spool.PartToolCall || out.Text != "" || out.Image != "" || out.File != "" {
			content = append(content, out)
		}
	}
	return content
}

// inCallOrder returns the results in the order of the calls, in which they are saved.
func (d *draft) inCallOrder() spool.Content {
	place := func(p spool.Part) int {
		return slices.IndexFunc(d.parts, func(c *part) bool { return c.Type == spool.PartToolCall && c.ToolCallID == p.ToolCallID })
	}
	out := slices.Clone(d.results)
	slices.SortStableFunc(out, func(a, b spool.Part) int { return place(a) - place(b) })
	return out
}
