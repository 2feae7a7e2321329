package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/modelread"
	"github.com/spoolhq/spool/model/gemini"
)

// recorded are streams with every kind of part and of end.
var recorded = []string{
	`data: {"candidates": [{"content": {"parts": [{"text": "**Plan**\n\nI look.","thought": true}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 61,"totalTokenCount": 90,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 61}],"thoughtsTokenCount": 29},"modelVersion": "gemini-3-pro-preview","responseId": "x1"}` + "\r\n\r\n" +
		`data: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "weather","args": {"city": "Oslo","n": 9007199254740993},"id": "c1"},"thoughtSignature": "EqoBCqcB+/8="},{"functionCall": {"name": "clock","args": {}}}],"role": "model"},"finishReason": "STOP","index": 0}],"usageMetadata": {"promptTokenCount": 61,"candidatesTokenCount": 18,"totalTokenCount": 108,"thoughtsTokenCount": 29}}` + "\r\n\r\n",
	`data: {"candidates": [{"content": {"parts": [{"text": "It is "}],"role": "model"}}]}` + "\n\n" + ": keep\n\n" +
		`data: {"candidates": [{"content": {"parts": [{"text": "sunny \ud83c\udf1e."}],"role": "model"}}]}` + "\n\n" +
		`data: {"candidates": [{"content": {"parts": [{"executableCode": {"language": "PYTHON","code": "1"}},{"text": "","thoughtSignature": "AAAA"}],"role": "model"},"finishReason": "MAX_TOKENS"}]}` + "\n\n",
	`data: {"promptFeedback": {"blockReason": "SAFETY","safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT","probability": "HIGH"}]},"usageMetadata": {"promptTokenCount": 4}}` + "\n\n",
	`data: {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}` + "\n\n" +
		`data: {"error": {"code": 503,"message": "overloaded","status": "UNAVAILABLE","details": [{"retryDelay": "3s"}]}}` +
		"\n\n",
	`data: {"candidates": [{"content": {"parts": [{"text": "Look: "},{"inlineData": {"mimeType": "image/png","data": "iVBORw0KGgo="}}],"role": "model"},"groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://example.com/","title": "x"}}],"groundingSupports": [{"segment": {"endIndex": 4},"groundingChunkIndices": [0]}]}}]}` + "\n\n" +
		`data: {"candidates": [{"content": {"parts": [{"text": "Hi \ud83d"}]}}]}` + "\n\n" +
		`data: {"candidates": [{"content": {"parts": [{"text": "\ude00."}]},"finishReason": "MODEL_ARMOR"}]}` + "\n\n",
	`data: {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL","finishMessage": "Malformed function call: x("}]}` +
		"\n\n",
}

// secondReader returns what a stream says, if it follows the interface.
func secondReader(body string) (said modelread.Said, ok bool) {
	names := []string{
		"candidates", "index", "content", "parts", "text", "thought", "functionCall", "name", "args", "finishReason", "error",
		"partialArgs", "willContinue", "inlineData", "fileData",
	}
	events, ok := modelread.Events(body, names...)
	for _, event := range events {
		candidates, _ := event["candidates"].([]any)
		for _, each := range candidates {
			candidate, _ := each.(map[string]any)
			if index, has := candidate["index"]; has && index != 0.0 {
				ok = ok && index == 1.0
				continue
			}
			content, _ := candidate["content"].(map[string]any)
			parts, _ := content["parts"].([]any)
			for _, each := range parts {
				part, _ := each.(map[string]any)
				thought, isThought := part["thought"]
				_, isCall := part["functionCall"]
				ok = ok && (!isThought || thought == true) && part["inlineData"] == nil && part["fileData"] == nil
				switch {
				case isCall:
					call := modelread.Object(part, "functionCall", &ok)
					name := modelread.Text(call, "name", &ok)
					args, err := json.Marshal(modelread.Object(call, "args", &ok))
					ok = ok && err == nil && !strings.ContainsAny(name, ".:<\" =")
					said.Calls = append(said.Calls, modelread.Call(name, string(args)))
				case part["text"] != nil && thought != true:
					said.Text += modelread.Text(part, "text", &ok)
				}
			}
		}
	}
	return said, ok
}

// checkStream reads a stream, checks that its events keep the contract, and that nothing is lost. It reports whether
// the second reader has read the stream, too.
func checkStream(t *testing.T, body, kind string, output bool) bool {
	t.Helper()

	m, err := gemini.New(gemini.Config{
		Model: "gemini-2.5-x", BaseURL: "http://gemini.test", Transport: modelread.Body{Text: body, Type: kind},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := spool.ModelRequest{Messages: hello().Messages, Tools: []spool.ToolSpec{{Name: "weather"}}}
	if output {
		r.Output = &spool.OutputSchema{Name: "clock", Schema: json.RawMessage(`{"type":"object"}`)}
	}
	got := modelread.Answer(t, m, r)
	want, ok := secondReader(body)
	if !ok || !got.Finished || output {
		return false
	}
	for i, call := range got.Calls { // the second reader writes the arguments anew
		name, args, _ := strings.Cut(call, " ")
		var value any
		if json.Unmarshal([]byte(args), &value) != nil {
			t.Fatalf("call %s", call)
		}
		plain, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		got.Calls[i] = modelread.Call(name, string(plain))
	}
	want.Finished = true
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-want +got):\n%s", body, diff)
	}
	return true
}

// Each recorded stream that ends well is compared.
func TestSecondReader(t *testing.T) {
	t.Parallel()

	compared := 0
	for _, stream := range recorded {
		if checkStream(t, stream, "text/event-stream", false) {
			compared++
		}
	}
	if compared != 3 {
		t.Errorf("%d streams are compared", compared)
	}
}

// A stream that ends anywhere, or lacks a byte anywhere, is an answer or an error.
func TestTruncated(t *testing.T) {
	t.Parallel()

	for _, stream := range recorded {
		for at := range stream {
			if at%7 == 0 { // a prime, so that all places of the different streams are tried
				_ = checkStream(t, stream[:at], "text/event-stream", at%2 == 0)
				_ = checkStream(t, stream[:at]+stream[at+1:], "text/event-stream", at%2 == 0)
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	for i, stream := range recorded {
		f.Add(stream, i%2 == 0, i%3 == 0)
	}
	f.Add(`[{"candidates":[{"content":{"parts":[null,1,{"functionCall":{"name":"a","args":[1]}}]}}]}]`, true, true)
	f.Add(
		"data: {\"candidates\":[{\"index\":1e9,\"content\":{\"parts\":[{\"thought\":true,\"thoughtSignature\":\"\\u0000\"}]}}]}\n\n",
		false, false,
	)
	f.Fuzz(func(t *testing.T, body string, output, whole bool) {
		kind := "text/event-stream"
		if whole {
			kind = "application/json"
		}
		_ = checkStream(t, body, kind, output)
	})
}
