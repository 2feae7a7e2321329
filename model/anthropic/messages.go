package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/callid"
	"github.com/spoolhq/spool/internal/filepart"
	"github.com/spoolhq/spool/internal/toolname"
)

// maxID is the longest id of a call that a request gets, unless the provider gave a longer one.
const maxID = 64

// conversation builds the messages of a request. Consecutive messages of one role become one.
type conversation struct {
	model    string
	messages []wireMessage
	ids      callid.IDs
}

// newConversation returns the messages, and ends[n], the end of the first n of them.
func newConversation(model string, messages []spool.Message) (c *conversation, ends []prefix) {
	c = &conversation{model: model, ids: callid.IDs{Max: maxID}}
	ends = append(make([]prefix, 0, len(messages)+1), prefix{})
	for _, m := range filepart.BehindAnswers(messages) {
		switch m.Role {
		case spool.RoleAssistant:
			c.add(roleAssistant, c.assistant(m.Content))
		case spool.RoleTool:
			c.add(roleUser, c.results(m.Content))
		case spool.RoleUser, spool.RoleSystem:
			c.add(roleUser, userBlocks(m.Content))
		}
		end := prefix{messages: len(c.messages)}
		if end.messages > 0 {
			end.blocks = len(c.messages[end.messages-1].Content)
		}
		ends = append(ends, end)
	}
	c.trimEnd()
	return c, ends
}

func (c *conversation) add(role string, blocks []*wireBlock) {
	if len(blocks) == 0 {
		return
	}
	if last := len(c.messages) - 1; last >= 0 && c.messages[last].Role == role {
		c.messages[last].Content = append(c.messages[last].Content, blocks...)
		return
	}
	c.messages = append(c.messages, wireMessage{Role: role, Content: blocks})
}

// trimEnd removes the blanks at the end of a prompt that the model has to go on from. The provider refuses
// them.
func (c *conversation) trimEnd() {
	last := len(c.messages) - 1
	if last < 0 || c.messages[last].Role != roleAssistant {
		return
	}
	blocks := c.messages[last].Content
	if b := blocks[len(blocks)-1]; b.Text != nil && b.Citations == nil {
		text := strings.TrimRight(*b.Text, " \t\r\n")
		b.Text = &text
	}
}

// assistant returns the blocks of an answer. It leaves out what another provider or another model wants back,
// and texts that are empty or blank, which the provider refuses.
func (c *conversation) assistant(content spool.Content) []*wireBlock {
	blocks := make([]*wireBlock, 0, len(content))
	for _, p := range content {
		switch p.Type {
		case spool.PartText:
			if strings.TrimSpace(p.Text) != "" {
				block := textBlock(p.Text)
				block.Citations = load(p.Provider, c.model).Citations
				blocks = append(blocks, block)
			}
		case spool.PartReasoning:
			if block := c.thinking(p); block != nil {
				blocks = append(blocks, block)
			}
		case spool.PartToolCall:
			own := load(p.Provider, c.model)
			blocks = append(blocks, &wireBlock{
				Type: typeToolUse, ID: c.ids.Call(p.ToolCallID, own.ID), Name: toolname.Fit(p.ToolName), Input: object(p.Args),
				Caller: own.Caller,
			})
		case spool.PartProvider:
			if raw := load(p.Provider, c.model).Block; raw != nil {
				blocks = append(blocks, &wireBlock{raw: raw})
			}
		case spool.PartImage, spool.PartFile, spool.PartToolResult, spool.PartSummary, spool.PartSource:
		}
	}
	return blocks
}

// thinking returns a block of thinking, or nil if this model has not signed it.
func (c *conversation) thinking(p spool.Part) *wireBlock {
	switch data := load(p.Provider, c.model); {
	case data.Redacted != "":
		return &wireBlock{Type: typeRedacted, Data: data.Redacted}
	case data.Signature != "":
		text := p.Text
		return &wireBlock{Type: typeThinking, Thinking: &text, Signature: data.Signature}
	default:
		return nil
	}
}

// object returns the arguments of a call as a JSON object, whatever the model wrote. The provider takes
// nothing else.
func object(args json.RawMessage) json.RawMessage {
	args = bytes.TrimSpace(args)
	switch {
	case len(args) == 0, string(args) == "null":
		return json.RawMessage("{}")
	case args[0] == '{' && json.Valid(args):
		return args
	}
	var value any = string(args)
	if json.Valid(args) {
		value = args
	}
	wrapped, err := marshal(map[string]any{"invalid_arguments": value})
	if err != nil {
		return json.RawMessage("{}")
	}
	return wrapped
}

// results returns the results of calls. Images and files belong to the result before them.
func (c *conversation) results(content spool.Content) []*wireBlock {
	blocks := make([]*wireBlock, 0, len(content))
	for _, p := range content {
		if (p.Type == spool.PartImage || p.Type == spool.PartFile) && len(blocks) > 0 {
			blocks[len(blocks)-1].show(p)
		}
		if p.Type != spool.PartToolResult {
			continue
		}
		block := &wireBlock{Type: typeToolResult, ToolUseID: c.ids.Result(p.ToolCallID)}
		if parts, failed, ok := resultParts(p.Result); ok {
			block.Content, block.IsError = parts, failed
		} else if text := resultText(p.Result); strings.TrimSpace(text) != "" {
			block.Content = text
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// resultText returns the text of a JSON string, and any other JSON unchanged.
func resultText(result json.RawMessage) string {
	var text string
	switch {
	case len(result) == 0:
		return "null"
	case result[0] == '"' && json.Unmarshal(result, &text) == nil:
		return text
	default:
		return string(result)
	}
}
