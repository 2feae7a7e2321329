package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// arm is one of the servers, with its measurements.
type arm struct {
	name string
	path string
	*child
	load *load

	cpu    []float64 // milliseconds of the server's CPU for each run, by round
	rate   []float64 // runs a second
	memory float64   // bytes
}

func measure(ctx context.Context, c config, out io.Writer) (_ *report, err error) {
	dir, err := os.MkdirTemp("", "spool-peers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	model, err := spawn(ctx, "model", options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, model.stop()) }()
	arms := []*arm{{name: "spool", path: "/api/agent/ag-ui"}, {name: "trpc-agent-go", path: "/"}}
	for _, a := range arms {
		o := options{File: filepath.Join(dir, a.name+".db"), Model: model.url + "/v1"}
		if c.profile != "" {
			o.Profile = filepath.Join(c.profile, a.name+".pprof")
		}
		if a.child, err = spawn(ctx, a.name, o); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, a.stop()) }()
		a.load = newLoad(a.url+a.path, c.clients)
		if err := a.load.run(ctx, c.clients*2); err != nil { // connections, pools and statements
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
	}
	r := &report{config: c, arms: arms, commit: commit(ctx), began: time.Now()}
	for round := range c.rounds {
		for _, a := range arms {
			if err := a.round(ctx, c.runs); err != nil {
				return nil, fmt.Errorf("%s: %w", a.name, err)
			}
			fmt.Fprintf(out, "round %d, %s: %.2f ms of CPU a run, %.0f runs/s\n", round+1, a.name, a.cpu[round], a.rate[round])
		}
	}
	for _, a := range arms {
		if c.memory == 0 {
			break
		}
		if err := a.load.run(ctx, max(0, c.memory-int(a.load.next.Load()))); err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		after, err := a.cost(ctx)
		if err != nil {
			return nil, err
		}
		a.memory = after.Memory
		fmt.Fprintf(out, "%s: %.0f MiB after %d runs\n", a.name, a.memory/(1<<20), a.load.next.Load())
	}
	r.took = time.Since(r.began)
	return r, nil
}

func (a *arm) round(ctx context.Context, runs int) error {
	before, err := a.cost(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := a.load.run(ctx, runs); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := a.cost(ctx)
	if err != nil {
		return err
	}
	a.cpu = append(a.cpu, float64(after.CPU-before.CPU)/float64(time.Millisecond)/float64(runs))
	a.rate = append(a.rate, float64(runs)/took.Seconds())
	return nil
}
