package chat

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client/view"
)

// lineWidth bounds the line of a call or a result.
const lineWidth = 160

// Printer prints what changes in a view. It only appends, so what turns out not to be true is followed by a line that
// says so.
type Printer struct {
	// Out gets the text. Required.
	Out io.Writer
	// Aside gets everything but the answers of the run's own agent: calls, nested runs, reasons to wait. Nil: Out.
	Aside io.Writer
	// Style colours what is not the answer.
	Style bool
	// Width returns how many columns a line has, and 0 if lines do not end. Nil: they do not.
	Width func() int
	// Thinking shows the reasoning of models.
	Thinking bool
	// Whole prints only what is saved, so nothing has to be taken back.
	Whole bool
	// Mine has the client's own ids of turns that need not be printed, because the person has typed them.
	Mine map[string]bool

	seen map[spool.MessageID]*printed
	// order has the messages of seen, from the first that may still change.
	order []spool.MessageID
	// open is the message whose last line is not ended, and openAside says that the line is in Aside.
	open spool.MessageID
	// lost has what was printed of messages that are gone. A snapshot that comes next may have it again.
	lost   []*printed
	column bool
	// wrap is at the end of the line that is not ended.
	wrap      wrapper
	speaker   spool.AgentID
	lastState string
}

// printed is what was printed of a message.
type printed struct {
	id    spool.MessageID
	role  spool.Role
	agent spool.AgentID
	run   spool.RunID
	// text is the printed text, and thought the reasoning.
	text, thought string
	parts         map[string]bool
	saved         bool
	started       bool
}

// Skip marks all messages as printed, but for the last turns of the user and what follows them.
func (p *Printer) Skip(v *view.Thread, turns int) {
	messages := v.Messages()
	from := len(messages)
	for i := len(messages) - 1; i >= 0 && turns > 0; i-- {
		if messages[i].Role == spool.RoleUser && messages[i].AgentID == "" {
			from, turns = i, turns-1
		}
	}
	if turns > 0 {
		from = 0
	}
	p.seen = make(map[spool.MessageID]*printed)
	for _, m := range messages[:from] {
		p.seen[m.ID] = &printed{id: m.ID, role: m.Role, agent: m.AgentID, run: m.RunID, text: m.Text(), saved: true}
		p.order = append(p.order, m.ID)
	}
	if from > 0 {
		p.note(fmt.Sprintf("%d earlier messages", from))
	}
}

// Show prints what is new in the view.
func (p *Printer) Show(v *view.Thread) {
	if p.seen == nil {
		p.seen = make(map[spool.MessageID]*printed)
	}
	list := v.Messages()
	saved := len(list)
	if !p.Whole {
		list = append(list[:saved:saved], v.Drafts()...)
	}
	present := make(map[spool.MessageID]bool, len(list))
	for _, m := range list {
		present[m.ID] = true
	}
	gone := p.lost
	for _, id := range p.order {
		if !present[id] {
			gone = append(gone, p.seen[id])
			delete(p.seen, id)
		}
	}
	p.order = p.order[:0]
	fresh := make([]bool, len(list))
	for i, m := range list {
		p.order = append(p.order, m.ID)
		if p.seen[m.ID] == nil {
			p.seen[m.ID], gone = p.adopt(m, gone)
			fresh[i] = true
		}
	}
	p.lost = gone
	for i, m := range list {
		e := p.seen[m.ID]
		if e.saved && !fresh[i] {
			continue
		}
		p.print(v, m, e, i < saved)
		e.saved = i < saved
	}
	if v.Settled() {
		p.retract()
	}
}

// adopt returns what was printed of a message under another id: that of a stream, before a snapshot has the saved one.
func (p *Printer) adopt(m spool.Message, gone []*printed) (*printed, []*printed) {
	for i, g := range gone {
		if g.role == m.Role && g.agent == m.AgentID && g.run == m.RunID &&
			strings.HasPrefix(m.Text(), g.text) && g.within(m) {
			if p.open == g.id {
				p.open = m.ID
			}
			g.id = m.ID
			return g, append(gone[:i:i], gone[i+1:]...)
		}
	}
	return &printed{id: m.ID, role: m.Role, agent: m.AgentID, run: m.RunID, parts: make(map[string]bool)}, gone
}

// within reports whether the message has all calls and results that were printed.
func (e *printed) within(m spool.Message) bool {
	n := 0
	for _, part := range m.Content {
		if e.parts[key(part)] {
			n++
		}
	}
	return n == len(e.parts)
}

func key(p spool.Part) string {
	return strings.TrimRight(string(p.Type)+" "+string(p.ToolCallID)+" "+p.URL+" "+p.Title, " ")
}

// retract prints that earlier messages no longer hold. The caller prints anything else after that.
func (p *Printer) retract() {
	gone := p.lost
	p.lost = nil
	redone, dropped := false, 0
	for _, g := range gone {
		switch {
		case g.saved:
			dropped++
		case g.text != "" || len(g.parts) > 0:
			redone = true
		}
	}
	if redone {
		p.note("the step has failed, and what it said does not count")
	}
	if dropped > 0 {
		p.note(fmt.Sprintf("%d messages were taken out of the conversation", dropped))
	}
}

// print prints what is new in a message.
func (p *Printer) print(v *view.Thread, m spool.Message, e *printed, saved bool) {
	switch m.Role {
	case spool.RoleUser:
		if m.AgentID == "" && !e.started && !p.Mine[m.ClientMessageID] {
			p.line(p.style("1", "> "+strings.ReplaceAll(Clean(described(m.Content)), "\n", "\n  ")), "")
		}
		e.started = true
	case spool.RoleSystem:
		if !e.started && saved {
			p.note("earlier messages are summarised for the model")
		}
		e.started = true
	default:
		p.printParts(v, m, e, saved)
	}
}

func (p *Printer) printParts(v *view.Thread, m spool.Message, e *printed, saved bool) {
	text, thought, sources := "", "", 0
	for i, part := range m.Content {
		switch part.Type {
		case spool.PartText:
			text += part.Text
			p.grow(v, m, e, &e.text, text, false)
		case spool.PartReasoning:
			thought += part.Text
			if p.Thinking {
				p.grow(v, m, e, &e.thought, thought, true)
			}
		case spool.PartToolCall:
			complete := saved || i < len(m.Content)-1 || len(part.Args) > 0 && part.Args[0] != '"'
			if complete && !e.parts[key(part)] {
				e.parts[key(part)] = true
				p.indented(v, m.AgentID, "→ "+Clean(part.ToolName)+" "+oneLine(part.Args, lineWidth))
			}
		case spool.PartSource:
			if part.ToolCallID != "" { // the line of the result names it
				continue
			}
			sources++
			if !e.parts[key(part)] {
				e.parts[key(part)] = true
				p.indented(v, m.AgentID, fmt.Sprintf("[%d] %s", sources, Clean(strings.TrimSpace(part.Title+" "+part.URL))))
			}
		case spool.PartToolResult:
			if !e.parts[key(part)] {
				e.parts[key(part)] = true
				p.indented(v, m.AgentID, "← "+Clean(part.ToolName)+" "+oneLine(part.Result, lineWidth))
			}
		default:
		}
	}
}

// grow prints the rest of a text that has grown.
func (p *Printer) grow(v *view.Thread, m spool.Message, e *printed, had *string, now string, dim bool) {
	remaining, grown := strings.CutPrefix(now, *had)
	if !grown || remaining == "" {
		return
	}
	p.retract()
	*had = now
	e.started = true
	to := p.Out
	indent := p.indent(v, m.AgentID)
	if m.AgentID != "" || dim {
		to = p.aside()
	}
	if p.open != m.ID || p.speaker != m.AgentID {
		p.endLine()
		if m.AgentID != "" && p.speaker != m.AgentID {
			p.write(to, p.style("2", indent+name(v, m.AgentID)+":")+"\n")
		}
		p.write(to, indent)
		p.wrap = wrapper{at: len(indent)}
	}
	text := p.wrap.add(Clean(remaining), p.width(), indent)
	if dim {
		text = p.style("2", text)
	}
	p.write(to, text)
	p.open, p.speaker, p.column = m.ID, m.AgentID, true
}

// indented prints a line about a call, below the agent that makes it.
func (p *Printer) indented(v *view.Thread, agent spool.AgentID, text string) {
	p.retract()
	p.endLine()
	indent := p.indent(v, agent)
	p.write(p.aside(), p.style("2", p.folded(indent+text, indent+"  "))+"\n")
	p.speaker = agent
}

// line prints a line of its own.
func (p *Printer) line(text, indent string) {
	p.retract()
	p.endLine()
	p.write(p.Out, p.folded(indent+text, indent)+"\n")
}

// note prints a line about the conversation.
func (p *Printer) note(text string) {
	p.retract()
	p.endLine()
	p.write(p.aside(), p.style("2", p.folded("… "+Line(text, 4*lineWidth), "  "))+"\n")
}

// State prints why the run waits, if that has changed. Empty: it does not.
func (p *Printer) State(text string) {
	if text != p.lastState && text != "" {
		p.note(text)
	}
	p.lastState = text
}

// endLine ends a line that has begun.
func (p *Printer) endLine() {
	if p.column {
		to := p.Out
		if p.speaker != "" {
			to = p.aside()
		}
		p.write(to, "\n")
	}
	p.column, p.open = false, ""
}

func (p *Printer) width() int {
	if p.Width == nil {
		return 0
	}
	return p.Width()
}

// folded returns a text that begins a line, broken between words.
func (p *Printer) folded(text, indent string) string {
	if p.width() == 0 {
		return text
	}
	var w wrapper
	return w.add(text, p.width(), indent)
}

func (p *Printer) aside() io.Writer {
	if p.Aside != nil {
		return p.Aside
	}
	return p.Out
}

// write ignores errors: somebody who has closed the terminal reads nothing.
func (p *Printer) write(to io.Writer, text string) { _, _ = io.WriteString(to, text) }

// style returns text in a style of the terminal.
func (p *Printer) style(code, text string) string {
	if !p.Style {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// indent returns how far what an agent says is indented: by the depth of its run.
func (p *Printer) indent(v *view.Thread, agent spool.AgentID) string {
	if agent == "" {
		return ""
	}
	depth := 1
	for _, r := range v.Runs() {
		if r.ID == spool.RunID(agent) {
			depth = max(1, r.Depth)
		}
	}
	return strings.Repeat("  ", depth)
}

// name returns the name of a nested run's agent.
func name(v *view.Thread, agent spool.AgentID) string {
	for _, r := range v.Runs() {
		if r.ID == spool.RunID(agent) && r.Agent != "" {
			return Clean(r.Agent)
		}
	}
	return "nested run"
}

// described returns a turn in words, with its attachments.
func described(c spool.Content) string {
	var out []string
	for _, part := range c {
		switch part.Type {
		case spool.PartText:
			out = append(out, part.Text)
		case spool.PartImage:
			out = append(out, "[image]")
		case spool.PartFile:
			out = append(out, "[file "+part.FileName+"]")
		default:
		}
	}
	return strings.Join(out, " ")
}

// editable reports whether arguments are an object, which a person can edit.
func editable(args json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(args, &object) == nil && object != nil
}
