package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	// deltas is how many pieces an answer has, and piece is one of them.
	deltas = 50
	piece  = " and so it goes on and on, for a while,"
)

// newModel serves chat completions: a tool call for a prompt without a result, and fifty deltas for a
// prompt with a result. It costs both servers the same.
func newModel(options) (served, error) {
	call := chunk(
		`{"role":"assistant","tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":"look","arguments":"{\"at\":\"the sea\"}"}}]}`,
		"tool_calls",
	)
	said := chunk(`{"content":"`+piece+`"}`, "")
	end := chunk(`{}`, "stop") +
		`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":120,"completion_tokens":60,"total_tokens":180}}` + "\n\ndata: [DONE]\n\n"
	h := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		turn := body[bytes.LastIndex(body, []byte(`"user"`))+1:]
		if !bytes.Contains(turn, []byte(`"tool"`)) {
			_, _ = fmt.Fprintf(w, call, bytes.Count(body, []byte(`"user"`)))
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
			return
		}
		flusher, _ := w.(http.Flusher)
		for range deltas {
			_, _ = io.WriteString(w, said)
			flusher.Flush()
		}
		_, _ = io.WriteString(w, end)
	}
	return served{handler: http.HandlerFunc(h), close: func() error { return nil }}, nil
}

func chunk(delta, finish string) string {
	reason := "null"
	if finish != "" {
		reason = `"` + finish + `"`
	}
	return strings.Join([]string{
		`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":`, delta,
		`,"finish_reason":`, reason, "}]}\n\n",
	}, "")
}
