package gemini

import (
	"bytes"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/filepart"
	"github.com/spoolhq/spool/internal/toolname"
)

// noResult is the response to a call that has no result. The API wants a response to each call.
const noResult = `{"error":"the call has no result"}`

// call is a tool call of an answer. sentID is its id for the API, or empty if the API gave none.
type call struct {
	spool.Part

	sentID string
}

// responses returns the responses to calls, in the calls' order. The results are in the tool messages up to the next
// answer.
func (c *conversation) responses(calls []call, after []spool.Message) ([]any, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	results := make(map[spool.ToolCallID]spool.Content, len(calls))
	for _, message := range after {
		if message.Role == spool.RoleAssistant {
			break
		}
		if message.Role == spool.RoleTool {
			collect(results, message.Content)
		}
	}
	parts, other := make([]any, 0, len(calls)), []any(nil)
	for _, called := range calls {
		response := &functionResponse{
			ID: called.sentID, Name: toolname.Fit(called.ToolName), Response: json.RawMessage(noResult),
		}
		if result := results[called.ToolCallID]; len(result) > 0 {
			response.Response = encodeResult(result[0].Result)
			media, err := mediaParts(result[1:])
			if err != nil {
				return nil, err
			}
			if c.old {
				other = append(other, media...)
			} else {
				response.Parts = media
			}
		}
		parts = append(parts, part{Response: response})
	}
	return append(parts, other...), nil
}

// collect adds each result, with the images and files that follow it, to results.
func collect(results map[spool.ToolCallID]spool.Content, content spool.Content) {
	var id spool.ToolCallID
	for _, p := range content {
		switch p.Type {
		case spool.PartToolResult:
			id = p.ToolCallID
			results[id] = spool.Content{p}
		case spool.PartImage, spool.PartFile:
			if len(results[id]) > 0 && inResult(p) {
				results[id] = append(results[id], p)
			}
		case spool.PartText, spool.PartReasoning, spool.PartToolCall, spool.PartProvider, spool.PartSummary, spool.PartSource:
		}
	}
}

// encodeResult returns a JSON object: the result itself, or an object with the result as its output.
func encodeResult(result json.RawMessage) json.RawMessage {
	result = bytes.TrimSpace(result)
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	if result[0] == '{' {
		return result
	}
	wrapped, err := json.Marshal(map[string]json.RawMessage{"output": result})
	if err != nil {
		return json.RawMessage(noResult)
	}
	return wrapped
}

// inResult reports whether a response to a call may have an image or a file. It may have data, and no texts.
func inResult(p spool.Part) bool {
	if p.Type == spool.PartImage {
		return true
	}
	kind := filepart.KindOf(p)
	return acceptsFile(kind) && !filepart.IsText(kind)
}
