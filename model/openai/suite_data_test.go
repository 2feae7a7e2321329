package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
)

// wireRequest is a request as the strict scenarios read it.
type wireRequest struct {
	Model          string           `json:"model"`
	Messages       []map[string]any `json:"messages"`
	Tools          []wireTool       `json:"tools"`
	ToolChoice     any              `json:"tool_choice"`     //nolint:tagliatelle // the provider's word
	ResponseFormat map[string]any   `json:"response_format"` //nolint:tagliatelle // the provider's word
}

type wireTool struct {
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func read(body string) wireRequest {
	var r wireRequest
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		panic(http.ErrAbortHandler)
	}
	return r
}

// message returns the first message with a role, or nil.
func (r wireRequest) message(role string) map[string]any {
	for _, m := range r.Messages {
		if m["role"] == role {
			return m
		}
	}
	return nil
}

func refuse(w http.ResponseWriter, code, message string) {
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprintf(w, `{"error":{"message":%q,"code":%q}}`, message, code)
}

// endless writes a piece again and again until the caller goes away.
func (p *peer) endless(w http.ResponseWriter, r *http.Request, first, piece string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, first)
	for range (256 << 20) / len(piece) {
		if _, err := io.WriteString(w, piece); err != nil || r.Context().Err() != nil {
			close(p.gone)
			return
		}
	}
}

// playBrokenArguments refuses a history whose arguments are no object, as servers with chat templates do.
func (p *peer) playBrokenArguments(w http.ResponseWriter, body string) {
	r := read(body)
	if r.message("tool") == nil {
		send(w,
			deltaChunk(`{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"weather","arguments":"{\"city\":"}}]}`),
			deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\"Os"}}]}`), finishChunk("tool_calls"), "[DONE]")
		return
	}
	var message struct {
		Calls []struct {
			Function struct {
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"` //nolint:tagliatelle // the provider's word
	}
	raw, _ := json.Marshal(r.message("assistant")) //nolint:errchkjson // it was JSON
	var args map[string]any
	if json.Unmarshal(raw, &message) != nil || json.Unmarshal([]byte(message.Calls[0].Function.Arguments), &args) != nil {
		refuse(w, "invalid_request_error", "the arguments are no object")
		return
	}
	send(w, textChunk("Do"), textChunk("ne."), finishChunk("stop"), "[DONE]")
}

const (
	signedDetails = `[{"type":"reasoning.text","index":0,"text":"First thought.","signature":"sigR1/+A"},` +
		`{"type":"reasoning.encrypted","index":1,"data":"sealed/A"},` +
		`{"type":"reasoning.text","index":2,"text":"Second thought.","signature":"sigR2/+A"}]`
	signedExtra = `,"extra_content":{"google":{"thought_signature":"sigC1/+A"}}`
)

// signedMessage returns the answer as a request has to repeat it.
func signedMessage(details, extra string) map[string]any {
	var m map[string]any
	text := `{"role":"assistant","content":"Looking.","tool_calls":[
		{"id":"call_a","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}` + extra + `},
		{"id":"call_b","type":"function","function":{"name":"clock","arguments":"{\"zone\":\"UTC\"}"}}]` + details + `}`
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err)
	}
	return m
}

// playSigned signs as OpenRouter and Google do. It refuses what a model has not said.
func (p *peer) playSigned(w http.ResponseWriter, body string) {
	r := read(body)
	answer := r.message("assistant")
	if answer == nil {
		send(w,
			deltaChunk(`{"reasoning":"First ","reasoning_details":[{"type":"reasoning.text","index":0,"text":"First "}]}`),
			deltaChunk(`{"reasoning":"thought.","reasoning_details":[{"type":"reasoning.text","index":0,"text":"thought."}]}`),
			deltaChunk(`{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"sigR1/+A"}]}`),
			deltaChunk(`{"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"sealed/A"}]}`),
			textChunk("Look"), textChunk("ing."),
			deltaChunk(`{"reasoning_details":[{"type":"reasoning.text","index":2,"text":"Second "}]}`),
			deltaChunk(`{"reasoning_details":[{"type":"reasoning.text","index":2,"text":"thought.","signature":"sigR2/+A"}]}`),
			deltaChunk(
				`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"weather","arguments":"{\"city\":"}`+
					signedExtra+`}]}`,
			),
			deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\"Oslo\"}"}}]}`),
			deltaChunk(`{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"clock","arguments":"{\"zone\":\"UTC\"}"}}]}`),
			finishChunk("tool_calls"), "[DONE]")
		return
	}
	want := signedMessage(`,"reasoning_details":`+signedDetails, signedExtra)
	if r.Model == "other-model" {
		want = signedMessage("", "")
	}
	if !reflect.DeepEqual(answer, want) {
		refuse(w, "invalid_request_error", "the blocks of the answer were modified")
		return
	}
	send(w, textChunk("Do"), textChunk("ne."), finishChunk("stop"), "[DONE]")
}

// playOutput answers with the value as the request asks for it.
func (p *peer) playOutput(w http.ResponseWriter, body string) {
	r := read(body)
	last := -1
	var own string
	for i, tool := range r.Tools {
		if strings.Contains(string(tool.Function.Parameters), "degrees") {
			last, own = i, tool.Function.Name
		}
	}
	switch {
	case last < 0 && r.ResponseFormat["type"] != "json_schema", last >= 0 && r.ToolChoice == nil:
		refuse(w, "invalid_request_error", "nobody asks for a value")
	case len(r.Tools) > 1 && r.message("tool") == nil:
		send(w, textChunk("Look"), textChunk("ing."),
			deltaChunk(`{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}`),
			finishChunk("tool_calls"), "[DONE]")
	case last >= 0:
		send(w, textChunk("Here it is: "), deltaChunk(`{"tool_calls":[{"index":0,"id":"call_o","function":{"name":"`+own+
			`","arguments":"{\"city\":"}}]}`),
			deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\"Oslo\",\"degrees\":21}"}}]}`),
			finishChunk("tool_calls"), "[DONE]")
	default:
		send(w, textChunk(`{\"city\":`), textChunk(`\"Oslo\",\"degrees\":21}`), finishChunk("stop"), "[DONE]")
	}
}
