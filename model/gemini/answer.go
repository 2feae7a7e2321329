package gemini

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/lenient"
	"github.com/spoolhq/spool/internal/toolname"
)

// block is the kind of the open block of an answer.
type block int

const (
	noBlock block = iota
	textBlock
	thoughtBlock
)

// answer turns chunks into events.
type answer struct {
	model  *Model
	emit   func(spool.ModelEvent) error
	signer string // see saved.Model

	modelID string
	// tools are the names of the functions that the model may call.
	tools []string
	// reason and message are the finish reason and Google's comment on it.
	reason, message string
	// blocked is true if the provider refused the prompt.
	blocked      bool
	continuation string
	usage        spool.Usage
	bytes        int

	open block
	ids  map[spool.ToolCallID]bool
	// random is part of the ids that this answer's calls get, so that other answers have other ids.
	random string

	grounding

	// outputTool is the function whose arguments are the output, or empty. If there is one, heldText has the
	// texts that came before a call, and output the arguments.
	outputTool string
	heldText   strings.Builder
	output     string
}

func (a *answer) add(data []byte) error {
	if a.bytes += len(data); a.bytes > maxAnswer {
		return errTooLong
	}
	var c chunk
	if err := c.parse(data); err != nil {
		return a.malformed(data, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return a.model.chunkError(data)
	}
	if c.ModelVersion != "" {
		a.modelID = c.ModelVersion
	}
	if f := c.PromptFeedback; f != nil && f.BlockReason != "" && f.BlockReason != "BLOCKED_REASON_UNSPECIFIED" {
		a.blocked = true
	}
	for _, candidate := range c.Candidates {
		if candidate.Index != 0 {
			continue
		}
		if err := a.candidate(candidate); err != nil {
			return err
		}
	}
	if c.Usage == nil {
		return nil
	}
	a.usage = c.Usage.usage()
	return a.emit(spool.UsageSeen{Usage: a.usage})
}

// malformed returns the error for a chunk that cannot be read. Broken JSON may be an accident, but JSON of another
// form is what the server sends each time.
func (a *answer) malformed(data []byte, err error) error {
	return &spool.ModelError{
		Message: "malformed chunk: " + a.model.secrets.Clean(string(data)), Err: err, NoRetry: json.Valid(data),
	}
}

func (a *answer) candidate(c candidate) error {
	for _, raw := range c.Content.Parts {
		var p answerPart
		if err := lenient.Object(raw, &p); err != nil {
			return a.malformed(raw, err)
		}
		if err := a.part(p, raw); err != nil {
			return err
		}
	}
	if c.FinishReason != "" && c.FinishReason != "FINISH_REASON_UNSPECIFIED" {
		a.reason, a.message = c.FinishReason, c.FinishMessage
	}
	a.ground(c.Grounding)
	if c.ContinuationToken != "" {
		a.continuation = c.ContinuationToken
	}
	return nil
}

func (a *answer) part(p answerPart, raw json.RawMessage) error {
	switch {
	case p.Call != nil:
		return a.call(p)
	case p.Text != nil && p.Thought:
		return a.thought(string(*p.Text), p.Signature)
	case p.Text != nil || onlySigned(raw):
		text := ""
		if p.Text != nil {
			text = string(*p.Text)
		}
		a.note(text)
		return a.text(text, p.Signature)
	case (p.Inline != nil || p.File != nil) && !p.Thought && a.outputTool == "":
		return a.media(p, raw)
	default:
		return a.other(raw)
	}
}

// onlySigned reports whether a part has no field but its signature. The API leaves out empty texts.
func onlySigned(raw json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	delete(fields, "thoughtSignature")
	return len(fields) == 0
}

func (a *answer) text(text, signature string) error {
	if a.outputTool != "" {
		a.heldText.WriteString(text)
		return nil
	}
	if text == "" && signature == "" {
		return nil
	}
	// A signed text is a block of its own.
	if err := a.begin(textBlock, signature != ""); err != nil {
		return err
	}
	if text != "" {
		if err := a.emit(spool.TextDelta{Text: text}); err != nil {
			return err
		}
	}
	if signature == "" {
		return nil
	}
	a.open = noBlock
	return a.emit(spool.TextEnd{Provider: saved{Model: a.signer, Signature: signature}.raw()})
}

func (a *answer) thought(text, signature string) error {
	if text == "" && signature == "" {
		return nil
	}
	if signature != "" && a.open == thoughtBlock {
		// The open block is the beginning of the signed thought.
		a.open = noBlock
		if err := a.emit(spool.ReasoningEnd{Provider: saved{Model: a.signer}.raw()}); err != nil {
			return err
		}
	}
	if err := a.begin(thoughtBlock, signature != ""); err != nil {
		return err
	}
	if text != "" {
		if err := a.emit(spool.ReasoningDelta{Text: text}); err != nil {
			return err
		}
	}
	if signature == "" {
		return nil
	}
	a.open = noBlock
	return a.emit(spool.ReasoningEnd{Provider: saved{Model: a.signer, Signature: signature}.raw()})
}

// media yields a file that the model made. One that is elsewhere, or that cannot be read, is a text that names it.
// The file goes back to the model with its signature. Its data are the artifact's alone.
func (a *answer) media(p answerPart, raw json.RawMessage) error {
	var kind, at string
	if p.Inline != nil {
		kind = p.Inline.MIMEType
		if data, err := base64.StdEncoding.DecodeString(p.Inline.Data); err == nil && len(data) > 0 {
			if err := a.close(noBlock); err != nil {
				return err
			}
			file := spool.FileMade{MediaType: kind, Data: data}
			if p.Signature != "" {
				file.Provider = saved{Model: a.signer, Signature: p.Signature}.raw()
			}
			return a.emit(file)
		}
	} else {
		kind, at = p.File.MIMEType, p.File.URI
	}
	a.noted = true
	note := "[a file"
	if strings.HasPrefix(kind, "image/") {
		note = "[an image"
	}
	if kind != "" {
		note += " of the type " + kind
	}
	if at != "" {
		note += " at " + at
	}
	if err := a.begin(textBlock, true); err != nil {
		return err
	}
	a.open = noBlock
	if err := a.emit(spool.TextDelta{Text: note + "]"}); err != nil {
		return err
	}
	return a.emit(spool.TextEnd{Provider: saved{Model: a.signer, Part: raw}.raw()})
}

// begin goes on with the open block if it has the given kind and the next piece is not one of its own. Else it
// closes the open block.
func (a *answer) begin(kind block, alone bool) error {
	if a.open == kind && !alone {
		return nil
	}
	if err := a.close(kind); err != nil {
		return err
	}
	a.open = kind
	return nil
}

// close closes the open block before one of the given kind. Only another text needs the end of a text.
func (a *answer) close(next block) error {
	was := a.open
	a.open = noBlock
	switch {
	case was == thoughtBlock:
		return a.emit(spool.ReasoningEnd{})
	case was == textBlock && next == textBlock:
		return a.emit(spool.TextEnd{})
	}
	return nil
}

func (a *answer) call(p answerPart) error {
	if p.Call.Name == "" || len(p.Call.PartialArgs) > 0 || p.Call.WillContinue {
		return &spool.ModelError{
			Message: "a function call has no name, or its arguments come in pieces",
			NoRetry: p.Call.Name != "", // the server was asked for pieces
		}
	}
	name := toolname.Known(p.Call.Name, a.tools)
	args := string(bytes.TrimSpace(p.Call.Args))
	if args == "" || args == "null" {
		args = "{}"
	}
	if name == a.outputTool {
		a.output = args
		return nil
	}
	if err := a.releaseText(); err != nil {
		return err
	}
	if err := a.close(noBlock); err != nil {
		return err
	}
	id := a.makeID(p.Call.ID)
	if err := a.emit(spool.ToolCallStart{ID: id, Name: name}); err != nil {
		return err
	}
	end := spool.ToolCallEnd{ID: id, Name: name, Args: args}
	if p.Signature != "" || p.Call.ID != "" {
		end.Provider = saved{Model: a.signer, Signature: p.Signature, ID: p.Call.ID}.raw()
	}
	return a.emit(end)
}

// makeID returns the API's id of a call, or an id of our own if the API gave none or one that the answer has had.
func (a *answer) makeID(sent string) spool.ToolCallID {
	if a.ids == nil {
		a.ids = make(map[spool.ToolCallID]bool)
	}
	id := spool.ToolCallID(sent)
	if sent == "" || a.ids[id] {
		if a.random == "" {
			a.random = rand.Text()[:12]
		}
		id = spool.ToolCallID(fmt.Sprintf("call_%d_%s", len(a.ids)+1, a.random))
	}
	a.ids[id] = true
	return id
}

// other keeps a part that the adapter does not look into, such as code that the provider ran.
func (a *answer) other(raw json.RawMessage) error {
	if err := a.close(noBlock); err != nil {
		return err
	}
	return a.emit(spool.ProviderPart{Provider: saved{Model: a.signer, Part: raw}.raw()})
}

// releaseText emits the held text.
func (a *answer) releaseText() error {
	if a.heldText.Len() == 0 {
		return nil
	}
	text := a.heldText.String()
	a.heldText.Reset()
	return a.emit(spool.TextDelta{Text: text})
}
