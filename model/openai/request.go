package openai

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/callid"
	"github.com/spoolhq/spool/internal/filepart"
	"github.com/spoolhq/spool/internal/openaiwire"
	"github.com/spoolhq/spool/internal/toolname"
)

// body returns the JSON of a request, and which fields of the form it has. Extra wins over every field except stream:
// the answer is always read as a stream, and the choice of no tool.
func (m *Model) body(r spool.ModelRequest, f form) ([]byte, sent, error) {
	var s sent
	body := map[string]any{
		"model":    m.config.Model,
		"messages": m.messages(r, f, &s),
	}
	if s.cacheKey = f.cache == CacheKey && r.CacheKey != ""; s.cacheKey {
		body["prompt_cache_key"] = r.CacheKey
	}
	if len(r.Tools) > 0 {
		body["tools"] = encodeTools(r.Tools)
	}
	if most := openaiwire.Lower(r.MaxOutputTokens, m.config.MaxOutputTokens); most > 0 {
		body[f.maxTokens], s.maxTokens = most, true
	}
	if s.streamUsage = f.streamUsage; s.streamUsage {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	o := m.output(r, f)
	o.ask(body, r)
	s.strict = o.strict && o.tool == ""
	maps.Copy(body, m.config.Extra)
	maps.Copy(body, r.Extra)
	if !f.parallel {
		delete(body, "parallel_tool_calls")
	}
	_, s.parallel = body["parallel_tool_calls"]
	if _, has := body["tools"]; has && r.NoCalls && o.tool == "" {
		body["tool_choice"] = "none"
	}
	body["stream"] = true
	raw, err := json.Marshal(body)
	return raw, s, err
}

// maxCallID is the longest id of a call that OpenAI accepts. Ids of other models, and of other providers, may be
// longer.
const maxCallID = 40

// shortCallID is the length of the only ids of calls that Mistral accepts.
const shortCallID = 9

func (m *Model) messages(r spool.ModelRequest, f form, s *sent) []wireMessage {
	out := make([]wireMessage, 0, len(r.Messages)+1)
	if r.Instructions != "" {
		out = append(out, wireMessage{"role": "system", "content": r.Instructions})
	}
	ends := []int{len(out)} // see mark
	ids := &callid.IDs{Max: maxCallID}
	if m.profile.ShortCallIDs {
		ids.Exact = shortCallID
	}
	addUser := func(message wireMessage) {
		switch last := len(out) - 1; {
		case last < 0 || out[last]["role"] != "tool":
		case f.answerAfterResults:
			out = append(out, f.understood(s))
		default:
			s.userAfterTool = true
		}
		out = append(out, message)
	}
	for _, message := range filepart.BehindAnswers(r.Messages) {
		switch message.Role {
		case spool.RoleTool:
			out = append(out, encodeResults(message, ids, f.images)...)
			switch media := resultMedia(message.Content, ids); {
			case media == nil:
			case f.images:
				s.resultImages = true
				addUser(media)
			default:
				s.withheld = true
			}
		case spool.RoleAssistant:
			if encoded := m.encodeAssistant(message, ids, f, s); encoded != nil {
				out, s.answers = append(out, encoded), true
			}
		case spool.RoleSystem:
			out = append(out, wireMessage{"role": "system", "content": message.Text()})
		case spool.RoleUser:
			addUser(wireMessage{"role": "user", "content": encodeUser(message.Content)})
		}
		ends = append(ends, len(out))
	}
	if s.marks = f.cache == CacheMarks; s.marks {
		mark(out, ends, r.CacheMarks)
	}
	return out
}

// understood returns an answer that says no more than that the results have come. It is in the request only.
func (f form) understood(s *sent) wireMessage {
	out := wireMessage{"role": "assistant", "content": "Understood."}
	f.addReasoning(out, "", s)
	s.answers = true
	return out
}

// encodeUser returns a string, which every server accepts, or a list of parts if the content has an
// image or a PDF.
func encodeUser(content spool.Content) any {
	parts := make([]map[string]any, 0, len(content))
	plain := true
	for _, p := range content {
		switch p.Type {
		case spool.PartText:
			parts = append(parts, map[string]any{"type": "text", "text": p.Text})
		case spool.PartImage:
			plain = false
			parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]any{"url": p.Image}})
		case spool.PartFile:
			encoded, isFile := encodeFile(p)
			plain = plain && !isFile
			parts = append(parts, encoded)
		case spool.PartReasoning, spool.PartToolCall, spool.PartToolResult, spool.PartProvider, spool.PartSource:
		}
	}
	if !plain {
		return parts
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i], _ = p["text"].(string)
	}
	return strings.Join(texts, "")
}

// encodeFile returns a file as a part of a message. The interface takes no URL of a file, and some servers take
// no text files, so these become texts. IsFile is false for a text.
func encodeFile(p spool.Part) (encoded map[string]any, isFile bool) {
	if text, ok := filepart.Text(p); ok {
		return map[string]any{"type": "text", "text": text}, false
	}
	if !filepart.IsData(p.File) || filepart.KindOf(p) != "application/pdf" {
		return map[string]any{"type": "text", "text": filepart.Note(p)}, false
	}
	return map[string]any{"type": "file", "file": map[string]any{
		"filename": cmp.Or(p.FileName, "file.pdf"), "file_data": p.File,
	}}, true
}

// encodeAssistant returns the wire form of an assistant message. It returns nil for an empty message,
// which servers refuse.
func (m *Model) encodeAssistant(message spool.Message, ids *callid.IDs, f form, s *sent) wireMessage {
	out := wireMessage{"role": "assistant", "content": nil}
	if text := message.Text(); text != "" {
		out["content"] = text
	}
	calls := make([]wireMessage, 0, len(message.Content))
	var details []json.RawMessage
	var reasoning strings.Builder
	for _, p := range message.Content {
		switch p.Type {
		case spool.PartToolCall:
			calls = append(calls, encodeCall(p, m.load(p.Provider), ids))
		case spool.PartReasoning:
			if !m.foreign(p.Provider) {
				reasoning.WriteString(p.Text)
			}
			details = append(details, m.load(p.Provider).ReasoningDetails...)
		case spool.PartText, spool.PartImage, spool.PartFile, spool.PartToolResult, spool.PartProvider, spool.PartSource:
		}
	}
	if len(calls) > 0 {
		out["tool_calls"] = calls
	}
	if out["content"] == nil && len(calls) == 0 {
		return nil
	}
	if len(details) > 0 {
		out["reasoning_details"] = details
	}
	f.addReasoning(out, reasoning.String(), s)
	return out
}

// addReasoning adds a message's reasoning to its wire form, where the server wants it.
func (f form) addReasoning(out wireMessage, reasoning string, s *sent) {
	switch {
	case f.reasoning == "":
	case f.reasoning == inContent:
		if reasoning != "" {
			thinking := map[string]any{"type": "thinking", "thinking": []map[string]any{{"type": "text", "text": reasoning}}}
			parts := []map[string]any{thinking}
			if text, ok := out["content"].(string); ok {
				parts = append(parts, map[string]any{"type": "text", "text": text})
			}
			out["content"], s.reasoning = parts, true
		}
	case reasoning != "":
		out[f.reasoning], s.reasoning = reasoning, true
	case f.needed == NeededAlways, f.needed == NeededCalls && out["tool_calls"] != nil:
		out[f.reasoning], s.reasoning = " ", true // an empty text counts as none
	}
}

func encodeCall(p spool.Part, own saved, ids *callid.IDs) wireMessage {
	out := wireMessage{
		"id":       ids.Call(p.ToolCallID, own.ID),
		"type":     "function",
		"function": map[string]any{"name": toolname.Fit(p.ToolName), "arguments": openaiwire.Arguments(p.Args)},
	}
	if own.ExtraContent != nil {
		out["extra_content"] = own.ExtraContent
	}
	return out
}

// notShown is what a model that takes no images reads behind a result with one.
const notShown = "[an image or a file of this result is not shown: this model does not take it]"

// encodeResults returns the messages of results. Images says that a message of a user behind them has their images.
func encodeResults(message spool.Message, ids *callid.IDs, images bool) []wireMessage {
	out := make([]wireMessage, 0, len(message.Content))
	for _, p := range message.Content {
		switch last := len(out) - 1; p.Type { //nolint:exhaustive // the other parts are not of results
		case spool.PartToolResult:
			out = append(out, wireMessage{
				"role": "tool", "tool_call_id": ids.Result(p.ToolCallID), "content": openaiwire.ResultText(p.Result),
			})
		case spool.PartImage, spool.PartFile:
			if images || last < 0 {
				continue
			}
			if text, ok := out[last]["content"].(string); ok && !strings.HasSuffix(text, notShown) {
				out[last]["content"] = text + "\n\n" + notShown
			}
		}
	}
	return out
}

// resultMedia returns the images and files of tool results as a message of a user, because a tool's message
// takes texts only. It returns nil if there are none.
func resultMedia(content spool.Content, ids *callid.IDs) wireMessage {
	var shown spool.Content
	var of spool.Part
	for _, p := range content {
		switch p.Type {
		case spool.PartToolResult:
			of = p
		case spool.PartImage, spool.PartFile:
			shown = append(shown, spool.Part{
				Type: spool.PartText,
				Text: "From the result of the call " + ids.Result(of.ToolCallID) + " of the tool " + of.ToolName + ":",
			}, p)
		case spool.PartText, spool.PartReasoning, spool.PartToolCall, spool.PartProvider, spool.PartSummary, spool.PartSource:
		}
	}
	if shown == nil {
		return nil
	}
	return wireMessage{"role": "user", "content": encodeUser(shown)}
}

func encodeTools(tools []spool.ToolSpec) []map[string]any {
	out := make([]map[string]any, len(tools))
	for i, t := range tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out[i] = map[string]any{"type": "function", "function": map[string]any{
			"name": toolname.Fit(t.Name), "description": t.Description, "parameters": parameters,
		}}
	}
	return out
}
