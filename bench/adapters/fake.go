package main

import (
	"fmt"
	"net/http"
	"strings"
)

// pieces is how many pieces of text an answer has.
const pieces = 500

// word is a piece.
const word = "word "

// answers are the bodies of the answers by the ends of their paths. Each has the pieces and one call of a tool.
var answers = map[string]string{
	"/chat/completions":      chatAnswer(),
	"/responses":             responsesAnswer(),
	"/messages":              messagesAnswer(),
	":streamGenerateContent": geminiAnswer(),
}

// serveFake answers each request of a provider's API in the same way, in pieces as a provider does.
func serveFake(w http.ResponseWriter, r *http.Request) {
	for end, answer := range answers {
		if !strings.HasSuffix(r.URL.Path, end) {
			continue
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flusher, _ := w.(http.Flusher)
		for event := range strings.SplitAfterSeq(answer, "\n\n") {
			if _, err := w.Write([]byte(event)); err != nil {
				return
			}
			flusher.Flush()
		}
		return
	}
	http.NotFound(w, r)
}

// events writes server-sent events.
type events struct{ strings.Builder }

func (e *events) addf(name, format string, args ...any) {
	if name != "" {
		e.WriteString("event: " + name + "\n")
	}
	fmt.Fprintf(e, "data: "+format+"\n\n", args...)
}

func chatAnswer() string {
	var e events
	chunk := func(choices, usage string) {
		e.addf("", `{"id":"chat_1","object":"chat.completion.chunk","created":1,"model":"bench","choices":[%s]%s}`, choices,
			usage)
	}
	for range pieces {
		chunk(`{"index":0,"delta":{"role":"assistant","content":"`+word+`"},"finish_reason":null}`, "")
	}
	chunk(
		`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"at\":\"the sea\"}"}}]},"finish_reason":null}`,
		"",
	)
	chunk(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`, "")
	chunk("", `,"usage":{"prompt_tokens":100,"completion_tokens":500,"total_tokens":600}`)
	e.WriteString("data: [DONE]\n\n")
	return e.String()
}

func responsesAnswer() string {
	var e events
	n := 0
	add := func(kind, rest string) {
		e.addf(kind, `{"type":"%s","sequence_number":%d,%s}`, kind, n, rest)
		n++
	}
	response := func(status, output string) string {
		return `"response":{"id":"resp_1","object":"response","created_at":1,"model":"bench","status":"` + status +
			`","output":[` + output + `],` +
			`"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":0},"output_tokens":500,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":600}}`
	}
	message := `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":"` + strings.Repeat(word, pieces) + `"}]}`
	call := `{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"look","arguments":"{\"at\":\"the sea\"}"}`
	add("response.created", response("in_progress", ""))
	add("response.output_item.added",
		`"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}`)
	for range pieces {
		add("response.output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"delta":"`+word+`"`)
	}
	add("response.output_item.done", `"output_index":0,"item":`+message)
	add("response.output_item.added",
		`"output_index":1,"item":{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"call_1","name":"look","arguments":""}`)
	add("response.function_call_arguments.delta", `"item_id":"fc_1","output_index":1,"delta":"{\"at\":\"the sea\"}"`)
	add("response.output_item.done", `"output_index":1,"item":`+call)
	add("response.completed", response("completed", message+","+call))
	return e.String()
}

func messagesAnswer() string {
	var e events
	e.addf("message_start",
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":1}}}`)
	e.addf("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	for range pieces {
		e.addf("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}`,
			word)
	}
	e.addf("content_block_stop", `{"type":"content_block_stop","index":0}`)
	e.addf("content_block_start",
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","input":{}}}`)
	e.addf("content_block_delta",
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"at\":\"the sea\"}"}}`)
	e.addf("content_block_stop", `{"type":"content_block_stop","index":1}`)
	e.addf("message_delta",
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":500}}`)
	e.addf("message_stop", `{"type":"message_stop"}`)
	return e.String()
}

func geminiAnswer() string {
	var e events
	part := func(part, end string) {
		e.addf("",
			`{"candidates":[{"content":{"role":"model","parts":[%s]},"index":0%s}],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":500,"totalTokenCount":600},"modelVersion":"bench","responseId":"r"}`, part, end)
	}
	for range pieces {
		part(`{"text":"`+word+`"}`, "")
	}
	part(`{"functionCall":{"name":"look","args":{"at":"the sea"}}}`, `,"finishReason":"STOP"`)
	return e.String()
}
