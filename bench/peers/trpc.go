package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"trpc.group/trpc-go/trpc-agent-go/agent/llmagent"
	"trpc.group/trpc-go/trpc-agent-go/event"
	"trpc.group/trpc-go/trpc-agent-go/model"
	"trpc.group/trpc-go/trpc-agent-go/model/openai"
	"trpc.group/trpc-go/trpc-agent-go/runner"
	"trpc.group/trpc-go/trpc-agent-go/tool"
	"trpc.group/trpc-go/trpc-agent-go/tool/function"
)

type looking struct {
	At string `json:"at"`
}

// newTRPC returns a runner of tRPC-agent-go with its sessions in memory. Its own AG-UI server is in a
// module that is not available everywhere. So the events are written here, each as one struct and one
// flush.
func newTRPC(o options) (served, error) {
	look := function.NewFunctionTool(func(context.Context, looking) (string, error) { return seen, nil },
		function.WithName("look"), function.WithDescription("Looks."))
	agent := llmagent.New("bench",
		llmagent.WithModel(openai.New("m", openai.WithBaseURL(o.Model), openai.WithAPIKey("none"))),
		llmagent.WithGenerationConfig(model.GenerationConfig{Stream: true}),
		llmagent.WithTools([]tool.Tool{look}))
	r := runner.NewRunner("bench", agent)
	h := func(w http.ResponseWriter, req *http.Request) {
		var in input
		if err := json.NewDecoder(req.Body).Decode(&in); err != nil || len(in.Messages) == 0 {
			http.Error(w, "bad input", http.StatusBadRequest)
			return
		}
		events, err := r.Run(req.Context(), "user", in.ThreadID,
			model.NewUserMessage(in.Messages[len(in.Messages)-1].Content))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		out := &teller{w: w}
		out.say(told{Type: "RUN_STARTED", ThreadID: in.ThreadID, RunID: in.RunID})
		for e := range events {
			out.event(e)
		}
		out.endText()
		out.say(told{Type: "RUN_FINISHED", ThreadID: in.ThreadID, RunID: in.RunID})
	}
	return served{handler: http.HandlerFunc(h), close: r.Close}, nil
}

// told is an event of AG-UI.
type told struct {
	Type       string `json:"type"`
	ThreadID   string `json:"threadId,omitempty"`
	RunID      string `json:"runId,omitempty"`
	MessageID  string `json:"messageId,omitempty"`
	Role       string `json:"role,omitempty"`
	Delta      string `json:"delta,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
	ToolName   string `json:"toolCallName,omitempty"`
	Content    string `json:"content,omitempty"`
}

// teller writes what a runner does as AG-UI events.
type teller struct {
	w    http.ResponseWriter
	text string // the open message, empty for none
}

func (t *teller) say(e told) {
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	_, _ = io.WriteString(t.w, "data: "+string(line)+"\n\n")
	if f, ok := t.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (t *teller) endText() {
	if t.text != "" {
		t.say(told{Type: "TEXT_MESSAGE_END", MessageID: t.text})
		t.text = ""
	}
}

func (t *teller) event(e *event.Event) {
	if e == nil || e.Response == nil {
		return
	}
	for _, c := range e.Choices {
		switch {
		case e.IsPartial && c.Delta.Content != "":
			if t.text == "" {
				t.text = e.ID
				t.say(told{Type: "TEXT_MESSAGE_START", MessageID: t.text, Role: "assistant"})
			}
			t.say(told{Type: "TEXT_MESSAGE_CONTENT", MessageID: t.text, Delta: c.Delta.Content})
		case !e.IsPartial && len(c.Message.ToolCalls) > 0:
			t.endText()
			for _, call := range c.Message.ToolCalls {
				t.say(told{Type: "TOOL_CALL_START", ToolCallID: call.ID, ToolName: call.Function.Name})
				t.say(told{Type: "TOOL_CALL_ARGS", ToolCallID: call.ID, Delta: string(call.Function.Arguments)})
				t.say(told{Type: "TOOL_CALL_END", ToolCallID: call.ID})
			}
		case e.Object == model.ObjectTypeToolResponse && c.Message.ToolID != "":
			t.say(told{Type: "TOOL_CALL_RESULT", ToolCallID: c.Message.ToolID, MessageID: e.ID, Content: c.Message.Content})
		}
	}
}
