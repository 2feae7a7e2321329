package agui_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// script answers as the last turn of the user wants.
func script(_ context.Context, r spool.ModelRequest) spooltest.Turn {
	prompt := ""
	for _, m := range r.Messages {
		if m.Role == spool.RoleUser {
			prompt = m.Text()
		}
	}
	switch {
	case prompt == "fail":
		return spooltest.Turn{Text: []string{"I can"}, Err: &spool.ModelError{Status: 400, Message: "no such model"}}
	case strings.HasPrefix(prompt, "use send") && spooltest.StepOf(r) == 0:
		return spooltest.Use(spooltest.Call{ID: spool.ToolCallID("call-" + prompt[len(prompt)-1:]), Name: "send"})
	case strings.HasPrefix(prompt, "use send"):
		return spooltest.Say("It was ", r.Messages[len(r.Messages)-1].Content[0].ToolName, ".")
	case prompt == "cite":
		return spooltest.Turn{
			Text:    []string{"As they say."},
			Sources: []spool.Source{{URL: "https://example.com/a", Title: "A", Spans: []spool.Span{{Start: 0, End: 2}}}},
		}
	case prompt == "draw":
		return spooltest.Turn{
			Text:  []string{"Look:"},
			Files: []spool.FileMade{{Name: "a.csv", MediaType: "text/csv", Data: []byte("a,b\n")}},
		}
	default:
		return spooltest.Turn{Reasoning: []string{"hm"}, Text: []string{"You said: ", prompt}}
	}
}

// The stock HttpAgent runs, is asked, answers, fails, and sees a thread that it has not.
func TestHttpAgent(t *testing.T) {
	t.Parallel()

	b := setup(t, spooltest.NewModelFunc(script))
	b.work(t)
	const state = `"state":{"mine":1,"spool":`
	done := func(run string) string {
		return `{"state":"COMPLETED","runId":"` + run + `","stopReason":"completed"}`
	}
	const (
		first  = "user reasoning assistant"
		asked  = first + " user assistant"
		second = first + " user assistant tool assistant"
		third  = second + " user assistant"
		ok     = `"result":{"finishReason":"completed"}`
		send   = `"waits":[["approval","send"]]`
	)
	want := []string{
		`{"name":"text",` + ok + `,"last":["assistant","You said: hello"],"roles":"` + first + `","waits":[],` + state +
			done("t1") + `}}`,
		`{"name":"parks","last":["assistant",null],"roles":"` + asked + `",` + send + `,` + state +
			`{"state":"WAITING_FOR_INPUT","runId":"t2"}}}`,
		`{"name":"unanswered","last":["assistant",null],"roles":"` + asked + `",` + send +
			`,"state":{"spool":{"state":"WAITING_FOR_INPUT","runId":"t2"}}}`,
		`{"name":"approved",` + ok + `,"last":["assistant","It was send."],"roles":"` + second + `","waits":[],` + state +
			done("t2") + `}}`,
		`{"name":"hydrated",` + ok + `,"last":["assistant","It was send."],"roles":"` + second +
			`","waits":[],"state":{"spool":` + done("t2") + `}}`,
		`{"name":"stale","failed":{"message":"HTTP 409","status":409},"last":["assistant","It was send."],"roles":"` +
			second + `","waits":[],` + state + done("t2") + `}}`,
		`{"name":"parks again","last":["assistant",null],"roles":"` + third + `",` + send + `,` + state +
			`{"state":"WAITING_FOR_INPUT","runId":"t7"}}}`,
		`{"name":"denied",` + ok + `,"last":["assistant","It was send."],"roles":"` + third + ` tool assistant","waits":[],` +
			state + done("t7") + `}}`,
		`{"name":"again",` + ok + `,"last":["assistant","You said: hello"],"roles":"` + first + `","waits":[],` + state +
			done("t9") + `}}`,
		`{"name":"repeated",` + ok + `,"last":["assistant","You said: hello"],"roles":"` + first + `","waits":[],` + state +
			done("t9") + `}}`,
		`{"name":"fails","errors":["model: no such model (status 400)"],"last":["user","fail"],"roles":"user","waits":[],"state":{"spool":{"state":"FAILED","runId":"f1","stopReason":"failed","error":"model: no such model (status 400)"}}}`,
		`{"name":"cites",` + ok +
			`,"last":["assistant","As they say."],"roles":"user assistant","waits":[],"state":{"spool":` + done("c1") + `},` +
			`"sources":[{"url":"https://example.com/a","title":"A","spans":[{"start":0,"end":2}]}],"ofLast":true}`,
		`{"name":"cited",` + ok +
			`,"last":["assistant","As they say."],"roles":"user assistant","waits":[],"state":{"spool":` + done("c1") + `},` +
			`"metadata":{"spool":{"sources":[{"url":"https://example.com/a","title":"A","spans":[{"start":0,"end":2}]}]}}}`,
		`{"name":"draws",` + ok + `,"last":["assistant","Look:"],"roles":"user assistant","waits":[],"state":{"spool":` +
			done("d1") + `},"files":[[true,"text/csv",true]]}`,
		`{"name":"drawn",` + ok + `,"last":["assistant","Look:"],"roles":"user assistant","waits":[],"state":{"spool":` +
			done("d1") + `},` +
			`"metadata":{"spool":{"files":[{"file":"artifact:art_...","mimeType":"text/csv","fileName":"a.csv","url":"/api/agent/artifacts/art_...?threadId=drawing"}]}}}`,
		`{"name":"nobody","failed":{"message":"HTTP 404","status":404},"roles":"","waits":[],"state":{}}`,
	}
	got := strings.Split(strings.TrimSpace(node(t, nil, "talk.mjs", b.url+"/api/agent/ag-ui")), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
		}
		if diff := cmp.Diff(decoded(t, want[i]), decoded(t, got[i])); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

func decoded(t *testing.T, line string) (v any) {
	t.Helper()

	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return v
}
