package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/store"
)

const (
	// manyTools is the size of a catalogue, and fewTools is how many tools an agent without one has.
	manyTools, fewTools = 1200, 10
	// mostOfCatalogue is how long a step with the catalogue may take beside one without.
	mostOfCatalogue = 1.3
)

// measureCatalogue measures a step of an agent whose model has to find its tools.
func measureCatalogue(b *bench) (_ *section, err error) {
	steps, many := size(b, 100, 4), size(b, manyTools, 20)
	s := &section{
		title: "Catalogue",
		how: fmt.Sprintf("Runs of %d steps as in \"Step\", of an agent with %d listed tools, and of one with a catalogue of %s: its model describes a tool in the "+
			"first step, and calls it in the others.", steps, fewTools, number(float64(many))),
	}
	db, err := sqlite.Open(b.newFile("catalogue"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	listed, searched := stepMeasure{b: b, db: db, steps: steps}, stepMeasure{b: b, db: db, steps: steps}
	if listed.e, err = newCatalogueEngine(db.Backend(), steps, benchTools(fewTools, false)); err != nil {
		return nil, err
	}
	defer listed.e.Close()
	if searched.e, err = newCatalogueEngine(db.Backend(), steps, benchTools(many, true)); err != nil {
		return nil, err
	}
	defer searched.e.Close()
	if err := b.interleave(1, listed.short, searched.short); err != nil {
		return nil, err
	}
	s.rows = []row{
		{fmt.Sprintf("step with %d listed tools", fewTools), "µs", listed.ofShort},
		{"step with a catalogue of " + number(float64(many)), "µs", searched.ofShort},
	}
	s.goals = []goal{
		ratioGoal(
			fmt.Sprintf("Step with a catalogue of %s tools beside one with %d listed ones", number(float64(many)), fewTools),
			searched.ofShort, listed.ofShort, mostOfCatalogue, false,
		),
	}
	return s, nil
}

// newCatalogueEngine returns an engine whose runs have a number of steps, with a call of one of its tools each.
func newCatalogueEngine(backend store.Backend, steps int, tools []spool.Tool) (*engine.Engine, error) {
	return engine.New(backend, engine.Config{
		SingleProcess: true,
		Agents:        []spool.Agent{{Name: "bench", Model: "stepper", MaxSteps: steps + 1, Tools: tools}},
		Models:        map[string]spool.Model{"stepper": finder(steps)},
		Log:           warnings(),
	})
}

// benchTools returns n tools, of which the last one is look.
func benchTools(n int, search bool) []spool.Tool {
	tools := make([]spool.Tool, n)
	for i := range tools {
		tools[i] = spool.Tool{
			ToolSpec: spool.ToolSpec{
				Name: fmt.Sprintf("api_lookAt%d", i),
				Description: fmt.Sprintf(
					"Looks at the things of number %d, with their state and their history, as an operation of an API does.", i,
				),
				Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string","description":"Where to look."},"fields":{"type":"array","items":{"enum":["state","history","owner"]}}}}`),
			},
			Polling: true, Search: search,
			Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				return json.RawMessage(`{"seen":"nothing of note, as on all other days"}`), nil
			},
		}
	}
	tools[n-1].Name = "look"
	return tools
}

// finder is a [stepper] that describes its tool if it does not have it.
type finder int

// Stream implements [spool.Model].
func (n finder) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	has := slices.ContainsFunc(r.Tools, func(t spool.ToolSpec) bool { return t.Name == "look" })
	return func(yield func(spool.ModelEvent, error) bool) {
		for event, err := range stepper(n).Stream(ctx, r) {
			switch e := event.(type) {
			case spool.ToolCallStart:
				if !has {
					e.Name = spool.DescribeTool
					event = e
				}
			case spool.ToolCallEnd:
				if !has {
					e.Name, e.Args = spool.DescribeTool, `{"names":["look"]}`
					event = e
				}
			case spool.Finish: // of a prompt with ten schemas
				tokens := int64(2000 + 40*len(r.Messages))
				e.Usage.Input = &tokens
				event = e
			}
			if !yield(event, err) {
				return
			}
		}
	}
}
