package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/anthropic"
	"github.com/spoolhq/spool/model/gemini"
	"github.com/spoolhq/spool/model/openai"
	"github.com/spoolhq/spool/model/responses"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// adapter is a model adapter, and the bare loop that it is compared with.
type adapter struct {
	name string
	open func(url string) (spool.Model, error)
	bare func(ctx context.Context, url string, steps int) error
}

var adapters = []adapter{
	{"openai, beside openai-go", func(url string) (spool.Model, error) {
		return openai.New(openai.Config{BaseURL: url + "/v1", APIKey: "key", Model: "bench"})
	}, bareChat},
	{"responses, beside openai-go", func(url string) (spool.Model, error) {
		return responses.New(responses.Config{BaseURL: url + "/v1", APIKey: "key", Model: "bench"})
	}, bareResponses},
	{"anthropic", func(url string) (spool.Model, error) {
		return anthropic.New(anthropic.Config{BaseURL: url, APIKey: "key", Model: "bench"})
	}, bareAnthropic},
	{"gemini", func(url string) (spool.Model, error) {
		return gemini.New(gemini.Config{BaseURL: url, APIKey: "key", Model: "bench"})
	}, bareGemini},
}

// newEngine returns an engine whose runs end after a number of steps.
func newEngine(backend store.Backend, a adapter, url string, steps int) (*engine.Engine, error) {
	model, err := a.open(url)
	if err != nil {
		return nil, err
	}
	return engine.New(backend, engine.Config{
		SingleProcess: true,
		Agents: []spool.Agent{{Name: "bench", Model: "bench", MaxSteps: steps, NoFinalAnswer: true, Tools: []spool.Tool{{
			ToolSpec: spool.ToolSpec{
				Name: "look", Description: "Looks.",
				Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`),
			},
			Polling: true, // each call of a run is the same
			Call:    func(context.Context, spool.ToolCall) (json.RawMessage, error) { return json.RawMessage(seen), nil },
		}}}},
		Models: map[string]spool.Model{"bench": model},
		Log:    slog.New(slog.DiscardHandler),
	})
}

// streamSteps asks the model without an engine, in a loop that keeps the history like the bare one.
func streamSteps(ctx context.Context, m spool.Model, steps int) error {
	r := spool.ModelRequest{
		Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent(prompt)}},
		Tools: []spool.ToolSpec{
			{
				Name: "look", Description: "Looks.",
				Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`),
			},
		},
	}
	for range steps {
		var text strings.Builder
		var call spool.ToolCallEnd
		for event, err := range m.Stream(ctx, r) {
			if err != nil {
				return err
			}
			switch event := event.(type) {
			case spool.TextDelta:
				text.WriteString(event.Text)
			case spool.ToolCallEnd:
				call = event
			}
		}
		if !whole(&text) || call.ID == "" {
			return errNoCall
		}
		r.Messages = append(r.Messages, spool.Message{Role: spool.RoleAssistant, Content: spool.Content{
			{Type: spool.PartText, Text: text.String()},
			{
				Type: spool.PartToolCall, ToolCallID: call.ID, ToolName: call.Name, Args: json.RawMessage(call.Args),
				Provider: call.Provider,
			},
		}}, spool.Message{Role: spool.RoleTool, Content: spool.Content{
			{Type: spool.PartToolResult, ToolCallID: call.ID, ToolName: call.Name, Result: json.RawMessage(seen)},
		}})
	}
	return nil
}

// runSteps executes a run in a new thread.
func runSteps(ctx context.Context, e *engine.Engine, db store.Store, steps int) error {
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr"))}
	started, err := e.Run(ctx, key, wire.StartRequest{Prompt: prompt})
	switch {
	case err != nil:
		return err
	case !started.Accepted:
		return errors.New("the run was refused: " + started.Error)
	}
	job := wire.Job{
		Tenant: key.Tenant, ThreadID: key.ID, RunID: started.RunID, Agent: "bench", Model: "bench", Kind: wire.JobStart,
	}
	if _, err := e.HandleJob(ctx, job); err != nil {
		return err
	}
	return db.View(ctx, key, func(v store.View) error {
		r, err := store.FindRun(v, started.RunID)
		if err == nil && (r.State != wire.Completed || r.Steps != steps) {
			err = fmt.Errorf("the run is %s after %d steps: %s", r.State, r.Steps, r.Error)
		}
		return err
	})
}
