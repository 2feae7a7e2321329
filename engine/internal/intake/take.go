package intake

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// Taking is a worker of this process that is reserved for a run, so that the start of the run can claim it: no
// other process has to be woken, and nothing has to be read or committed between the start and the first question
// to the model. A nil Taking is no worker.
type Taking struct {
	// Take is what the transition needs.
	Take *thread.Take
	// Execute makes the worker execute the run, whose start is committed. It does not wait.
	Execute func(taken *thread.Taken)
	// Release gives the worker up.
	Release func()

	executed bool
}

// noWorker is for starts that cannot know when they are committed.
func noWorker(spool.Job) *Taking { return nil }

func (t *Taking) transition() *thread.Take {
	if t == nil {
		return nil
	}
	return t.Take
}

// execute executes the run, unless the start has not claimed it.
func (t *Taking) execute(taken *thread.Taken) {
	if taken != nil {
		t.executed = true
		t.Execute(taken)
	}
}

// release gives the worker up, unless it executes the run.
func (t *Taking) release() {
	if t != nil && !t.executed {
		t.Release()
	}
}
