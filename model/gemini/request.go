package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/toolname"
)

const maxInt32 = 1<<31 - 1

// declaration declares a function.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// request returns the body of a request, and the name of the function whose arguments are the output, or an empty name.
func (m *Model) request(r spool.ModelRequest) (body []byte, outputTool string, err error) {
	contents, continuation, err := m.contents(r.Messages)
	if err != nil {
		return nil, "", err
	}
	settings := m.settings(r)
	fields := map[string]any{"contents": contents, "generationConfig": settings}
	if r.Instructions != "" {
		fields["systemInstruction"] = map[string]any{"role": roleUser, "parts": textParts(r.Instructions)}
	}
	tools := make([]declaration, 0, len(r.Tools)+1)
	for _, t := range r.Tools {
		tools = append(tools, declaration{Name: toolname.Fit(t.Name), Description: t.Description, Parameters: t.Parameters})
	}
	// An old model refuses an output schema together with functions. It has to call a function, and one more of them takes
	// the value.
	if r.Output != nil && len(tools) > 0 && old(m.config.Model) {
		tools = append(tools, outputDeclaration(r.Output, tools))
		outputTool = tools[len(tools)-1].Name
		fields["toolConfig"] = map[string]any{"functionCallingConfig": map[string]any{"mode": "ANY"}}
	} else if r.Output != nil {
		settings["responseMimeType"] = "application/json"
		settings["responseJsonSchema"] = r.Output.Schema
	}
	if len(tools) > 0 {
		fields["tools"] = []any{map[string]any{"functionDeclarations": tools}}
	}
	for _, extra := range []map[string]any{m.config.Extra, r.Extra} {
		// Google's own tools stand beside the functions.
		own, added := listOf(fields["tools"]), listOf(extra["tools"])
		merge(fields, extra)
		if len(added) > 0 {
			fields["tools"] = slices.Concat(own, added)
		}
	}
	if r.NoCalls && len(tools) > 0 {
		chooseNone(fields, outputTool)
	}
	if continuation != "" {
		fields["continuationToken"] = continuation
	}
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(fields); err != nil {
		return nil, "", &spool.ModelError{
			Status: http.StatusBadRequest, Message: "encode request", Err: errors.New(m.secrets.Clean(err.Error())),
		}
	}
	return out.Bytes(), outputTool, nil
}

// chooseNone forbids the calls of an answer, except for that of the function that takes the output. "": there is none.
func chooseNone(fields map[string]any, outputTool string) {
	calling := map[string]any{"mode": "NONE"}
	if outputTool != "" {
		calling = map[string]any{"mode": "ANY", "allowedFunctionNames": []string{outputTool}}
	}
	config := map[string]any{}
	if field, ok := fields["toolConfig"].(map[string]any); ok {
		maps.Copy(config, field)
	}
	config["functionCallingConfig"] = calling
	fields["toolConfig"] = config
}

// settings returns the generationConfig of a request, without the output.
func (m *Model) settings(r spool.ModelRequest) map[string]any {
	settings, thinking := make(map[string]any), make(map[string]any)
	most := max(r.MaxOutputTokens, m.config.MaxOutputTokens)
	if r.MaxOutputTokens > 0 && m.config.MaxOutputTokens > 0 {
		most = min(r.MaxOutputTokens, m.config.MaxOutputTokens)
	}
	if most > 0 {
		settings["maxOutputTokens"] = min(most, maxInt32)
	}
	if m.config.IncludeThoughts {
		thinking["includeThoughts"] = true
	}
	if m.config.ThinkingBudget != nil {
		thinking["thinkingBudget"] = *m.config.ThinkingBudget
	}
	if m.config.ThinkingLevel != "" {
		thinking["thinkingLevel"] = m.config.ThinkingLevel
	}
	if len(thinking) > 0 {
		settings["thinkingConfig"] = thinking
	}
	return settings
}

// outputDeclaration declares a function whose arguments are the output. No tool has its name.
func outputDeclaration(output *spool.OutputSchema, tools []declaration) declaration {
	d := declaration{Name: output.Name, Parameters: output.Schema}
	for n := 2; slices.ContainsFunc(tools, func(t declaration) bool { return t.Name == d.Name }); n++ {
		d.Name = fmt.Sprintf("%.56s_%d", output.Name, n)
	}
	d.Description = "Gives the final answer. Call it once, when nothing else is left to do, and then write nothing more."
	if output.Description != "" {
		d.Description = output.Description + "\n" + d.Description
	}
	return d
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

// ask makes the request. It returns the response, whatever its status.
func (m *Model) ask(ctx context.Context, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	if m.config.APIKey != "" {
		request.Header.Set("X-Goog-Api-Key", m.config.APIKey)
	}
	if at, ok := ctx.Deadline(); ok {
		// The service gives up when nobody waits for the answer any more.
		request.Header.Set("X-Server-Timeout", strconv.Itoa(int(math.Ceil(time.Until(at).Seconds()))))
	}
	for name, value := range m.config.Headers {
		request.Header.Set(name, value)
	}
	return m.client.Do(request)
}
