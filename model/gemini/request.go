package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"google.golang.org/genai"

	"github.com/spoolhq/spool"
)

const maxInt32 = 1<<31 - 1

// request is a request to the SDK.
type request struct {
	config *genai.GenerateContentConfig
	// contents, tools and schema are put into the body as they are. The SDK would decode and encode them, and
	// change large numbers, signatures and the order of fields on the way.
	contents []content
	tools    []declaration
	schema   json.RawMessage
	extra    []map[string]any
	// outputTool is the name of the function whose arguments are the output, or empty.
	outputTool string
}

// declaration declares a function.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

func (m *Model) request(r spool.ModelRequest) (*request, error) {
	contents, continuation, err := m.contents(r.Messages)
	if err != nil {
		return nil, err
	}
	q := &request{
		config:   &genai.GenerateContentConfig{MaxOutputTokens: m.maxOutputTokens(r), ThinkingConfig: m.thinking()},
		contents: contents,
		extra:    []map[string]any{m.config.Extra, r.Extra},
	}
	// Every further request must be the engine's.
	once, attempts := false, int32(1)
	q.config.AutomaticContinuation = &once
	q.config.HTTPOptions = &genai.HTTPOptions{ExtrasRequestProvider: q.complete, RetryOptions: &genai.HTTPRetryOptions{Attempts: &attempts}}
	if r.Instructions != "" {
		q.config.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: r.Instructions}}}
	}
	for _, t := range r.Tools {
		q.tools = append(q.tools, declaration{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	if continuation != "" {
		q.extra = append(q.extra, map[string]any{"continuationToken": continuation})
	}
	m.setOutput(q, r)
	return q, nil
}

// setOutput asks for a JSON value. An old model refuses an output schema together with functions. It has to call a
// function, and one more of them takes the value.
func (m *Model) setOutput(q *request, r spool.ModelRequest) {
	if r.Output == nil {
		return
	}
	if len(r.Tools) == 0 || !old(m.config.Model) {
		q.schema = r.Output.Schema
		q.config.ResponseMIMEType = "application/json"
		return
	}
	q.outputTool = r.Output.Name
	for n := 2; q.declares(q.outputTool); n++ {
		q.outputTool = fmt.Sprintf("%.56s_%d", r.Output.Name, n)
	}
	description := "Gives the final answer. Call it once, when nothing else is left to do, and then write nothing more."
	if r.Output.Description != "" {
		description = r.Output.Description + "\n" + description
	}
	q.tools = append(q.tools, declaration{Name: q.outputTool, Description: description, Parameters: r.Output.Schema})
	q.config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}}
}

func (q *request) declares(name string) bool {
	for _, d := range q.tools {
		if d.Name == name {
			return true
		}
	}
	return false
}

// maxOutputTokens returns the lower of the two bounds of an answer, or zero if it has none.
func (m *Model) maxOutputTokens(r spool.ModelRequest) int32 {
	n := max(r.MaxOutputTokens, m.config.MaxOutputTokens)
	if r.MaxOutputTokens > 0 && m.config.MaxOutputTokens > 0 {
		n = min(r.MaxOutputTokens, m.config.MaxOutputTokens)
	}
	return int32(min(n, maxInt32)) //nolint:gosec // it is within the bounds
}

// thinking returns the settings of the model's thoughts, or nil if the configuration has none.
func (m *Model) thinking() *genai.ThinkingConfig {
	if !m.config.IncludeThoughts && m.config.ThinkingBudget == nil && m.config.ThinkingLevel == "" {
		return nil
	}
	t := &genai.ThinkingConfig{IncludeThoughts: m.config.IncludeThoughts, ThinkingLevel: genai.ThinkingLevel(m.config.ThinkingLevel)}
	if m.config.ThinkingBudget != nil {
		budget := int32(*m.config.ThinkingBudget) //nolint:gosec // New has checked it
		t.ThinkingBudget = &budget
	}
	return t
}

// complete adds to the body what the SDK must not change. The SDK calls it for each request.
func (q *request) complete(body map[string]any) map[string]any {
	if body == nil {
		body = make(map[string]any)
	}
	body["contents"] = q.contents
	if len(q.tools) > 0 {
		body["tools"] = []any{map[string]any{"functionDeclarations": q.tools}}
	}
	if q.schema != nil {
		merge(body, map[string]any{"generationConfig": map[string]any{"responseJsonSchema": q.schema}})
	}
	for _, extra := range q.extra {
		// Google's own tools stand beside the functions.
		tools, added := listOf(body["tools"]), listOf(extra["tools"])
		merge(body, extra)
		if len(added) > 0 {
			body["tools"] = slices.Concat(tools, added)
		}
	}
	return body
}

// listOf returns the items of a list of any type, or nil for another value.
func listOf(value any) []any {
	if list, ok := value.([]any); ok || value == nil {
		return list
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = item
	}
	return list
}

// merge adds the fields of from to to. An object is merged into an object, and every other value replaces
// what was there.
func merge(to, from map[string]any) {
	for name, value := range from {
		outer, isObject := to[name].(map[string]any)
		inner, both := value.(map[string]any)
		if !isObject || !both {
			to[name] = value
			continue
		}
		outer = maps.Clone(outer)
		merge(outer, inner)
		to[name] = outer
	}
}

// ask makes the request through the SDK. It returns the response, whatever its status.
func (m *Model) ask(ctx context.Context, q *request) (*http.Response, error) {
	ctx, e := withExchange(ctx)
	var failed error
	for _, err := range m.sdk.Models.GenerateContentStream(ctx, m.config.Model, nil, q.config) {
		if err != nil {
			failed = err
			break
		}
	}
	switch {
	case e.response != nil:
		return e.response, nil
	case e.err != nil:
		return nil, e.err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	// The SDK's error may show the whole body.
	return nil, &spool.ModelError{Status: http.StatusBadRequest, Message: "encode request", Err: errors.New(m.secrets.Clean(fmt.Sprint(failed)))}
}
