package pgtest

import (
	"context"
	"time"

	"github.com/spoolhq/spool/internal/testing/testwait"
)

// outsiders is how many functions of [outside] run at the same time.
const outsiders = 8

// outsider runs functions on a goroutine that belongs to no bubble of testing/synctest.
type outsider struct {
	calls chan func()
	done  chan struct{}
}

// idle has the outsiders that have nothing to do. It is nil in a package that does not call [Run].
var idle chan *outsider

// startOutsiders starts the goroutines of [outside]. Its caller must not be in a bubble.
func startOutsiders() {
	idle = make(chan *outsider, outsiders)
	for range outsiders {
		o := &outsider{calls: make(chan func()), done: make(chan struct{})}
		go func() {
			for call := range o.calls {
				call()
				o.done <- struct{}{}
			}
		}()
		idle <- o
	}
}

// outside runs a function outside the bubble of its caller, and waits for it. The time of the bubble stands
// still meanwhile. What the function makes, such as a connection, does not belong to the bubble, so later
// cases may use it. The context ends after [testwait.Limit] of real time. In a package that does not call
// [Run], there must be no bubble.
func outside(what string, call func(ctx context.Context) error) (err error) {
	bounded := func() {
		ctx, cancel := context.WithTimeoutCause(context.Background(), testwait.Limit, lateError(what))
		defer cancel()
		err = call(ctx)
	}
	if idle == nil {
		bounded()
		return err
	}
	o := <-idle
	defer func() { idle <- o }()
	o.calls <- bounded
	<-o.done
	return err
}

// lateError is the cause of a context that has ended: what nobody waits for any longer.
type lateError string

func (e lateError) Error() string {
	return "waited " + testwait.Limit.Round(time.Second).String() + " for " + string(e)
}
