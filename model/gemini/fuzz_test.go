package gemini_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
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
	`data: {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}` + "\n\n" + `data: {"error": {"code": 503,"message": "overloaded","status": "UNAVAILABLE","details": [{"retryDelay": "3s"}]}}` + "\n\n",
	`data: {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL","finishMessage": "Malformed function call: x("}]}` + "\n\n",
}

// bodyTransport answers each request with a body.
type bodyTransport struct{ body, kind string }

func (b bodyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {b.kind}}, Body: io.NopCloser(strings.NewReader(b.body)), Request: r,
	}, nil
}

// checkStream reads a stream and checks that its events keep the contract.
func checkStream(t *testing.T, body, kind string, output bool) {
	t.Helper()

	m, err := gemini.New(gemini.Config{Model: "gemini-2.5-x", BaseURL: "http://gemini.test", Transport: bodyTransport{body, kind}})
	if err != nil {
		t.Fatal(err)
	}
	r := spool.ModelRequest{Messages: hello().Messages, Tools: []spool.ToolSpec{{Name: "weather"}}}
	if output {
		r.Output = &spool.OutputSchema{Name: "clock", Schema: json.RawMessage(`{"type":"object"}`)}
	}
	ends := 0
	open := make(map[spool.ToolCallID]bool)
	for event, err := range m.Stream(t.Context(), r) {
		if ends > 0 {
			t.Fatalf("%v, %v after the end", event, err)
		}
		if err != nil {
			if _, ok := errors.AsType[*spool.ModelError](err); !ok {
				t.Fatalf("error %T %v", err, err)
			}
			ends++
			continue
		}
		switch e := event.(type) {
		case spool.Finish:
			ends++
		case spool.ToolCallStart:
			if open[e.ID] || e.ID == "" || e.Name == "" {
				t.Fatalf("start %+v", e)
			}
			open[e.ID] = true
		case spool.ToolCallEnd:
			if !open[e.ID] || !json.Valid([]byte(e.Args)) {
				t.Fatalf("end %+v", e)
			}
			checkData(t, e.Provider)
		case spool.TextEnd:
			checkData(t, e.Provider)
		case spool.ReasoningEnd:
			checkData(t, e.Provider)
		case spool.ProviderPart:
			if checkData(t, e.Provider); e.Provider == nil {
				t.Fatal("a part without data")
			}
		}
	}
	if ends != 1 {
		t.Fatal("no end")
	}
}

func checkData(t *testing.T, data json.RawMessage) {
	t.Helper()

	var object map[string]json.RawMessage
	if data != nil && (json.Unmarshal(data, &object) != nil || len(object) != 1) {
		t.Fatalf("data %s", data)
	}
}

// A stream that ends anywhere, or lacks a byte anywhere, is an answer or an error.
func TestTruncated(t *testing.T) {
	t.Parallel()

	for _, stream := range recorded {
		for at := range stream {
			if at%7 == 0 { // a prime, so that all places of the different streams are tried
				checkStream(t, stream[:at], "text/event-stream", at%2 == 0)
				checkStream(t, stream[:at]+stream[at+1:], "text/event-stream", at%2 == 0)
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	for i, stream := range recorded {
		f.Add(stream, i%2 == 0, i%3 == 0)
	}
	f.Add(`[{"candidates":[{"content":{"parts":[null,1,{"functionCall":{"name":"a","args":[1]}}]}}]}]`, true, true)
	f.Add("data: {\"candidates\":[{\"index\":1e9,\"content\":{\"parts\":[{\"thought\":true,\"thoughtSignature\":\"\\u0000\"}]}}]}\n\n", false, false)
	f.Fuzz(func(t *testing.T, body string, output, whole bool) {
		kind := "text/event-stream"
		if whole {
			kind = "application/json"
		}
		checkStream(t, body, kind, output)
	})
}
