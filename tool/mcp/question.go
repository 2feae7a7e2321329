package mcp

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
)

// ParkElicitation is the reason of a park for a question of a server. A server of the newest revision asks in its
// result, which is here. An older one asks while its call is open: see open.go.
const ParkElicitation = "elicitation"

const (
	// maxState bounds the state of a server that is kept with a park, and maxQuestion a question.
	maxState    = 256 << 10
	maxQuestion = 64 << 10
	// maxRequests bounds the questions of one result.
	maxRequests = 16
)

const (
	modeForm = "form"
	modeURL  = "url"
)

// kept is what a call needs to go on after its question.
type kept struct {
	State string `json:"state,omitempty"`
	// Asked are the modes of the questions, by the keys of the server.
	Asked map[string]string `json:"asked"`
	// Schema is the schema of the answer's payload. Nil: it has none.
	Schema json.RawMessage `json:"schema,omitempty"`
	// SignIn is what the call goes on with once its subject has signed in. Nil: the question is the server's.
	SignIn *interrupted `json:"signIn,omitempty"`
}

// question is a question of a server as a person sees it.
type question struct {
	Mode    string `json:"mode"`
	Message string `json:"message"`
	// URL is where the person has to go before the answer, for the mode url.
	URL string `json:"url,omitempty"`
}

// ask returns the park for the questions of a result. A single question is shown as it is, and the payload of
// the answer is its form. Several questions are shown by their keys, and the payload is an object with a field
// for the form of each.
func (s *Server) ask(tool ListedTool, r *sdk.CallToolResult) error {
	if len(r.InputRequests) > maxRequests || len(r.RequestState) > maxState {
		return spool.Errorf(spool.Limit, "MCP server %s asks for too much at once", s.config.Name)
	}
	shown, schemas, keep := make(map[string]question), make(map[string]json.RawMessage),
		kept{State: r.RequestState, Asked: make(map[string]string)}
	for key, request := range r.InputRequests {
		q, schema, err := s.questionOf(request)
		if err != nil {
			return err
		}
		shown[key], keep.Asked[key] = q, q.Mode
		if schema != nil {
			schemas[key] = schema
		}
	}
	payload := struct {
		Server string `json:"server"`
		Tool   string `json:"tool"`
		*question

		Questions map[string]question `json:"questions,omitempty"`
	}{Server: s.config.Name, Tool: tool.Name}
	if len(shown) == 1 {
		for key, q := range shown {
			payload.question, keep.Schema = &q, schemas[key]
		}
	} else {
		payload.Questions, keep.Schema = shown, together(schemas)
	}
	resume, err := json.Marshal(keep)
	if err != nil {
		return spool.Wrap(spool.Internal, "encode the state of a call", err)
	}
	return &spool.ParkRequest{Reason: ParkElicitation, Payload: payload, Schema: keep.Schema, Resume: resume}
}

// questionOf returns a question and the schema of its form. The schema is nil for the mode url.
func (s *Server) questionOf(request sdk.InputRequest) (question, json.RawMessage, error) {
	asked, ok := request.(*sdk.ElicitParams)
	if !ok {
		return question{}, nil, spool.Errorf(spool.Invalid,
			"MCP server %s asks for something that this client does not offer", s.config.Name)
	}
	q := question{Mode: modeForm, Message: cut(s.clean(asked.Message), maxQuestion)}
	if asked.Mode == modeURL || asked.Mode == "" && asked.URL != "" {
		target, err := url.Parse(asked.URL)
		if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" ||
			len(asked.URL) > maxQuestion {
			return question{}, nil, spool.Errorf(spool.Invalid, "MCP server %s sends a person to a bad URL", s.config.Name)
		}
		q.Mode, q.URL = modeURL, asked.URL
		return q, nil, nil
	}
	schema, err := json.Marshal(asked.RequestedSchema)
	schema = s.cleanBytes(schema)
	if err != nil || asked.RequestedSchema == nil {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	if _, err := argschema.Foreign(schema); err != nil || len(schema) > maxQuestion {
		return question{}, nil, spool.Errorf(spool.Invalid, "MCP server %s asks with a schema that cannot be used",
			s.config.Name)
	}
	return q, schema, nil
}

// together returns the schema of an object with a required field for each schema, or nil for none.
func together(schemas map[string]json.RawMessage) json.RawMessage {
	if len(schemas) == 0 {
		return nil
	}
	whole, err := json.Marshal(map[string]any{
		"type": "object", "properties": schemas, "required": slices.Sorted(maps.Keys(schemas)),
	})
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return whole
}

// answerForServer returns the answer of a person as the server gets it, and the server's state: accept for an approval,
// decline for a denial, and cancel if nobody answered in time.
func answerForServer(call spool.ToolCall) (state string, answers sdk.InputResponseMap, err error) {
	var keep kept
	if err := json.Unmarshal(call.Resume, &keep); err != nil {
		return "", nil, spool.Wrap(spool.Internal, "read the state of a call", err)
	}
	answers = make(sdk.InputResponseMap, len(keep.Asked))
	action := "accept"
	switch {
	case call.Answer == nil:
		action = "cancel"
	case !call.Answer.Approved:
		action = "decline"
	}
	var forms map[string]json.RawMessage
	if action == "accept" && keep.Schema != nil {
		if err := checkPayload(keep.Schema, call.Answer.Payload); err != nil {
			return "", nil, err
		}
		if len(keep.Asked) > 1 {
			if err := json.Unmarshal(call.Answer.Payload, &forms); err != nil {
				return "", nil, spool.Errorf(spool.Invalid, "the payload of the answer is no object")
			}
		}
	}
	for key, mode := range keep.Asked {
		result := &sdk.ElicitResult{Action: action}
		if action == "accept" && mode == modeForm {
			form := call.Answer.Payload
			if len(keep.Asked) > 1 {
				form = forms[key]
			}
			if len(form) == 0 {
				form = json.RawMessage("{}")
			}
			if err := json.Unmarshal(form, &result.Content); err != nil {
				return "", nil, spool.Errorf(spool.Invalid, "the payload of the answer is no object")
			}
		}
		answers[key] = result
	}
	return keep.State, answers, nil
}

// answersOf returns the answers of a person to the questions of a task.
func answersOf(call spool.ToolCall) (map[string]json.RawMessage, error) {
	_, answers, err := answerForServer(call)
	if err != nil {
		return nil, err
	}
	encoded := make(map[string]json.RawMessage, len(answers))
	for key, answer := range answers {
		if encoded[key], err = json.Marshal(answer); err != nil {
			return nil, spool.Wrap(spool.Internal, "encode an answer", err)
		}
	}
	return encoded, nil
}

// checkPayload checks the payload of an answer. The engine has checked it too, unless its process had no list.
func checkPayload(schema, payload json.RawMessage) error {
	s, err := argschema.Foreign(schema)
	if err != nil {
		return spool.Wrap(spool.Internal, "read the schema of a question", err)
	}
	return s.Check(payload)
}
