package openai

import (
	"encoding/json"
	"reflect"
	"testing"
)

// plainChunks are chunks of servers, and what is nearly one. Those that are true are read
// without encoding/json.
var plainChunks = map[string]bool{
	`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" and so"},"finish_reason":null}]}`:       true,
	`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}`:           true,
	` { "choices" : [ { "delta" : { "role" : "assistant" , "content" : "" , "refusal" : null } , "logprobs" : null } ] } `:                                 true,
	`{"choices":[{"delta":{"content":"\"a\"\n\t\\ \u00e9 \ud83d\ude00 é 😀","tool_calls":[],"function_call":null}}]}`:                                       true,
	`{"choices":[{"delta":{"content":null,"reasoning_content":"so","reasoning":"so","reasoning_details":[]}}],"created":-1.5e3,"system_fingerprint":null}`: true,
	`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":"{\"a\":"}},{"index":12}]}}]}`:           true,
	`{"choices":[{"delta":{"content":null,"tool_calls":[{"id":null,"type":null,"function":{"name":null,"arguments":null}},{}]}}]}`:                         true,
	`{"choices":[{"delta":{"tool_calls":null}}]}`: true,
	`{}`:                 true,
	`{"choices":[]}`:     true,
	`{"mod\u0065l":"m"}`: true,

	`{"choices":[],"usage":{"prompt_tokens":1}}`:                                  false,
	`{"choices":[{"delta":{"tool_calls":[{"index":"0"}]}}]}`:                      false,
	`{"choices":[{"delta":{"tool_calls":[{"index":0.0}]}}]}`:                      false,
	`{"choices":[{"delta":{"tool_calls":[{"function":null}]}}]}`:                  false,
	`{"choices":[{"delta":{"tool_calls":{}}}]}`:                                   false,
	`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"a":1}}}]}}]}`: false,
	`{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}`:            false,
	`{"choices":[{"delta":{"content":"a"}},{"index":1}]}`:                         false,
	`{"choices":[{"index":1,"delta":{"content":"a"}}]}`:                           false,
	`{"choices":[{"delta":{"content":"a","content":null}}]}`:                      false,
	`{"choices":[{"delta":{"Content":"a"}}]}`:                                     false,
	`{"error":{"message":"no"}}`:                                                  false,
	`{"object":"error","message":"no"}`:                                           false,
	`{"choices":null}`:                                                            false,
	`{"model":null}`:                                                              false,
	"{\"model\":\"a\xffb\"}":                                                      false,
	"{\"model\":\"a\nb\"}":                                                        false,
	`{"model":"a\q"}`:                                                             false,
	`{"model":"m",}`:                                                              false,
	`{,"model":"m"}`:                                                              false,
	`{"created":01}`:                                                              false,
	`{"created":1.}`:                                                              false,
	`{"created":-}`:                                                               false,
	`{"created":}`:                                                                false,
	`{"model":"m"} x`:                                                             false,
	`{"model":"m"`:                                                                false,
	`{"choices":[{"delta":{"content":"a"}]}`:                                      false,
	`null`:                                                                        false,
	``:                                                                            false,
}

func TestPlain(t *testing.T) {
	t.Parallel()

	for text, want := range plainChunks {
		if got := checkPlain(t, text); got != want {
			t.Errorf("plain(%s) = %t, want %t", text, got, want)
		}
	}
}

// FuzzPlain looks for a chunk that is read in another way than encoding/json reads it.
func FuzzPlain(f *testing.F) {
	for text := range plainChunks {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkPlain(t, text) })
}

// checkPlain reports whether a chunk is plain. What is plain is read as by encoding/json.
func checkPlain(t *testing.T, text string) bool {
	t.Helper()
	var got, want chunk
	if !got.plain(text) {
		return false
	}
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatalf("%q is plain, and no JSON: %v", text, err)
	}
	if string(want.Error) == "null" {
		want.Error = nil
	}
	for i := range want.Choices {
		if d := want.Choices[i].Delta; d != nil && len(d.ToolCalls)+len(d.ReasoningDetails.v) == 0 {
			d.ToolCalls, d.ReasoningDetails.v = nil, nil
		}
	}
	if len(got.Choices)+len(want.Choices) == 0 {
		got.Choices, want.Choices = nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q is read as %+v, want %+v", text, got, want)
	}
	return true
}

func BenchmarkPlain(b *testing.B) {
	const text = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" and so it goes on and on, for a while,"},"finish_reason":null}]}`
	b.ReportAllocs()
	var c chunk
	for b.Loop() {
		c = chunk{Choices: c.Choices[:0]}
		if !c.plain(text) {
			b.Fatal("not plain")
		}
	}
}
