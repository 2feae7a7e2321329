package spooltest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
)

// FaultKind says how a call goes wrong.
type FaultKind int

// The kinds of fault.
const (
	// FailBefore fails the call with [spool.Unavailable]. The call does not happen.
	FailBefore FaultKind = iota + 1
	// FailAfter lets the call happen and then fails it with [spool.Unavailable]: the caller does not
	// know its outcome. A call that fails by itself, such as an update whose function returns an error,
	// returns its own error.
	FailAfter
	// Hang waits until the call's context ends. The call does not happen.
	Hang
	// CrashBefore fails the call, which does not happen, and every later call. For the storage, the
	// process is dead.
	CrashBefore
	// CrashAfter lets the call happen, and then fails it and every later call.
	CrashAfter
	// Rerun rolls an update back and runs its function again, as a store may do after a conflict. It
	// has no effect on other calls.
	Rerun
	// Duplicate makes the next Claim return the deliveries of this Claim too. It has no effect on other
	// calls.
	Duplicate
	// Delay makes this Claim return nothing, and the next Claim return its deliveries. It has no effect
	// on other calls.
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

// Fault is a planned fault. It happens once.
type Fault struct {
	// Call is the number of the call that fails, from 1.
	Call int
	// On restricts the count to calls with this name, such as "Store.Update", or of this port: "Store"
	// or "Live". Empty: all calls count.
	On   string
	Kind FaultKind
}

// Faulty wraps an engine's backend, counts the calls of the store and of the run streams, and causes the
// planned faults. It is safe for concurrent use.
//
// Calls of [store.Store.Check] and [store.Store.Close] and wake-ups are not counted. To simulate a restart of the
// process, make another engine with the wrapped backend, or with another wrapper.
type Faulty struct {
	inner   store.Backend
	crashed chan struct{}
	// intercept is nil if no interceptor was set.
	intercept Interceptor

	mu        sync.Mutex
	plan      []Fault
	log       []string
	counts    map[string]int
	dead      bool
	dropWakes bool
	// late are deliveries that a later Claim returns.
	late []store.Delivery
}

// Interceptor wraps each call of a port, and executes the call by calling do. Name is the port and its
// method, such as "Store.Update". Subject is the thread, run or stream, if any. Do returns the fault of
// the call, or zero, and the error of the call. The engine gets the interceptor's error.
type Interceptor func(ctx context.Context, name, subject string, do func() (FaultKind, error)) error

// NewFaulty returns a wrapper without planned faults. If b lacks a Live, it makes one in memory.
func NewFaulty(b store.Backend) *Faulty {
	if b.Live == nil {
		b.Live = inprocess.NewLive(0)
	}
	return &Faulty{inner: b, crashed: make(chan struct{}), counts: make(map[string]int)}
}

// Backend returns the wrapped backend.
func (f *Faulty) Backend() store.Backend {
	return store.Backend{Store: faultyStore{f}, Live: faultyLive{f}, Shared: f.inner.Shared, HostTx: f.inner.HostTx}
}

// Plan adds faults. If several faults match one call, only the one that was added first happens.
func (f *Faulty) Plan(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan = append(f.plan, faults...)
}

// Intercept makes all calls go through fn, which may log or delay them. It must be called before the
// first call.
func (f *Faulty) Intercept(fn Interceptor) { f.intercept = fn }

// DropWakes sets whether all wake-ups get lost.
func (f *Faulty) DropWakes(drop bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropWakes = drop
}

// Calls returns the number of calls, including failed ones, but without calls after a crash.
func (f *Faulty) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.log)
}

// Log returns the names of the calls that Calls counts, such as "Store.Update default/t".
func (f *Faulty) Log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.log...)
}

// Crashed returns a channel that is closed when the process has crashed.
func (f *Faulty) Crashed() <-chan struct{} { return f.crashed }

// call makes one call, with the fault that is planned for it. The subject is for the log. Do gets the
// fault, because it executes some kinds itself.
func (f *Faulty) call(ctx context.Context, name, subject string, do func(FaultKind) error) error {
	once := func() (FaultKind, error) {
		kind, n := f.next(name, subject)
		return kind, f.execute(ctx, name, kind, n, do)
	}
	if f.intercept != nil {
		return f.intercept(ctx, name, subject, once)
	}
	_, err := once()
	return err
}

// execute makes the n-th call.
func (f *Faulty) execute(ctx context.Context, name string, kind FaultKind, n int, do func(FaultKind) error) error {
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

// next counts a call and takes its fault from the plan. After a crash it returns a fault that fails the
// call, and the number zero.
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

// silent reports whether all wake-ups get lost.
func (f *Faulty) silent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dropWakes || f.dead
}

func canceled(ctx context.Context) error {
	return spool.Wrap(spool.Canceled, "Canceled", ctx.Err())
}
