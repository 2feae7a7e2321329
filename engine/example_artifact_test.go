package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact/dir"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/tool"
	"github.com/spoolhq/spool/wire"
)

// A tool makes a file. Its result names the artifact, and the program reads the file.
func ExampleToolCall_SaveArtifact() {
	place, err := os.MkdirTemp("", "artifacts")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(place)

	type in struct {
		Month string `json:"month"`
	}
	type out struct {
		Artifact spool.Artifact `json:"artifact"`
	}
	report := tool.New("report", "Makes the report of a month.", func(ctx context.Context, in in) (out, error) {
		call, _ := tool.CallFrom(ctx)
		table := strings.NewReader("day,visits\n1,204\n2,197\n")
		saved, err := call.SaveArtifact(ctx, in.Month+".csv", "text/csv", table)
		return out{saved}, err
	})
	store, err := dir.Open(place, nil)
	if err != nil {
		panic(err)
	}
	e := openExample(func(c *engine.Config) {
		c.Agents[0].Tools = []spool.Tool{report}
		c.Artifacts = store
	})
	defer working(e)()

	ctx := context.Background()
	if _, err := e.Run(ctx, hello, wire.StartRequest{RunID: "r1", Prompt: `use report with {"month":"may"}`}); err != nil {
		panic(err)
	}
	if _, err := e.Await(ctx, hello, "r1"); err != nil {
		panic(err)
	}
	artifacts, err := e.Artifacts(ctx, hello)
	if err != nil {
		panic(err)
	}
	a, data, err := e.OpenArtifact(ctx, hello, artifacts[0].ID)
	if err != nil {
		panic(err)
	}
	defer data.Close()
	text, err := io.ReadAll(data)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s, %s, %d bytes\n%s", a.Name, a.MediaType, a.Size, text)
	// Output:
	// may.csv, text/csv, 23 bytes
	// day,visits
	// 1,204
	// 2,197
}

// A tool reads a file of the thread. Without a configured store, the engine keeps it.
func ExampleToolCall_OpenArtifact() {
	type in struct {
		Table spool.ArtifactID `json:"table" jsonschema:"the id of a CSV file, which begins with art_"`
	}
	count := tool.New("count", "Counts the lines of a CSV file.", func(ctx context.Context, in in) (int, error) {
		call, _ := tool.CallFrom(ctx)
		_, data, err := call.OpenArtifact(ctx, string(in.Table))
		if err != nil {
			return 0, err
		}
		defer data.Close()
		text, err := io.ReadAll(data)
		return bytes.Count(text, []byte("\n")), err
	})
	e := openExample(func(c *engine.Config) { c.Agents[0].Tools = []spool.Tool{count} })
	defer working(e)()

	ctx := context.Background()
	ask := func(run spool.RunID, prompt string) {
		if _, err := e.Run(ctx, hello, wire.StartRequest{RunID: run, Prompt: prompt}); err != nil {
			panic(err)
		}
		if _, err := e.Await(ctx, hello, run); err != nil {
			panic(err)
		}
	}
	ask("r1", "hello")
	saved, err := e.SaveArtifact(ctx, hello,
		spool.NewArtifact{Name: "may.csv", MediaType: "text/csv", Data: strings.NewReader("1,204\n2,197\n")})
	if err != nil {
		panic(err)
	}
	ask("r2", fmt.Sprintf(`use count with {"table":%q}`, saved.ID))
	snapshot, err := e.Snapshot(ctx, hello, nil)
	if err != nil {
		panic(err)
	}
	for _, m := range snapshot.Messages {
		for _, p := range m.ToolResults() {
			fmt.Printf("%s: %s\n", p.ToolName, p.Result)
		}
	}
	// Output:
	// count: 2
}
