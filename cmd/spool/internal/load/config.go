package load

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

// API is what a load needs of a server. A [client.Client] is one.
type API interface {
	Ready(ctx context.Context) error
	Run(ctx context.Context, in client.RunRequest) (wire.RunResult, error)
	Stop(ctx context.Context, thread spool.ThreadID, run spool.RunID) (wire.StopResult, error)
	Follow(ctx context.Context, thread spool.ThreadID, o client.FollowOptions) iter.Seq2[wire.Frame, error]
	Snapshot(ctx context.Context, thread spool.ThreadID, o wire.SnapshotOptions) (*wire.Snapshot, error)
	DeleteThread(ctx context.Context, thread spool.ThreadID) (wire.DeleteResult, error)
}

var _ API = (*client.Client)(nil)

// Config configures a load. All fields without a default are required.
type Config struct {
	// Server is the server. Its client must not repeat starts, so that refusals are seen.
	Server API
	// Session is a part of the ids of all threads and runs, which must be new for the server.
	Session string
	// Ladder has the rates, in runs per second, in ascending order.
	Ladder []float64

	// Agent names the agent. Defaults to the server's first.
	Agent string
	// Drain is how long a rung waits for the end of its runs after the last arrival.
	Drain time.Duration
	// InFlight is how many runs are in progress at most. An arrival beyond is not sent, and counts as an
	// error.
	InFlight int
	// Leave ends the deletion of the threads when it is closed. Nil: the deletion goes on until all are deleted, or
	// none was deleted for a minute.
	Leave <-chan struct{}
	// Keep leaves the threads on the server. Defaults to their deletion.
	Keep bool
	// MaxDuration ends the load early. The deletion of the threads comes after it.
	MaxDuration time.Duration
	// MaxP99 is the 99th percentile of a start or of a first token above which a rung is saturated.
	MaxP99 time.Duration
	// Progress is called a few times per second, and after each rung. Nil: it is not called.
	Progress func(Status)
	// Prompt is the prompt of all runs.
	Prompt string
	// Resumes is the share of watchers, from 0 to 1, that drop their connection once and resume.
	Resumes float64
	// Step is how long runs arrive in each rung.
	Step time.Duration
	// Stops is the share of runs, from 0 to 1, that are stopped after their first token.
	Stops float64
	// WarmUp is how long runs arrive before the first rung. These runs are not measured. Zero: none.
	WarmUp time.Duration
	// Watchers is how many clients follow each run. The first one measures.
	Watchers int
}

// MaxClients is how many clients may follow at the same time: Config.InFlight times Config.Watchers.
const MaxClients = 20_000

// maxArrivals bounds the runs of a load, so that what is remembered of them stays small.
const maxArrivals = 1_000_000

// Check returns everything that is wrong with the numbers and texts of a configuration.
func (c Config) Check() error {
	var wrong []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	refuse(c.Step <= 0, "a step must take some time")
	refuse(c.Drain <= 0, "a drain must take some time")
	refuse(c.WarmUp < 0, "a warm-up cannot take less than no time")
	refuse(c.MaxDuration <= 0, "the load must take some time")
	refuse(c.MaxP99 <= 0, "the limit of p99 must be a time")
	refuse(c.Watchers < 1, "a run needs a watcher, which measures it")
	refuse(c.InFlight < 1, "a run must be allowed in progress")
	refuse(c.InFlight*c.Watchers > MaxClients, "%d runs in progress with %d watchers each are more than %d clients",
		c.InFlight, c.Watchers, MaxClients)
	refuse(!isShare(c.Stops), "the share of stops must be from 0 to 1")
	refuse(!isShare(c.Resumes), "the share of resumes must be from 0 to 1")
	refuse(c.Prompt == "", "the prompt is empty")
	wrong = append(wrong, checkLadder(c.Ladder))
	arrivals := 0.0
	for _, rate := range c.Ladder {
		arrivals += rate * c.Step.Seconds()
	}
	refuse(arrivals > maxArrivals, "the ladder has more than %d runs", maxArrivals)
	return errors.Join(wrong...)
}

// isShare reports whether a number is from 0 to 1. NaN is not.
func isShare(n float64) bool { return n >= 0 && n <= 1 }
