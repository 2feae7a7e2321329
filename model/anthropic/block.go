package anthropic

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
	"github.com/spoolhq/spool/internal/lenient"
	"github.com/spoolhq/spool/internal/surrogate"
	"github.com/spoolhq/spool/internal/toolname"
)

// openBlock is a block of an answer that has begun.
type openBlock struct {
	startedBlock

	// raw is the block as it began, for blocks that go back as they are.
	raw json.RawMessage
	// id is the id of a tool call.
	id spool.ToolCallID
	// text is the text of a call's arguments, a text that is held back, or what came in pieces of a block that goes
	// back as it is. Then field is the field that the pieces belong to.
	text  strings.Builder
	field string
	// encrypted is the encrypted content of a compaction that came in a piece.
	encrypted json.RawMessage
	// bytes is the size of what is buffered.
	bytes int
	// began is how many characters of the answer stand before a text.
	began int
}

func (a *answer) start(index int64, raw json.RawMessage) error {
	if err := a.stop(index); err != nil { // a server left out the end of the block before it
		return err
	}
	b := &openBlock{began: a.text.Len()}
	if err := lenient.Object(raw, &b.startedBlock); err != nil {
		return a.malformed(string(raw), err)
	}
	if a.open == nil {
		a.open = make(map[int64]*openBlock)
	}
	a.open[index], a.last = b, index
	a.blocks++
	b.bytes = len(b.Signature) + len(b.Data) + len(b.Caller)
	a.bytes += b.bytes
	if err := a.checkBuffer(); err != nil {
		return err
	}
	switch b.Type {
	case typeText:
		if a.inText {
			if err := a.send(spool.TextEnd{}); err != nil { // else the texts would become one
				return err
			}
		}
		text := b.Text
		b.Text = ""
		return a.addText(b, string(text))
	case typeThinking:
		if b.Thinking != "" {
			return a.send(spool.ReasoningDelta{Text: string(b.Thinking)})
		}
	case typeRedacted:
	case typeToolUse:
		return a.startCall(b, index)
	default:
		b.raw = raw
		return a.buffer(b, len(raw))
	}
	return nil
}

func (a *answer) delta(index int64, d *delta) error {
	b := a.open[index]
	if b == nil && d.Type == "text_delta" { // a server left out the beginning
		if err := a.start(index, json.RawMessage(`{"type":"text"}`)); err != nil {
			return err
		}
		b = a.open[index]
	}
	if b == nil {
		return nil
	}
	switch d.Type {
	case "text_delta":
		return a.addText(b, string(d.Text))
	case "thinking_delta":
		if d.Thinking != "" && b.Type == typeThinking {
			return a.send(spool.ReasoningDelta{Text: string(d.Thinking)})
		}
	case "signature_delta":
		b.Signature += d.Signature
		return a.buffer(b, len(d.Signature))
	case "citations_delta":
		b.Citations = append(b.Citations, d.Citation)
		return a.buffer(b, len(d.Citation))
	case "input_json_delta":
		b.field = "input"
		return a.addArgs(b, string(d.PartialJSON))
	case "compaction_delta":
		return a.compact(b, d)
	}
	return nil
}

// compact adds a piece of a compaction, which goes back as a whole.
func (a *answer) compact(b *openBlock, d *delta) error {
	if len(d.Content) > 0 && d.Content[0] == '"' {
		b.field = "content"
		b.text.WriteString(surrogate.Decode(d.Content))
	}
	if len(d.Encrypted) > 0 && string(d.Encrypted) != "null" {
		b.encrypted = d.Encrypted
	}
	return a.buffer(b, len(d.Content)+len(d.Encrypted))
}

func (a *answer) stop(index int64) error {
	b := a.open[index]
	if b == nil {
		return nil
	}
	delete(a.open, index)
	a.bytes -= b.bytes
	switch b.Type {
	case typeText:
		return a.endText(b)
	case typeThinking:
		return a.send(spool.ReasoningEnd{Provider: saved{Model: a.name, Signature: b.Signature}.raw()})
	case typeRedacted:
		return a.send(spool.ReasoningEnd{Provider: saved{Model: a.name, Redacted: b.Data}.raw()})
	case typeToolUse:
		return a.endCall(b)
	default:
		block := b.whole()
		if err := a.send(spool.ProviderPart{Provider: saved{Model: a.name, Block: block}.raw()}); err != nil {
			return err
		}
		return a.found(b.Type, block)
	}
}

// buffer counts what is buffered.
func (a *answer) buffer(b *openBlock, size int) error {
	b.bytes += size
	a.bytes += size
	return a.checkBuffer()
}

func (a *answer) addText(b *openBlock, text string) error {
	if text == "" {
		return nil
	}
	if a.holds() {
		b.text.WriteString(text)
		return a.buffer(b, len(text))
	}
	return a.send(spool.TextDelta{Text: text})
}

func (a *answer) endText(b *openBlock) error {
	if a.holds() || b.text.Len() > 0 {
		if b.text.Len() == 0 {
			return nil
		}
		return a.hold(held{text: surrogate.Valid(b.text.String()), citations: b.Citations}, b.bytes)
	}
	return a.citations(b.Citations, b.began)
}

// citations closes a text that has citations. They are for all of it.
func (a *answer) citations(list []json.RawMessage, began int) error {
	if len(list) == 0 {
		return nil
	}
	if err := a.send(spool.TextEnd{Provider: saved{Model: a.name, Citations: list}.raw()}); err != nil {
		return err
	}
	return a.cite(list, citation.Spans(began, 0, a.text.Len()-began))
}

func (a *answer) startCall(b *openBlock, index int64) error {
	if b.Name == "" {
		return &spool.ModelError{Message: "the provider sent a tool call without a name"}
	}
	b.Name = toolname.Known(b.Name, a.tools)
	if a.output != "" && b.Name == a.output {
		a.outputEnded = true
		return a.release()
	}
	if a.calls == 0 {
		if err := a.release(); err != nil {
			return err
		}
	}
	a.calls++
	b.id = spool.ToolCallID(b.ID)
	if b.id == "" || a.ids[b.id] {
		b.id = spool.ToolCallID(fmt.Sprintf("toolu_%d_%s", index, random()))
	}
	if a.ids == nil {
		a.ids = make(map[spool.ToolCallID]bool)
	}
	a.ids[b.id] = true
	return a.send(spool.ToolCallStart{ID: b.id, Name: b.Name})
}

func (a *answer) addArgs(b *openBlock, piece string) error {
	if piece == "" {
		return nil
	}
	b.text.WriteString(piece)
	if err := a.buffer(b, len(piece)); err != nil {
		return err
	}
	switch {
	case b.id != "":
		return a.send(spool.ToolCallDelta{ID: b.id, Args: piece})
	case b.Type == typeToolUse:
		return a.send(spool.TextDelta{Text: piece})
	}
	return nil
}

// endCall ends a call. That of the output ends a text.
func (a *answer) endCall(b *openBlock) error {
	args := b.text.String()
	whole := args == ""
	if whole && len(b.Input) > 0 {
		args = string(b.Input)
	}
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	if b.id == "" {
		if !whole {
			return nil
		}
		return a.send(spool.TextDelta{Text: args})
	}
	data := saved{Model: a.name, ID: b.ID}
	if caller := bytes.TrimSpace(b.Caller); len(caller) > 0 && caller[0] == '{' &&
		!bytes.Contains(caller, []byte(`"direct"`)) {
		data.Caller = caller
	}
	return a.send(spool.ToolCallEnd{ID: b.id, Name: b.Name, Args: args, Provider: data.raw()})
}

// whole returns a block that goes back as it is, with the fields that came in pieces.
func (b *openBlock) whole() json.RawMessage {
	pieces := surrogate.Valid(b.text.String())
	if pieces == "" && b.encrypted == nil || b.field == "input" && !json.Valid([]byte(pieces)) {
		return b.raw
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(b.raw, &fields) != nil {
		return b.raw
	}
	switch b.field {
	case "input":
		fields["input"] = json.RawMessage(pieces)
	case "content":
		text, err := marshal(surrogate.Valid(surrogate.Decode(fields["content"])) + pieces)
		if err != nil {
			return b.raw
		}
		fields["content"] = text
	}
	if b.encrypted != nil {
		fields["encrypted_content"] = b.encrypted
	}
	raw, err := marshal(fields)
	if err != nil {
		return b.raw
	}
	return raw
}

// random returns a part of an id that other answers do not have.
func random() string { return rand.Text()[:12] }
