package engine

import (
	"context"
	"sync"

	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/engine/internal/worker"
)

// workWithOwn works as worker.Run, and claims from the engine's own queues beside it: each has slots of its own, so that
// no run waits for them, nor do they wait for a run.
func workWithOwn(ctx context.Context, c worker.Config, o slots.Options, own ...slots.Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.OwnQueues = false
	ours := c
	ours.OwnQueues = true
	errs := make([]error, len(own))
	var group sync.WaitGroup
	for i, o := range own {
		group.Go(func() {
			if errs[i] = worker.Run(ctx, ours, o); errs[i] != nil {
				cancel()
			}
		})
	}
	err := worker.Run(ctx, c, o)
	cancel()
	group.Wait()
	for _, failed := range errs {
		if err == nil {
			err = failed
		}
	}
	return err
}
