// Command cloud asks Claude on Amazon Bedrock one question in a durable run. It takes the region and the
// credentials from the environment and the files of AWS, and the model's id from BEDROCK_MODEL.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/anthropic"
	"github.com/spoolhq/spool/model/anthropic/cloud"
	"github.com/spoolhq/spool/wire"
)

func main() {
	ctx := context.Background()
	access := must(config.LoadDefaultConfig(ctx))
	claude := must(cloud.NewBedrock(anthropic.Config{Model: os.Getenv("BEDROCK_MODEL"), BaseURL: os.Getenv("BEDROCK_URL")},
		access))
	fmt.Fprintln(os.Stdout, must(ask(ctx, claude, "Why is the sky blue?")))
}

// ask starts a run, works until it has ended, and returns its answer.
func ask(ctx context.Context, model spool.Model, prompt string) (string, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	e, err := engine.New(memory.New(nil), engine.Config{ //nolint:contextcheck // making the engine waits for nothing
		Models: map[string]spool.Model{"claude": model},
		Agents: []spool.Agent{{Name: "assistant", Model: "claude", Instructions: "Be brief."}},
	})
	if err != nil {
		return "", err
	}
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	thread := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t1"}
	if _, err := e.Run(ctx, thread, wire.StartRequest{RunID: "r1", Prompt: prompt}); err != nil {
		return "", err
	}
	outcome, err := e.Await(ctx, thread, "r1")
	if err != nil {
		return "", err
	}
	stop()
	return string(outcome.State) + ": " + outcome.Text, <-worked
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "cloud:", err)
		os.Exit(1)
	}
	return value
}
