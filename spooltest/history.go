package spooltest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// History is what has happened to some threads, seen from all sides: by the store, by clients that
// followed, by tools, and by the callers that started, answered and stopped runs. [Check] reports what
// must never happen.
//
// A test calls [History.Record] and [History.Tool] before it makes the engine. At the end it calls
// [History.Read] and sets Settled. The checker leaves out invariants for which the test has recorded no
// data. Methods are safe for concurrent use. Fields may be used only when nothing runs any more.
type History struct {
	// Threads is the final content of the store: see [History.Read].
	Threads []ThreadDump
	// Commits are the writes to the store, in order: see [History.Record].
	Commits []Commit
	// Clients are the clients that followed: see [History.Client].
	Clients []*Client
	// Executions are the calls of tools that took effect: see [History.Tool].
	Executions []Execution
	// Answers are the answers to parks: see [History.Answered].
	Answers []Answered
	// Starts are the accepted starts: see [History.Started].
	Starts []Started
	// Stops counts the accepted stops of each thread.
	Stops map[spool.ThreadKey]int
	// Settled says that nothing runs any more, so that every run must have ended. Defaults to false.
	Settled bool
	// Bounded says that the models keep their answers within the requested bounds, so that no budget
	// may ever be overspent.
	Bounded bool

	mu sync.Mutex
}

// ThreadDump is everything that a store has of a thread.
type ThreadDump struct {
	Thread   wire.Thread
	Runs     []store.RunRow
	Messages []spool.Message
	Branches []BranchDump
	Entries  []wire.Entry
	Parks    []store.Park
	Usage    []wire.UsageLine
}

// BranchDump is a branch with its messages.
type BranchDump struct {
	Branch   wire.Branch
	Messages []spool.Message
}

// Commit is what one transaction has written to a thread.
type Commit struct {
	// Thread is empty if the transaction was rolled back: then nothing of the commit was saved.
	Thread spool.ThreadKey
	// Fence is the fence of the writer, or zero if it had none.
	Fence int64
	// FenceAfter is the thread's fence after the commit.
	FenceAfter int64
	// State and RunID are the thread's values after the commit.
	State    wire.State
	RunID    spool.RunID
	Runs     []store.RunRow
	Messages []spool.Message
	// After has, for each of Messages, the message in the view after which it was added. Empty: it was
	// the first one.
	After   []spool.MessageID
	Entries []wire.Entry
	Usage   []wire.UsageRow
	Jobs    []wire.Job
	Claimed []store.ClaimedJob
	// CancelJobs are the keys of the jobs that the commit removed.
	CancelJobs []string
	// At is the store's time at the commit.
	At time.Time
	// Dropped are the messages that the commit removed from the view.
	Dropped []spool.MessageID
	// Deleted is true if the commit deleted the thread.
	Deleted bool
}

// Client is a client that followed a thread, possibly with several connections.
type Client struct {
	Name   string
	Thread spool.ThreadKey
	// FromStart says that the client came without a cursor and before the thread's first segment, so
	// that it must have seen everything.
	FromStart bool
	// Left says that the client went away before the end.
	Left bool
	// Frames are the frames that the client got.
	Frames []wire.Frame
	// Connections says where the client's connections began. Empty: unknown.
	Connections []Connection
	mu          sync.Mutex
}

// Saw adds a frame.
func (c *Client) Saw(f wire.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Frames = append(c.Frames, f)
}

// Cursor returns the client's cursor. It is nil before the first frame that has a position.
func (c *Client) Cursor() *wire.Cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range slices.Backward(c.Frames) {
		if f.Cursor != nil {
			at := *f.Cursor
			return &at
		}
	}
	return nil
}

// Execution is a call of a tool that took effect.
type Execution struct {
	Call       spool.ToolCall
	Idempotent bool
}

// Answered is a call of Respond.
type Answered struct {
	Thread    spool.ThreadKey
	Call      spool.ToolCallID
	Delivered bool
	// Unknown says that the call failed, so that the answer may or may not have been delivered.
	Unknown bool
}

// Started is an accepted start.
type Started struct {
	Thread spool.ThreadKey
	Run    spool.RunID
}

// Client adds a client.
func (h *History) Client(c *Client) *Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Clients = append(h.Clients, c)
	return c
}

// Started adds an accepted start.
func (h *History) Started(key spool.ThreadKey, run spool.RunID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Starts = append(h.Starts, Started{key, run})
}

// Stopped adds an accepted stop.
func (h *History) Stopped(key spool.ThreadKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Stops == nil {
		h.Stops = make(map[spool.ThreadKey]int)
	}
	h.Stops[key]++
}

// Answered adds a call of Respond.
func (h *History) Answered(a Answered) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Answers = append(h.Answers, a)
}

// Forget removes the starts of threads that the test has deleted on purpose.
func (h *History) Forget(keys ...spool.ThreadKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := make(map[spool.ThreadKey]bool, len(keys))
	for _, key := range keys {
		gone[key] = true
	}
	kept := h.Starts[:0]
	for _, start := range h.Starts {
		if !gone[start.Thread] {
			kept = append(kept, start)
		}
	}
	h.Starts = kept
}

// Calls returns the tool calls that have taken effect so far.
func (h *History) Calls() (calls []spool.ToolCall) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.Executions {
		if e.Call.ID != "" {
			calls = append(calls, e.Call)
		}
	}
	return calls
}

// Tool returns the tool in a form that records its calls. A call that parks has no effect,
// and neither has one that looks at a pending call.
func (h *History) Tool(t spool.Tool) spool.Tool {
	call := t.Call
	t.Call = func(ctx context.Context, c spool.ToolCall) (result json.RawMessage, err error) {
		if looks(c) {
			return call(ctx, c)
		}
		h.mu.Lock()
		at := len(h.Executions)
		h.Executions = append(h.Executions, Execution{Call: c, Idempotent: t.Idempotent})
		h.mu.Unlock()
		result, err = call(ctx, c)
		if isPark(err) {
			h.mu.Lock()
			h.Executions[at].Call.ID = "" // the tool will be called again
			h.mu.Unlock()
		}
		return result, err
	}
	return t
}

// Read adds the store's content of a thread. For a deleted thread it adds nothing.
func (h *History) Read(ctx context.Context, db store.Store, key spool.ThreadKey) error {
	var d ThreadDump
	err := db.View(ctx, key, func(v store.View) (err error) {
		if d.Thread, err = v.Thread(); err != nil {
			return err
		}
		if d.Runs, err = v.Runs(wire.RunQuery{Whole: true}); err != nil {
			return err
		}
		if d.Messages, err = v.Messages(store.MessageQuery{}); err != nil {
			return err
		}
		if d.Branches, err = readBranches(v); err != nil {
			return err
		}
		if d.Entries, err = v.Entries(store.EntryQuery{}); err != nil {
			return err
		}
		for _, r := range d.Runs {
			parks, err := v.Parks(r.ID)
			if err != nil {
				return err
			}
			d.Parks = append(d.Parks, parks...)
		}
		usage, err := v.Usage(wire.UsageQuery{Sums: true})
		d.Usage = usage.Sums
		return err
	})
	if spool.CodeOf(err) == spool.NotFound {
		return nil
	}
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.Threads = append(h.Threads, d)
	}
	return err
}

// Violation is something in a history that must not happen.
type Violation struct {
	// Invariant names what was broken.
	Invariant string
	// Where is the thread, run or client. What is what was seen.
	Where, What string
}

// String returns the violation in one line.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Invariant, v.Where, v.What) }

// Check reports every violation in the history as an error of the test.
func Check(t testing.TB, h *History) {
	t.Helper()
	for _, v := range h.Violations() {
		t.Error(v)
	}
}

// Violations returns the violations in the history, in the order of the invariants' names.
func (h *History) Violations() []Violation {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := checker{History: h, threads: make(map[spool.ThreadKey][]Commit)}
	for _, d := range h.Threads {
		c.record(d)
		c.runs(d)
		c.calls(d)
		c.kept(d)
		c.summaries(d)
		c.steers(d)
	}
	c.commits()
	for _, client := range h.Clients {
		c.client(client)
		c.foreign(client)
	}
	slices.SortStableFunc(c.found, func(a, b Violation) int { return cmp.Compare(a.Invariant, b.Invariant) })
	return c.found
}

// checker collects the violations in a history.
type checker struct {
	*History

	found []Violation
	// threads has the results of of.
	threads map[spool.ThreadKey][]Commit
}

// of returns the commits of a thread since it was last deleted. The caller must not change them.
func (c *checker) of(key spool.ThreadKey) (commits []Commit) {
	if known, ok := c.threads[key]; ok {
		return known
	}
	defer func() { c.threads[key] = commits }()
	for _, commit := range c.Commits {
		switch {
		case commit.Thread != key:
		case commit.Deleted:
			commits = nil
		default:
			commits = append(commits, commit)
		}
	}
	return commits
}

func (c *checker) wrongf(invariant, where, format string, args ...any) {
	c.found = append(c.found, Violation{Invariant: invariant, Where: where, What: fmt.Sprintf(format, args...)})
}
