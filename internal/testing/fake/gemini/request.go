package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Request is a request that the server has accepted.
type Request struct {
	Model    string
	Body     []byte
	Contents []Content
	// System is the text of the system instruction.
	System string
	// Functions are the names of the declared functions.
	Functions []string
	// Schema is the schema of the output, nil for none.
	Schema json.RawMessage
	// Mode is the mode of function calling, such as "ANY". Empty: the API's default.
	Mode string
	// Thoughts says that the answer may show thoughts.
	Thoughts bool
	// Continuation is the token of the answer that goes on. Empty: the answer is a new one.
	Continuation string
}

// Content is a message.
type Content struct {
	Role  string `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is a part of a message or of an answer. An answer's Signature is chosen by the server if it is empty.
type Part struct {
	Text      *string   `json:"text,omitempty"`
	Thought   bool      `json:"thought,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
	Call      *Call     `json:"functionCall,omitempty"`
	Response  *Response `json:"functionResponse,omitempty"`
	Inline    *Blob     `json:"inlineData,omitempty"`
	File      *File     `json:"fileData,omitempty"`

	// Kinds that the server does not look into.
	Code         json.RawMessage `json:"executableCode,omitempty"`
	CodeResult   json.RawMessage `json:"codeExecutionResult,omitempty"`
	ToolCall     json.RawMessage `json:"toolCall,omitempty"`
	ToolResponse json.RawMessage `json:"toolResponse,omitempty"`
	Metadata     json.RawMessage `json:"partMetadata,omitempty"`
	Video        json.RawMessage `json:"videoMetadata,omitempty"`
	Resolution   json.RawMessage `json:"mediaResolution,omitempty"`
}

// Call is a function call.
type Call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// Response is the response to a function call.
type Response struct {
	ID       string                     `json:"id,omitempty"`
	Name     string                     `json:"name"`
	Response map[string]json.RawMessage `json:"response"`
	Parts    []Part                     `json:"parts,omitempty"`
}

// Blob is inline data.
type Blob struct {
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

// File is data by URI.
type File struct {
	MIMEType string `json:"mimeType,omitempty"`
	URI      string `json:"fileUri"`
}

// Text returns a text part.
func Text(text string) Part { return Part{Text: &text} }

// Thought returns a part with a summary of thoughts.
func Thought(text string) Part { return Part{Text: &text, Thought: true} }

// FunctionCall returns a call. Args is a JSON object, or empty for none.
func FunctionCall(name, args string) Part {
	return Part{Call: &Call{Name: name, Args: json.RawMessage(args)}}
}

// LastText returns the text of the last user turn with a text.
func (r *Request) LastText() string {
	for _, c := range slices.Backward(r.Contents) {
		if text := c.text(); c.Role == "user" && text != "" {
			return text
		}
	}
	return ""
}

// Responses returns the function responses of the last content.
func (r *Request) Responses() []Response {
	if len(r.Contents) == 0 {
		return nil
	}
	return r.Contents[len(r.Contents)-1].responses()
}

func (c Content) text() string {
	var b strings.Builder
	for _, p := range c.Parts {
		if p.Text != nil && !p.Thought {
			b.WriteString(*p.Text)
		}
	}
	return b.String()
}

func (c Content) calls() []Call {
	var out []Call
	for _, p := range c.Parts {
		if p.Call != nil {
			out = append(out, *p.Call)
		}
	}
	return out
}

func (c Content) responses() []Response {
	var out []Response
	for _, p := range c.Parts {
		if p.Response != nil {
			out = append(out, *p.Response)
		}
	}
	return out
}

// wire is the body of a request. The API knows no other fields.
type wire struct {
	Contents     []Content `json:"contents"`
	System       *Content  `json:"systemInstruction"`
	Continuation string    `json:"continuationToken"`
	Tools        []struct {
		Functions []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			JSONSchema  json.RawMessage `json:"parametersJsonSchema"`
			Response    json.RawMessage `json:"response"`
			JSONResult  json.RawMessage `json:"responseJsonSchema"`
			Behavior    string          `json:"behavior"`
		} `json:"functionDeclarations"`
		Search        json.RawMessage `json:"googleSearch"`
		CodeExecution json.RawMessage `json:"codeExecution"`
		URLContext    json.RawMessage `json:"urlContext"`
	} `json:"tools"`
	ToolConfig struct {
		Calling struct {
			Mode    string   `json:"mode"`
			Allowed []string `json:"allowedFunctionNames"`
		} `json:"functionCallingConfig"`
		Retrieval json.RawMessage `json:"retrievalConfig"`
		Include   bool            `json:"includeServerSideToolInvocations"`
	} `json:"toolConfig"`
	Generation struct {
		MaxOutputTokens *int            `json:"maxOutputTokens"`
		MIMEType        string          `json:"responseMimeType"`
		JSONSchema      json.RawMessage `json:"responseJsonSchema"`
		Schema          json.RawMessage `json:"responseSchema"`
		Thinking        *struct {
			Include bool   `json:"includeThoughts"`
			Budget  *int   `json:"thinkingBudget"`
			Level   string `json:"thinkingLevel"`
		} `json:"thinkingConfig"`
		StopSequences   []string        `json:"stopSequences"`
		Temperature     *float64        `json:"temperature"`
		TopP            *float64        `json:"topP"`
		TopK            *float64        `json:"topK"`
		Seed            *int            `json:"seed"`
		Candidates      *int            `json:"candidateCount"`
		Presence        *float64        `json:"presencePenalty"`
		Frequency       *float64        `json:"frequencyPenalty"`
		Modalities      []string        `json:"responseModalities"`
		MediaResolution string          `json:"mediaResolution"`
		Image           json.RawMessage `json:"imageConfig"`
		Speech          json.RawMessage `json:"speechConfig"`
	} `json:"generationConfig"`
	Safety json.RawMessage `json:"safetySettings"`
	Cached string          `json:"cachedContent"`
	Tier   string          `json:"serviceTier"`
	Store  *bool           `json:"store"`
}

var nameExpr = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$`)

// decode reads the body of a request and checks its settings.
func decode(model string, body []byte, unknown []string) (*Request, *Error) {
	if len(unknown) > 0 {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			return nil, invalid("Invalid JSON payload received. %v", err)
		}
		for _, name := range unknown {
			delete(fields, name)
		}
		known, err := json.Marshal(fields)
		if err != nil {
			return nil, invalid("Invalid JSON payload received. %v", err)
		}
		body = known
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	var in wire
	if err := d.Decode(&in); err != nil {
		name, found := strings.CutPrefix(err.Error(), "json: unknown field ")
		if found {
			return nil, invalid("Invalid JSON payload received. Unknown name %s: Cannot find field.", name)
		}
		return nil, invalid("Invalid JSON payload received. %v", err)
	}
	out := &Request{
		Model: model, Body: body, Contents: in.Contents, Schema: in.Generation.JSONSchema,
		Mode: in.ToolConfig.Calling.Mode, Continuation: in.Continuation,
	}
	out.Thoughts = in.Generation.Thinking != nil && in.Generation.Thinking.Include
	if in.System != nil {
		out.System = in.System.text()
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			switch {
			case !nameExpr.MatchString(f.Name):
				return nil, invalid("Invalid function name %q. Must start with a letter or an underscore.", f.Name)
			case slices.Contains(out.Functions, f.Name):
				return nil, invalid("Duplicate function declaration found: %s", f.Name)
			case f.Parameters != nil && f.JSONSchema != nil:
				return nil, invalid("parameters and parametersJsonSchema exclude each other: %s", f.Name)
			case f.JSONSchema != nil && !isObject(f.JSONSchema):
				return nil, invalid("parametersJsonSchema must be an object: %s", f.Name)
			}
			out.Functions = append(out.Functions, f.Name)
		}
	}
	return out, in.checkSettings(out)
}

// checkSettings checks settings that exclude each other, or that the model does not take.
func (in *wire) checkSettings(r *Request) *Error {
	g := in.Generation
	switch {
	case g.MaxOutputTokens != nil && *g.MaxOutputTokens < 1:
		return invalid("max_output_tokens must be positive")
	case g.JSONSchema != nil && g.Schema != nil:
		return invalid("responseSchema and responseJsonSchema exclude each other")
	case (g.JSONSchema != nil || g.Schema != nil) && g.MIMEType != "application/json":
		return invalid("response_schema needs the response mime type 'application/json'")
	case g.MIMEType == "application/json" && len(r.Functions) > 0 && Old(r.Model):
		return invalid("Function calling with a response mime type: 'application/json' is unsupported")
	case r.Mode != "" && !slices.Contains([]string{"AUTO", "ANY", "NONE", "VALIDATED"}, r.Mode):
		return invalid("unknown mode %q", r.Mode)
	case r.Mode == "ANY" && len(r.Functions) == 0:
		return invalid("Function calling config is set without function_declarations.")
	}
	t := g.Thinking
	if t == nil {
		return nil
	}
	switch {
	case t.Budget != nil && t.Level != "":
		return invalid("You can only set only one of thinking budget and thinking level.")
	case t.Level != "" && !slices.Contains([]string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}, t.Level):
		return invalid("Invalid value at 'generation_config.thinking_config.thinking_level', %q", t.Level)
	case t.Level != "" && Old(r.Model):
		return invalid("Thinking level is not supported for this model.")
	case Old(r.Model) && !strings.HasPrefix(r.Model, "gemini-2.5"):
		return invalid("Thinking is not supported for this model.")
	}
	return nil
}

// Old reports whether the server treats a model as one before Gemini 3.
func Old(model string) bool {
	return strings.HasPrefix(model, "gemini-1") || strings.HasPrefix(model, "gemini-2") ||
		strings.HasPrefix(model, "gemma")
}

func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{'
}

// canonical returns a JSON value with sorted keys and without blanks.
func canonical(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return string(raw)
	}
	out, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(out)
}
