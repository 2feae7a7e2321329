package responses

import (
	"encoding/json"
	"regexp"
	"slices"
)

const (
	minOutput = 16
	maxCallID = 64
)

var nameExpr = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// check returns the refusal of a request, or nil.
func (s *Server) check(r *Request) *problem {
	switch {
	case r.Model == "":
		return refuse("missing_required_parameter", "model", "Missing required parameter: 'model'.")
	case len(r.Input) == 0:
		return refuse("", "input", "Input must not be empty.")
	case r.Body["stream"] != true:
		return refuse("", "stream", "This server only streams.")
	case r.Background() && r.Body["store"] == false:
		return refuse("", "background", "Background responses require 'store' to be true.")
	}
	if most, ok := r.Body["max_output_tokens"].(float64); ok && most < minOutput {
		return refuse("integer_below_min_value", "max_output_tokens",
			"Invalid 'max_output_tokens': integer below minimum value.")
	}
	if p := checkTools(r); p != nil {
		return p
	}
	if p := checkFormat(r); p != nil {
		return p
	}
	for i, in := range r.Input {
		if p := s.checkItem(r, i, in); p != nil {
			return p
		}
	}
	return checkCalls(r.Input)
}

func (s *Server) checkItem(r *Request, i int, in Input) *problem {
	if in.ID != nil && !s.isKnown(*in.ID) {
		return refuse("", "input", "Item with id '%s' not found. Items are not persisted when `store` is set to false. "+
			"Try again with `store` set to true, or remove this item from your input.", *in.ID)
	}
	if string(in.Status) == "null" {
		return refuse("invalid_type", "input",
			"Invalid type for 'input[%d].status': expected one of 'in_progress', 'completed', or 'incomplete', but got null instead.", i)
	}
	switch in.Type {
	case "message":
		return checkMessage(i, in)
	case "reasoning":
		return s.checkReasoning(r, i, in)
	case "function_call":
		return checkCall(i, in)
	case "function_call_output":
		return checkOutput(i, in)
	}
	switch {
	case in.Type == "image_generation_call":
		return refuse("", "input", "Image generation calls cannot be replayed when `store` is false.")
	case !slices.Contains(ownItems, in.Type):
		return refuse("invalid_value", "input", "Invalid value: '%s'. Supported values are: 'message', 'reasoning', ...",
			in.Type)
	case s.sealer(in.Raw) != r.Model:
		return refuse("invalid_value", "input", "Item 'input[%d]' of type '%s' is not one of this model's.", i, in.Type)
	}
	return nil
}

func (s *Server) isKnown(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id]
}

// sealer returns the model that made an item, or "".
func (s *Server) sealer(raw json.RawMessage) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sealed[digest(raw)]
}

// checkReasoning refuses reasoning that another model made, that was altered, or that its item does not follow.
func (s *Server) checkReasoning(r *Request, i int, in Input) *problem {
	if len(in.Summary) == 0 {
		return refuse("missing_required_parameter", "input", "Missing required parameter: 'input[%d].summary'.", i)
	}
	token, ok := s.unseal(in.Encrypted)
	if !ok || token.Model != r.Model || token.Summary != canonical(in.Summary) {
		return refuse("invalid_encrypted_content", "", "The encrypted content %.8s could not be verified.", in.Encrypted)
	}
	if i+1 == len(r.Input) || token.Next == "" || sum(r.Input[i+1].key()) != token.Next {
		return refuse("", "input", "Item '%s' of type 'reasoning' was provided without its required following item.",
			token.ID)
	}
	return nil
}

func checkMessage(i int, in Input) *problem {
	var want []string
	switch in.Role {
	case "user", "system", "developer":
		want = []string{"text", "input_text", "input_image", "input_file"}
	case "assistant":
		want = []string{"text", "output_text", "refusal"}
	default:
		return refuse("invalid_value", "input",
			"Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", in.Role)
	}
	return checkParts(i, in.Parts(), want)
}

func checkParts(i int, list []Part, want []string) *problem {
	if len(list) == 0 {
		return refuse("", "input", "Invalid 'input[%d].content': empty array.", i)
	}
	for _, p := range list {
		switch {
		case !slices.Contains(want, p.Type):
			return refuse("invalid_value", "input", "Invalid value: '%s'. Supported values are: %v.", p.Type, want)
		case p.Type == "input_image" && p.ImageURL == "":
			return refuse("missing_required_parameter", "input", "Missing required parameter: 'input[%d].content.image_url'.", i)
		case p.Type == "input_file" && p.FileURL == "" && (p.FileData == "" || p.Filename == ""):
			return refuse("missing_required_parameter", "input", "Missing required parameter: 'input[%d].content.filename'.", i)
		}
	}
	return nil
}

func checkCall(i int, in Input) *problem {
	var args map[string]any
	switch {
	case in.CallID == "" || len(in.CallID) > maxCallID:
		return refuse("string_above_max_length", "input",
			"Invalid 'input[%d].call_id': expected a string with length 1 to 64.", i)
	case !nameExpr.MatchString(in.CallID):
		return refuse("invalid_value", "input", "Invalid 'input[%d].call_id': string does not match pattern.", i)
	case !nameExpr.MatchString(in.Name):
		return refuse("invalid_value", "input", "Invalid 'input[%d].name': string does not match pattern.", i)
	case json.Unmarshal([]byte(in.Arguments), &args) != nil:
		return refuse("invalid_value", "input", "Invalid 'input[%d].arguments': expected a JSON object.", i)
	}
	return nil
}

func checkOutput(i int, in Input) *problem {
	if in.CallID == "" || len(in.Output) == 0 {
		return refuse("missing_required_parameter", "input", "Missing required parameter: 'input[%d].output'.", i)
	}
	return checkParts(i, parts(in.Output), []string{"text", "input_text", "input_image", "input_file"})
}

// checkCalls refuses results without their call, and calls without their result.
func checkCalls(items []Input) *problem {
	open := make(map[string]int)
	var order []string
	for _, in := range items {
		switch in.Type {
		case "function_call":
			if slices.Contains(order, in.CallID) {
				return refuse("invalid_value", "input", "Duplicate function call with call_id %s.", in.CallID)
			}
			open[in.CallID]++
			order = append(order, in.CallID)
		case "function_call_output":
			if open[in.CallID] == 0 {
				return refuse("", "input", "No tool call found for function call output with call_id %s.", in.CallID)
			}
			open[in.CallID]--
		}
	}
	for _, id := range order {
		if open[id] > 0 {
			return refuse("", "input", "No tool output found for function call %s.", id)
		}
	}
	return nil
}

func checkTools(r *Request) *problem {
	tools, ok := r.Body["tools"].([]any)
	if !ok && r.Body["tools"] != nil {
		return refuse("invalid_type", "tools", "Invalid type for 'tools': expected an array of objects.")
	}
	seen := make(map[string]bool)
	for i, t := range tools {
		tool, _ := t.(map[string]any)
		name, _ := tool["name"].(string)
		switch {
		case tool["type"] == nil:
			return refuse("missing_required_parameter", "tools", "Missing required parameter: 'tools[%d].type'.", i)
		case tool["type"] == "function" && (!nameExpr.MatchString(name) || seen[name]):
			return refuse("invalid_value", "tools", "Invalid 'tools[%d].name': %q.", i, name)
		case tool["type"] == "function" && tool["strict"] == true && !closedSchema(tool["parameters"]):
			return refuse("invalid_function_parameters", "tools", "Invalid schema for function '%s'.", name)
		}
		seen[name] = true
	}
	return nil
}

func checkFormat(r *Request) *problem {
	text, _ := r.Body["text"].(map[string]any)
	format, ok := text["format"].(map[string]any)
	if !ok || format["type"] != "json_schema" {
		return nil
	}
	name, _ := format["name"].(string)
	switch {
	case !nameExpr.MatchString(name):
		return refuse("invalid_value", "text.format.name", "Invalid 'text.format.name': %q.", name)
	case format["schema"] == nil:
		return refuse("missing_required_parameter", "text.format.schema", "Missing required parameter: 'text.format.schema'.")
	case format["strict"] == true && !closedSchema(format["schema"]):
		return refuse("invalid_json_schema", "text.format.schema",
			"Invalid schema for response_format '%s': 'additionalProperties' is required to be supplied and to be false, and 'required' to have every key in properties.", name)
	}
	return nil
}

// closedSchema reports whether all objects of a schema have only required properties and no others.
func closedSchema(value any) bool {
	switch value := value.(type) {
	case []any:
		return !slices.ContainsFunc(value, func(v any) bool { return !closedSchema(v) })
	case map[string]any:
		properties, isObject := value["properties"].(map[string]any)
		required, _ := value["required"].([]any)
		if (isObject || value["type"] == "object") &&
			(value["additionalProperties"] != false || len(required) != len(properties)) {
			return false
		}
		for name, v := range value {
			if name != "enum" && name != "required" && !closedSchema(v) {
				return false
			}
		}
	}
	return true
}
