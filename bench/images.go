package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"runtime"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
)

// imageSide is the width and the height of the image that the tool returns, which then has 1 MB.
const imageSide = 1000

// measureImages measures what a step costs whose tool returns an image, which the engine keeps in its own store and
// shows to the model, beside a step with a small result.
func measureImages(b *bench) (_ *section, err error) {
	runs := size(b, 20, 2)
	s := &section{
		title: "Images",
		how: fmt.Sprintf("%d runs of one step with a tool call and an answer, carried out by `Engine.HandleJob` in this process on a SQLite file with an fsync per "+
			"commit, without a configured store of artifacts. The tool returns another image of 1 MB each time, which is saved, and is in the request of the answer. "+
			"Beside it, the same with a tool that returns a small result. CPU is that of the whole process, and memory is what it allocates.", runs),
	}
	db, err := sqlite.Open(b.newFile("images"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	m := imageMeasure{b: b, db: db, runs: runs}
	if err := b.interleave(1, m.image, func() error { return m.arm(looks, &m.ofSmall) }); err != nil {
		return nil, err
	}
	s.rows = []row{
		{"step with an image of 1 MB", "ms of CPU", m.ofImage.cpu},
		{"step with a small result", "ms of CPU", m.ofSmall.cpu},
		{"allocated by a step with an image of 1 MB", "MB", m.ofImage.memory},
		{"allocated by a step with a small result", "MB", m.ofSmall.memory},
	}
	return s, nil
}

// imageMeasure collects numbers of each arm.
type imageMeasure struct {
	b    *bench
	db   *sqlite.DB
	runs int

	ofImage, ofSmall imageArm
}

type imageArm struct{ cpu, memory sample }

// looks returns a small result.
func looks(context.Context, spool.ToolCall) (json.RawMessage, error) {
	return json.RawMessage(`{"seen":"nothing of note, as on all other days"}`), nil
}

// drawings returns images of about 1 MB, of noise, which no format makes smaller.
func drawings(n int) ([][]byte, error) {
	all := make([][]byte, n)
	for i := range all {
		noise := image.NewGray(image.Rect(0, 0, imageSide, imageSide))
		_, _ = rand.Read(noise.Pix) // it never fails
		var b bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, noise); err != nil {
			return nil, err
		}
		all[i] = b.Bytes()
	}
	return all, nil
}

// draws returns a tool that saves the next image.
func draws(all [][]byte) toolFunc {
	next := 0
	return func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		next++
		saved, err := call.SaveArtifact(ctx, "a.png", "image/png", bytes.NewReader(all[next-1]))
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"artifact": saved})
	}
}

type toolFunc = func(context.Context, spool.ToolCall) (json.RawMessage, error)

// image measures runs whose tool returns an image.
func (m *imageMeasure) image() error {
	all, err := drawings(m.runs)
	if err != nil {
		return err
	}
	return m.arm(draws(all), &m.ofImage)
}

// arm measures runs with a tool.
func (m *imageMeasure) arm(tool toolFunc, into *imageArm) error {
	e, err := engine.New(m.db.Backend(), engine.Config{
		SingleProcess: true,
		Agents: []spool.Agent{
			{Name: "bench", Model: "stepper", Tools: []spool.Tool{{ToolSpec: spool.ToolSpec{Name: "look"}, Call: tool}}},
		},
		Models: map[string]spool.Model{"stepper": stepper(2)},
		Log:    warnings(),
	})
	if err != nil {
		return err
	}
	defer e.Close()
	steps := stepMeasure{b: m.b, db: m.db, e: e, steps: 2}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begun := cpuTime()
	for range m.runs {
		if _, err := steps.run(spool.ThreadKey{
			Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr")),
		}); err != nil {
			return err
		}
	}
	took := cpuTime() - begun
	runtime.ReadMemStats(&after)
	into.cpu = append(into.cpu, took.Seconds()*1000/float64(m.runs))
	into.memory = append(into.memory, float64(after.TotalAlloc-before.TotalAlloc)/1e6/float64(m.runs))
	return nil
}
