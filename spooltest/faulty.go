package spooltest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/inprocess"
)

// FaultKind says what goes wrong with a call.
type FaultKind int

// The kinds of fault.
const (
	// FailBefore fails the call with [spool.Unavailable]; it did not happen.
	FailBefore FaultKind = iota + 1
	// FailAfter lets the call happen and then fails it with [spool.Unavailable]: its
	// outcome is unknown to the caller. A call that fails by itself, as an update does
	// whose function returns an error, returns its own error.
	FailAfter
	// Hang waits for the end of the call's context; the call does not happen.
	Hang
	// CrashBefore fails the call, which does not happen, and every later one. For the
	// storage the process is dead.
	CrashBefore
	// CrashAfter lets the call happen, and fails it and every later one.
	CrashAfter
	// Rerun rolls an update back and runs its function again, as a store may after a
	// conflict. Other calls are left alone.
	Rerun
	// Duplicate has the next Claim return the deliveries of this one, too. Other calls
	// are left alone.
	Duplicate
	// Delay has the next Claim return the deliveries of this one, which returns none.
	// Other calls are left alone.
	Delay
)

// String returns the kind's name.
func (k FaultKind) String() string {
	names := [...]string{
		"none", "fail before", "fail after", "hang", "crash before", "crash after", "rerun", "duplicate", "delay",
	}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("FaultKind(%d)", int(k))
	}
	return names[k]
}

// Fault is something that is to go wrong, once.
type Fault struct {
	// Call says which call it is to happen to, from 1.
	Call int
	// On counts only calls with this name, such as "Store.Update", or of this port, such
	// as "Queue". Empty: all calls.
	On   string
	Kind FaultKind
}

// Faulty stands between an engine and its backend, counts the calls of Store, Queue and
// Streams, and lets go wrong what is planned. It is safe for concurrent use.
//
// [spool.Store.Close] and the bus are not counted. To restart the process, make another
// engine of the backend behind the wrapper, or of another wrapper.
type Faulty struct {
	behind  spool.Backend
	crashed chan struct{}
	// intercept is nil where nothing stands around the calls.
	intercept Interceptor

	mu        sync.Mutex
	plan      []Fault
	log       []string
	counts    map[string]int
	dead      bool
	dropWakes bool
	// late are deliveries that a later Claim is to return.
	late []spool.Delivery
}

// Interceptor stands around each call of a port, and carries it out by calling do. name is that of
// the port and its method, such as "Store.Update", and subject the thread, run or stream, if there
// is one. do returns the fault that hit the call, zero for none, and the error of the call. The
// engine gets the interceptor's error.
type Interceptor func(ctx context.Context, name, subject string, do func() (FaultKind, error)) error

// NewFaulty returns a wrapper with nothing planned. Streams and a bus that b lacks are
// made in memory.
func NewFaulty(b spool.Backend) *Faulty {
	if b.Streams == nil {
		b.Streams = inprocess.NewStreams(0)
	}
	if b.Bus == nil {
		b.Bus = inprocess.NewBus()
	}
	return &Faulty{behind: b, crashed: make(chan struct{}), counts: make(map[string]int)}
}

// Backend returns the wrapped ports.
func (f *Faulty) Backend() spool.Backend {
	b := spool.Backend{Store: faultyStore{f}, Streams: faultyStreams{f}, Bus: faultyBus{f}}
	if f.behind.Queue != nil {
		b.Queue = faultyQueue{f}
	}
	return b
}

// Plan adds faults. When several hit one call, the first that was added does, and the
// others do not happen.
func (f *Faulty) Plan(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan = append(f.plan, faults...)
}

// Intercept has all calls go through fn, which may log them, or have them wait for their turns.
// It comes before the first call.
func (f *Faulty) Intercept(fn Interceptor) { f.intercept = fn }

// DropWakes says whether the bus loses all wake-ups.
func (f *Faulty) DropWakes(drop bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropWakes = drop
}

// Calls returns how many calls there were, the failed ones included, but none from after
// a crash.
func (f *Faulty) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.log)
}

// Log names the calls that Calls counts, as "Store.Update default/t".
func (f *Faulty) Log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.log...)
}

// Crashed is closed when the process has crashed.
func (f *Faulty) Crashed() <-chan struct{} { return f.crashed }

// call makes one call, with the fault that is planned for it. The log has subject behind the name.
// do gets the fault, as it carries out some kinds itself.
func (f *Faulty) call(ctx context.Context, name, subject string, do func(FaultKind) error) error {
	once := func() (FaultKind, error) {
		kind, n := f.next(name, subject)
		return kind, f.carry(ctx, name, kind, n, do)
	}
	if f.intercept != nil {
		return f.intercept(ctx, name, subject, once)
	}
	_, err := once()
	return err
}

// carry makes the n-th call.
func (f *Faulty) carry(ctx context.Context, name string, kind FaultKind, n int, do func(FaultKind) error) error {
	failure := f.failure(name, n)
	switch kind {
	case FailBefore:
		return failure
	case CrashBefore:
		close(f.crashed)
		return failure
	case Hang:
		select {
		case <-ctx.Done():
			return canceled(ctx)
		case <-f.crashed:
			return failure
		}
	default:
	}
	err := do(kind)
	switch {
	case kind == CrashAfter:
		close(f.crashed)
		return failure
	case kind == FailAfter && err == nil:
		return failure
	default:
		return err
	}
}

// next counts a call and takes its fault from the plan. After a crash it returns zero for
// the number and a fault that fails the call.
func (f *Faulty) next(name, subject string) (FaultKind, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return FailBefore, 0
	}
	f.log = append(f.log, strings.TrimSpace(name+" "+subject))
	port, _, _ := strings.Cut(name, ".")
	for _, counted := range []string{"", port, name} {
		f.counts[counted]++
	}
	var hit FaultKind
	rest := f.plan[:0]
	for _, fault := range f.plan {
		counted := fault.On == "" || fault.On == port || fault.On == name
		if !counted || f.counts[fault.On] != fault.Call {
			rest = append(rest, fault)
		} else if hit == 0 {
			hit = fault.Kind
		}
	}
	f.plan = rest
	f.dead = hit == CrashBefore || hit == CrashAfter
	return hit, len(f.log)
}

func (f *Faulty) failure(name string, n int) error {
	cause := fmt.Errorf("planned fault of call %d, %s", n, name)
	if n == 0 {
		cause = fmt.Errorf("%s after the crash", name)
	}
	return &spool.Error{Code: spool.Unavailable, Message: "Storage is not available", Err: cause}
}

// silent reports whether the bus says nothing.
func (f *Faulty) silent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dropWakes || f.dead
}

func canceled(ctx context.Context) error {
	return spool.Wrap(spool.Canceled, "Canceled", ctx.Err())
}
