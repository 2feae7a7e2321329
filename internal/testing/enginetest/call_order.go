package enginetest

import (
	"cmp"
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool/spooltest"
)

const (
	// turnRaster is the unit of all waits of a campaign: each is a whole number of milliseconds.
	turnRaster = time.Millisecond
	// turnStep is the difference between the fractions of a millisecond of two consecutive turns. It
	// has no common divisor with turnRaster, so that a million turns have different fractions.
	turnStep = 97 * time.Nanosecond
)

// callOrder makes the port calls of a campaign happen one at a time, in an order that depends only on
// the seed and the callers. It works only in a bubble of testing/synctest.
//
// A call waits until all other goroutines of the bubble wait too. Each waiting call has a hash of the
// seed, its caller, and the number of that caller's earlier calls. The call with the lowest hash goes
// first. So the order in which goroutines run that are ready at the same instant does not matter.
//
// Each turn has an instant whose fraction of a millisecond no other turn has. Therefore a timer that is
// set during a turn, to a whole number of milliseconds, fires at an instant at which no other turn
// begins and no timer of another turn fires.
type callOrder struct {
	seed  uint64
	trace *trace
	// rest is called when no other goroutine is ready. It may be nil.
	rest func()

	mu      sync.Mutex
	waiting []*turnOf
	asked   map[string]int
	given   int
	// scheduled is true if a turn will come.
	scheduled bool
}

// turnOf is a call that waits for its turn.
type turnOf struct {
	caller string
	weight uint64 // zero: not calculated yet
	begin  chan struct{}
	// goroutine distinguishes calls of one caller at one instant. Zero: nobody has asked for it with identify.
	// Then either identified or left is closed.
	goroutine                  uint64
	identify, identified, left chan struct{}
}

func newCallOrder(seed uint64, t *trace) *callOrder {
	return &callOrder{seed: seed, trace: t, asked: make(map[string]int)}
}

// callerKey is the key of the caller's name in a context.
type callerKey struct{}

// callingAs returns a context that gives port calls the name of a caller.
func callingAs(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// caller returns the name of the caller of a port.
func caller(ctx context.Context, as string) string {
	if who, ok := ctx.Value(callerKey{}).(string); ok {
		return who + " at " + as
	}
	return as
}

// intercept makes the port calls of a process wait for their turns, and traces them.
func (o *callOrder) intercept(process string) spooltest.Interceptor {
	return func(ctx context.Context, name, subject string, do func() (spooltest.FaultKind, error)) error {
		as := caller(ctx, process)
		if err := o.wait(ctx, as+" "+name+" "+subject); err != nil {
			return err
		}
		kind, err := do()
		o.trace.call(as, name, subject, kind, err)
		return err
	}
}

// wait returns when it is the caller's turn, or at once when the caller's context ends. The latter is
// not traced, because whether a call that is canceled at this instant still begins is a matter of
// chance.
func (o *callOrder) wait(ctx context.Context, caller string) error {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	t := &turnOf{
		caller: caller, begin: make(chan struct{}),
		identify: make(chan struct{}), identified: make(chan struct{}), left: make(chan struct{}),
	}
	o.mu.Lock()
	o.waiting = append(o.waiting, t)
	o.schedule()
	o.mu.Unlock()
	select {
	case <-t.begin:
		return nil
	case <-t.identify:
		t.goroutine = goroutineID()
		close(t.identified)
		select {
		case <-t.begin:
			return nil
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	close(t.left)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = slices.DeleteFunc(o.waiting, func(other *turnOf) bool { return other == t })
	return canceled(ctx)
}

// schedule sets the instant of the next turn if calls wait for one. The caller must hold mu.
func (o *callOrder) schedule() {
	if o.scheduled || len(o.waiting) == 0 {
		return
	}
	o.scheduled = true
	at := time.Duration(o.given+1) * turnStep % turnRaster
	wait := at - time.Duration(time.Now().Nanosecond())%turnRaster
	if wait <= 0 {
		wait += turnRaster
	}
	time.AfterFunc(wait, o.give)
}

// give gives the turn to one of the waiting calls.
func (o *callOrder) give() {
	if o.rest != nil {
		o.rest()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scheduled = false
	if len(o.waiting) == 0 {
		return
	}
	o.given++
	o.sort()
	next := 0
	for i, t := range o.waiting {
		if t.weight == 0 {
			o.asked[t.caller]++
			t.weight = 1 + chance(1<<40, o.seed, t.caller, o.asked[t.caller])
		}
		if t.weight < o.waiting[next].weight {
			next = i
		}
	}
	t := o.waiting[next]
	o.waiting = slices.Delete(o.waiting, next, next+1)
	o.schedule()
	close(t.begin)
}

// sort sorts the waiting calls by their callers, and new calls of one caller by their goroutines. The caller
// must hold mu.
func (o *callOrder) sort() {
	slices.SortStableFunc(o.waiting, func(a, b *turnOf) int { return strings.Compare(a.caller, b.caller) })
	for from := 0; from < len(o.waiting); {
		to := from + 1
		for to < len(o.waiting) && o.waiting[to].caller == o.waiting[from].caller {
			to++
		}
		if same := o.waiting[from:to]; len(same) > 1 {
			for _, t := range same {
				t.ask()
			}
			slices.SortStableFunc(same, func(a, b *turnOf) int { return cmp.Compare(a.goroutine, b.goroutine) })
		}
		from = to
	}
}

// ask learns the goroutine of a call. Few calls need it, and it costs more than the call.
func (t *turnOf) ask() {
	if t.weight != 0 || t.goroutine != 0 {
		return
	}
	close(t.identify)
	select {
	case <-t.identified:
	case <-t.left:
	}
}

// goroutineID returns the number of the calling goroutine. The numbers of one goroutine's children
// rise.
func goroutineID() uint64 {
	var b [64]byte
	text, _ := strings.CutPrefix(string(b[:runtime.Stack(b[:], false)]), "goroutine ")
	text, _, _ = strings.Cut(text, " ")
	id, _ := strconv.ParseUint(text, 10, 64)
	return id
}

const (
	// restEvery is how long the thread works before it sleeps for restFor.
	restEvery = 500 * time.Microsecond
	restFor   = 200 * time.Microsecond
	// longWork is how long the thread works without a sleep before an interruption counts as possible.
	// It is half of the Go scheduler's 10 ms, because it is measured from a moment after the sleep.
	longWork = 5 * time.Millisecond
)

// oneThread makes goroutines that are ready at one instant run in a fixed order, until end is called.
// It is for a process that does nothing else, and is called outside bubbles.
//
// The Go scheduler moves a goroutine after the others if the system has kept its thread waiting for 10
// ms. On a busy machine this happens when the thread has used up its share. So the thread sleeps from
// time to time, in rest, which is called when only the calling goroutine is ready. That makes
// interruptions rare; end reports whether one may have happened.
func oneThread() (rest func(), end func() (interrupted bool)) {
	threads, gc := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1)
	asked, rested := make(chan struct{}), make(chan struct{})
	interrupted := false
	go func() {
		defer close(rested)
		began := time.Now()
		for range asked {
			worked := time.Since(began)
			interrupted = interrupted || worked >= longWork
			if worked > restEvery {
				<-time.After(restFor) // real time: this goroutine is in no bubble
				began = time.Now()
			}
			rested <- struct{}{}
		}
	}()
	rest = func() {
		asked <- struct{}{}
		<-rested
	}
	return rest, func() bool {
		close(asked)
		<-rested
		runtime.GOMAXPROCS(threads)
		debug.SetGCPercent(gc)
		return interrupted
	}
}
