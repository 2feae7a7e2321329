package anthropic

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spoolhq/spool"
)

// openBlock is a block of an answer that has begun.
type openBlock struct {
	startedBlock

	// raw is the block as it began, for blocks that go back as they are.
	raw json.RawMessage
	// id is the id of a tool call.
	id spool.ToolCallID
	// text is the text of a call's arguments, or a text that is held back.
	text strings.Builder
	// bytes is the size of what is buffered.
	bytes int
}

func (a *answer) start(index int, raw json.RawMessage) error {
	b := new(openBlock)
	if err := json.Unmarshal(raw, &b.startedBlock); err != nil {
		return a.malformed(string(raw), err)
	}
	if a.open == nil {
		a.open = make(map[int]*openBlock)
	}
	a.open[index] = b
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
		return a.addText(b, text)
	case typeThinking:
		if b.Thinking != "" {
			return a.send(spool.ReasoningDelta{Text: b.Thinking})
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

func (a *answer) delta(index int, d *delta) error {
	b := a.open[index]
	if b == nil {
		return nil // of a block that never began
	}
	switch d.Type {
	case "text_delta":
		return a.addText(b, d.Text)
	case "thinking_delta":
		if d.Thinking != "" && b.Type == typeThinking {
			return a.send(spool.ReasoningDelta{Text: d.Thinking})
		}
	case "signature_delta":
		b.Signature += d.Signature
		return a.buffer(b, len(d.Signature))
	case "citations_delta":
		b.Citations = append(b.Citations, d.Citation)
		return a.buffer(b, len(d.Citation))
	case "input_json_delta":
		return a.addArgs(b, d.PartialJSON)
	}
	return nil
}

func (a *answer) stop(index int) error {
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
		return a.send(spool.ProviderPart{Provider: saved{Model: a.name, Block: b.whole()}.raw()})
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
		return a.hold(held{text: b.text.String(), citations: b.Citations}, b.bytes)
	}
	return a.citations(b.Citations)
}

// citations closes a text that has citations.
func (a *answer) citations(list []json.RawMessage) error {
	if len(list) == 0 {
		return nil
	}
	return a.send(spool.TextEnd{Provider: saved{Model: a.name, Citations: list}.raw()})
}

func (a *answer) startCall(b *openBlock, index int) error {
	if b.Name == "" {
		return &spool.ModelError{Message: "the provider sent a tool call without a name"}
	}
	if a.output != "" && b.Name == a.output {
		a.given = true
		return a.release()
	}
	if a.calls == 0 {
		if err := a.release(); err != nil {
			return err
		}
	}
	a.calls++
	b.id = spool.ToolCallID(b.ID)
	if b.id == "" {
		b.id = spool.ToolCallID(fmt.Sprintf("toolu_%d_%s", index, random()))
	}
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
	if caller := bytes.TrimSpace(b.Caller); len(caller) > 0 && caller[0] == '{' && !bytes.Contains(caller, []byte(`"direct"`)) {
		data.Caller = caller
	}
	return a.send(spool.ToolCallEnd{ID: b.id, Name: b.Name, Args: args, Provider: data.raw()})
}

// whole returns a block that goes back as it is, with the input that came in pieces.
func (b *openBlock) whole() json.RawMessage {
	input := b.text.String()
	if input == "" || !json.Valid([]byte(input)) {
		return b.raw
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(b.raw, &fields) != nil {
		return b.raw
	}
	fields["input"] = json.RawMessage(input)
	raw, err := marshal(fields)
	if err != nil {
		return b.raw
	}
	return raw
}

// random returns a part of an id that other answers do not have.
func random() string { return rand.Text()[:12] }
