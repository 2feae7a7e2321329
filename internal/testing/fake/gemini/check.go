package gemini

import (
	"slices"
	"strings"
)

// check checks the contents of a request.
func (s *Server) check(r *Request) *Error {
	if len(r.Contents) == 0 {
		return invalid("* GenerateContentRequest.contents: contents is not specified")
	}
	turn := currentTurn(r.Contents)
	var open []Call // the calls that the next content must respond to
	for i, c := range r.Contents {
		if failed := checkRole(r.Contents, i); failed != nil {
			return failed
		}
		if len(c.Parts) == 0 {
			return invalid("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
		}
		for j, p := range c.Parts {
			if failed := checkPart(r.Model, c.Role, i, j, p); failed != nil {
				return failed
			}
		}
		if failed := checkResponses(open, c.responses()); failed != nil {
			return failed
		}
		open = c.calls()
		if c.Role != "model" {
			continue
		}
		if failed := s.checkSignatures(r.Model, c, i > turn && !Old(r.Model)); failed != nil {
			return failed
		}
	}
	return checkResponses(open, nil)
}

// currentTurn returns the index of the last user content with a text or a file.
func currentTurn(contents []Content) int {
	turn := 0
	for i, c := range contents {
		for _, p := range c.Parts {
			if c.Role == "user" && (p.Text != nil || p.File != nil) {
				turn = i
			}
		}
	}
	return turn
}

func checkRole(contents []Content, i int) *Error {
	role := contents[i].Role
	switch {
	case role != "user" && role != "model":
		return invalid("Please use a valid role: user, model.")
	case i == 0 && role == "model":
		return invalid("Please ensure that multiturn requests begin with a user turn.")
	case i > 0 && role == contents[i-1].Role:
		return invalid("Please ensure that multiturn requests alternate between user and model.")
	case i == len(contents)-1 && role == "model":
		return invalid("Please ensure that multiturn requests end with a user role or a function response.")
	}
	return nil
}

// checkPart checks that a part has one kind of data, and one that its role may have.
func checkPart(model, role string, i, j int, p Part) *Error {
	kinds := 0
	for _, has := range []bool{
		p.Text != nil, p.Call != nil, p.Response != nil, p.Inline != nil, p.File != nil,
		p.Code != nil, p.CodeResult != nil, p.ToolCall != nil, p.ToolResponse != nil,
	} {
		if has {
			kinds++
		}
	}
	at := func(format string, args ...any) *Error {
		e := invalid(format, args...)
		e.Message = strings.Replace(e.Message, "$", "contents", 1)
		return e
	}
	switch {
	case kinds == 0:
		return at(
			"* GenerateContentRequest.$[%d].parts[%d].data: required oneof field 'data' must have one initialized field", i, j,
		)
	case kinds > 1:
		return at("Invalid value at '$[%d].parts[%d]' (oneof), oneof field 'data' is already set.", i, j)
	case p.Call != nil && role != "model":
		return at("$[%d].parts[%d]: a function call needs the role model", i, j)
	case p.Response != nil && role != "user":
		return at("$[%d].parts[%d]: a function response needs the role user", i, j)
	case role == "user" && (p.Thought || p.Signature != ""):
		return at("$[%d].parts[%d]: a user has no thoughts", i, j)
	case p.Call != nil && (!nameExpr.MatchString(p.Call.Name) || p.Call.Args != nil && !isObject(p.Call.Args)):
		return at("$[%d].parts[%d].function_call: a name and an object as args are required", i, j)
	case p.Response != nil && (!nameExpr.MatchString(p.Response.Name) || p.Response.Response == nil):
		return at("$[%d].parts[%d].function_response: name and response are required", i, j)
	case p.Response != nil && len(p.Response.Parts) > 0 && Old(model):
		return at("$[%d].parts[%d].function_response: Multimodal function response is not supported for this model.", i, j)
	case p.Inline != nil && (p.Inline.MIMEType == "" || len(p.Inline.Data) == 0):
		return at("$[%d].parts[%d].inline_data: mimeType and data are required", i, j)
	case p.File != nil && !strings.HasPrefix(p.File.URI, "https://") && !strings.HasPrefix(p.File.URI, "gs://"):
		return at("$[%d].parts[%d].file_data: Invalid or unsupported file uri: %s", i, j, p.File.URI)
	}
	return nil
}

// checkResponses checks that responses match the calls of the content before them.
func checkResponses(calls []Call, responses []Response) *Error {
	if len(calls) == 0 && len(responses) > 0 {
		return invalid("Please ensure that function response turn comes immediately after a function call turn.")
	}
	if len(calls) != len(responses) {
		return invalid("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	}
	for i, c := range calls {
		if c.ID != "" && slices.ContainsFunc(calls[:i], func(before Call) bool { return before.ID == c.ID }) {
			return invalid("Please ensure that each function call of a turn has an id of its own: %q.", c.ID)
		}
		if responses[i].Name != c.Name || responses[i].ID != c.ID {
			return invalid("Please ensure that function response %d has the name and the id of function call %q %q.", i, c.Name,
				c.ID)
		}
	}
	return nil
}
