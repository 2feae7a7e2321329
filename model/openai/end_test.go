package openai_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

// TestEndWithoutDone ends streams without [DONE]. With a finish reason all is there; without
// one the answer was cut.
func TestEndWithoutDone(t *testing.T) {
	t.Parallel()

	events, err := say(t, textChunk("Hello"), finishChunk("stop"))
	if err != nil || finishOf(t, events).Reason != spool.FinishStop {
		t.Errorf("with a reason: %v, %v", events, err)
	}
	for name, chunks := range map[string][]string{
		"no reason":      {textChunk("Hello")},
		"nothing":        {},
		"nothing at all": {"[DONE]"},
	} {
		events, err := say(t, chunks...)
		if got := modelError(t, err); got.Permanent() || len(only[spool.Finish](events)) != 0 {
			t.Errorf("%s: %+v, %v", name, *got, events)
		}
	}
}

// TestOtherChoices asks for two choices. The first one is the answer.
func TestOtherChoices(t *testing.T) {
	t.Parallel()

	other := func(delta, reason string) string {
		return `{"choices":[{"index":1,"delta":` + delta + `,"finish_reason":` + reason + `}]}`
	}
	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		send(w, textChunk("Hello"), other(`{"content":"Goodbye"}`, "null"),
			other(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}`, `"tool_calls"`),
			textChunk(" there"), finishChunk("stop"), "[DONE]")
	})
	events, err := stream(t, p.model(t, openai.Config{Extra: map[string]any{"n": 2}}), spool.ModelRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for _, d := range only[spool.TextDelta](events) {
		said.WriteString(d.Text)
	}
	if said.String() != "Hello there" || len(only[spool.ToolCallEnd](events)) != 0 ||
		finishOf(t, events).Reason != spool.FinishStop {
		t.Errorf("got %v", events)
	}
}

// TestWholeAnswerIsBounded answers without a stream, and without an end.
func TestWholeAnswerIsBounded(t *testing.T) {
	t.Parallel()

	const most = 8 << 20
	for name, length := range map[string]int{"as much as may be": most, "a byte more": most + 1} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "application/json")
			head, tail := `{"choices":[{"index":0,"message":{"content":"`, `"},"finish_reason":"stop"}]}`
			_, _ = io.WriteString(w, head+strings.Repeat("x", length-len(head)-len(tail))+tail)
		})
		_, err := stream(t, p.model(t, openai.Config{}), spool.ModelRequest{})
		switch {
		case length <= most && err != nil:
			t.Errorf("%s: %v", name, err)
		case length > most:
			if got := modelError(t, err); !strings.Contains(got.Message, "larger than") {
				t.Errorf("%s: %+v", name, *got)
			}
		}
	}
}
