package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The workloads. Each cost is a difference between two of them, so that what they have in common goes out.
const (
	moreSteps  = 10   // tool calls of a long run
	manyItems  = 2000 // deltas of a burst
	pacedItems = 200  // deltas of a paced answer
	pacedGap   = 20 * time.Millisecond
	pacedRuns  = 8 // at the same time
	token      = " word"
)

// model answers as its prompt says: with so many tool calls first, then with so many tokens, and a gap between them.
type model struct{}

// Stream implements [spool.Model].
func (model) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	var steps, tokens, gap, called int
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == spool.RoleUser {
			_, _ = fmt.Sscan(m.Text(), &steps, &tokens, &gap)
			break
		}
		if m.Role == spool.RoleTool {
			called++
		}
	}
	count := func(n int64) *int64 { return &n }
	usage := spool.Usage{Input: count(120), Output: count(12)}
	return func(yield func(spool.ModelEvent, error) bool) {
		if called < steps {
			id := spool.ToolCallID("call_" + strconv.Itoa(called))
			_ = yield(spool.TextDelta{Text: token}, nil) &&
				yield(spool.ToolCallStart{ID: id, Name: "look"}, nil) &&
				yield(spool.ToolCallEnd{ID: id, Name: "look", Args: `{"at":"the sea"}`}, nil) &&
				yield(spool.Finish{Reason: spool.FinishToolCalls, Usage: usage, ModelID: "units-1"}, nil)
			return
		}
		tick := time.NewTicker(max(1, time.Duration(gap)))
		defer tick.Stop()
		for range tokens {
			if gap > 0 {
				select {
				case <-tick.C:
				case <-ctx.Done():
					yield(nil, ctx.Err())
					return
				}
			}
			if !yield(spool.TextDelta{Text: token}, nil) {
				return
			}
		}
		yield(spool.Finish{Reason: spool.FinishStop, Usage: usage, ModelID: "units-1"}, nil)
	}
}

// newEngine returns an engine over a backend, which runs the model above.
func newEngine(b store.Backend) (*engine.Engine, error) {
	return engine.New(b, engine.Config{
		SingleProcess: !b.Shared,
		Agents: []spool.Agent{{Name: "units", Model: "units", MaxSteps: moreSteps + 2, Tools: []spool.Tool{{
			ToolSpec: spool.ToolSpec{Name: "look", Description: "Looks."},
			Polling:  true, // each call of a run is the same
			Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				return json.RawMessage(`{"seen":"nothing of note, as on all other days"}`), nil
			},
		}}}},
		Models: map[string]spool.Model{"units": model{}},
		Log:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
}

// bed is a store under measurement.
type bed struct {
	ctx    context.Context
	engine *engine.Engine // accepts the runs; over PostgreSQL another one works
	store  store.Store
	// used returns what was used so far, in the units of a cost.
	used func() (cost, error)
	done int64 // runs
	idle cost  // of a second without work
}

// work has the engine execute runs until the returned function is called.
func work(ctx context.Context, e *engine.Engine) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	working.Go(func() { _ = e.Work(ctx, engine.WorkOptions{Concurrency: 16}) })
	return func() {
		cancel()
		working.Wait()
	}
}

// poll is how often the measurement looks for the end of the runs. What that costs is in the idle cost.
const poll = 50 * time.Millisecond

// run starts so many runs in new threads, waits until they have completed and returns what one has cost.
func (b *bed) run(n int, prompt string) (cost, error) {
	before, err := b.used()
	if err != nil {
		return cost{}, err
	}
	began := time.Now()
	for range n {
		key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr"))}
		result, err := b.engine.Run(b.ctx, key, wire.StartRequest{Prompt: prompt})
		if err != nil || !result.Accepted {
			return cost{}, fmt.Errorf("start: %+v, %w", result, err)
		}
	}
	b.done += int64(n)
	if err := b.wait(b.completed); err != nil {
		return cost{}, err
	}
	used, err := b.since(before, began)
	return used.per(float64(n)), err
}

// fill makes threads with one run each, and waits until these have completed.
func (b *bed) fill(threads []spool.ThreadKey) error {
	for _, key := range threads {
		if result, err := b.engine.Run(b.ctx, key, wire.StartRequest{Prompt: "0 1 0"}); err != nil || !result.Accepted {
			return fmt.Errorf("start: %+v, %w", result, err)
		}
	}
	b.done += int64(len(threads))
	return b.wait(b.completed)
}

func (b *bed) completed() (bool, error) {
	stats, err := b.store.Stats(b.ctx, wire.StatsQuery{Tenant: spool.DefaultTenant, Tally: true})
	if err == nil && stats.Tally.Runs[wire.Failed] > 0 {
		err = errors.New("a run has failed")
	}
	return stats.Tally.Runs[wire.Completed] >= b.done, err
}

// wait polls until something is so.
func (b *bed) wait(so func() (bool, error)) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if ok, err := so(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			return context.Cause(b.ctx)
		}
	}
}

// since returns what was used since a moment, without what the time itself costs.
func (b *bed) since(before cost, began time.Time) (cost, error) {
	took := time.Since(began).Seconds()
	after, err := b.used()
	return after.plus(-1, before).plus(-took, b.idle), err
}

// rest measures what a second without work costs.
func (b *bed) rest(seconds float64) error {
	before, err := b.used()
	if err != nil {
		return err
	}
	began := time.Now()
	until := began.Add(time.Duration(seconds * float64(time.Second)))
	err = b.wait(func() (bool, error) {
		_, err := b.completed()
		return time.Now().After(until), err
	})
	used, usedErr := b.since(before, began)
	b.idle = used.per(time.Since(began).Seconds())
	return errors.Join(err, usedErr)
}

// measured returns the unit costs of a store, without those of watchers.
func (b *bed) measured(n int) (s storeCosts, err error) {
	if _, err := b.run(20, "1 1 0"); err != nil { // what the first ones cost is not what others do
		return s, err
	}
	if err := b.rest(3); err != nil {
		return s, err
	}
	all := make(map[string]cost)
	for _, w := range []struct {
		name, prompt string
		runs         int
	}{
		{"short", "0 1 0", n},
		{"long", fmt.Sprint(moreSteps, " 1 0"), max(n/4, 4)},
		{"burst", fmt.Sprint("0 ", manyItems, " 0"), max(n/8, 4)},
		{"paced", fmt.Sprint("0 ", pacedItems, " ", int(pacedGap)), pacedRuns},
	} {
		if all[w.name], err = b.run(w.runs, w.prompt); err != nil {
			return s, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	s.Step = all["long"].plus(-1, all["short"]).per(moreSteps)
	s.Run = all["short"].per(1)
	s.Item = all["burst"].plus(-1, all["short"]).per(manyItems - 1)
	seconds := float64(pacedItems) * pacedGap.Seconds()
	s.Stream = all["paced"].plus(-1, all["short"]).plus(-(pacedItems - 1), s.Item).per(seconds)
	return s, nil
}

// watchedSecond measures what a client at another node adds to a second of a paced answer. The node is an engine of
// its own over its own connections, in this process.
func (b *bed) watchedSecond(other *engine.Engine) (c cost, err error) {
	s, err := server.New(other, server.Config{
		Authenticator: access.Anonymous(spool.DefaultTenant), Loopback: true, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return c, err
	}
	defer s.Close()
	listener, err := new(net.ListenConfig).Listen(b.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return c, err
	}
	hs := &http.Server{Handler: s, ReadHeaderTimeout: time.Second}
	go func() { _ = hs.Serve(listener) }()
	defer hs.Close()

	prompt := fmt.Sprint("0 ", pacedItems, " ", int(pacedGap))
	var arms [2]cost
	for round := range 2 * len(arms) {
		arm := round % len(arms)
		before, err := b.used()
		if err != nil {
			return c, err
		}
		began := time.Now()
		ctx, cancel := context.WithCancel(b.ctx)
		var watching sync.WaitGroup
		for range pacedRuns {
			key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr"))}
			if _, err := b.engine.Run(b.ctx, key, wire.StartRequest{Prompt: prompt}); err != nil {
				cancel()
				return c, err
			}
			if arm == 1 {
				watching.Go(func() { drain(ctx, "http://"+listener.Addr().String()+"/api/agent/stream?threadId="+string(key.ID)) })
			}
		}
		b.done += pacedRuns
		err = b.wait(b.completed)
		used, usedErr := b.since(before, began)
		cancel()
		watching.Wait()
		if err := errors.Join(err, usedErr); err != nil {
			return c, err
		}
		arms[arm] = arms[arm].plus(0.5, used)
	}
	return arms[1].plus(-1, arms[0]).per(pacedRuns * pacedItems * pacedGap.Seconds()), nil
}

// drain reads a stream until ctx ends.
func drain(ctx context.Context, url string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
}

// cpu returns the CPU time of this process.
func cpu() float64 {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(used.Utime) + seconds(used.Stime)
}

// measureSQLite measures a file with an fsync for each commit.
func measureSQLite(ctx context.Context, dir string, n int) (s storeCosts, err error) {
	file := filepath.Join(dir, "units.db")
	db, err := sqlite.Open(file, &sqlite.Options{Exclusive: true})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	e, err := newEngine(db.Backend())
	if err != nil {
		return s, err
	}
	defer e.Close()
	defer work(ctx, e)()
	var looking cost // what the measurement itself uses
	b := &bed{ctx: ctx, engine: e, store: db, used: func() (c cost, err error) {
		c = cost{Written: written(), Engine: cpu()}.plus(-1, looking)
		if c.Kept, err = sizeOf(ctx, file, dir); err != nil {
			return c, err
		}
		looking = cost{Written: written(), Engine: cpu()}.plus(-1, cost{Written: c.Written, Engine: c.Engine})
		return c, nil
	}}
	return b.measured(n)
}

// sizeOf returns the size of a database with what is still in its log: that of a copy.
func sizeOf(ctx context.Context, file, dir string) (float64, error) {
	to := filepath.Join(dir, "copy.db")
	if err := sqlite.Backup(ctx, file, to, nil); err != nil {
		return 0, err
	}
	info, err := os.Stat(to)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), os.Remove(to)
}

// written returns how many bytes this process has handed to the system.
func written() float64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "wchar:"); ok {
			n, _ := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			return n
		}
	}
	return 0
}

// measurePostgres measures a server that this process starts.
func measurePostgres(ctx context.Context, u *units, n int) (err error) {
	pg, err := startPostgres(ctx)
	if err != nil {
		return err
	}
	defer pg.stop()
	direct, err := pg.open(ctx, pg.url)
	if err != nil {
		return err
	}
	defer direct.Close()
	node, err := pg.open(ctx, pg.proxy.url)
	if err != nil {
		return err
	}
	defer node.Close()
	other, err := pg.open(ctx, pg.proxy.url)
	if err != nil {
		return err
	}
	defer other.Close()
	e, err := newEngine(node.Backend())
	if err != nil {
		return err
	}
	defer e.Close()
	api, err := newEngine(other.Backend())
	if err != nil {
		return err
	}
	defer api.Close()
	var version string
	if err := pg.admin.QueryRow(
		ctx, "SELECT split_part(current_setting('server_version'), ' ', 1)",
	).Scan(&version); err != nil {
		return err
	}
	u.Machine += ", PostgreSQL " + version
	stop := work(ctx, e)
	defer stop()
	b := &bed{ctx: ctx, engine: api, store: direct, used: func() (cost, error) { return pg.used(ctx) }}
	if u.Postgres, err = b.measured(n); err != nil {
		return err
	}
	if u.Postgres.Watched, err = b.watchedSecond(api); err != nil {
		return err
	}
	if u.ColdWAL, err = pg.cold(ctx, b); err != nil {
		return err
	}
	if u.WatcherMemory, err = watcherMemory(b, api); err != nil {
		return err
	}
	u.Notify, u.NotifySend, err = pg.notify(ctx)
	return err
}

// watcherMemory returns the memory of an idle stream of a thread of its own: heap and stacks of this process, with the
// client's connection, which a machine of its own has elsewhere.
func watcherMemory(b *bed, api *engine.Engine) (float64, error) {
	const streams = 300
	s, err := server.New(api, server.Config{
		Authenticator: access.Anonymous(spool.DefaultTenant), Loopback: true, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	listener, err := new(net.ListenConfig).Listen(b.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	hs := &http.Server{Handler: s, ReadHeaderTimeout: time.Second}
	go func() { _ = hs.Serve(listener) }()
	defer hs.Close()
	inUse := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapInuse + m.StackInuse)
	}
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	threads := make([]spool.ThreadKey, streams)
	for i := range threads {
		threads[i] = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(fmt.Sprint("idle", i))}
	}
	if err := b.fill(threads); err != nil {
		return 0, err
	}
	before := inUse()
	for i := range streams {
		conn, err := new(net.Dialer).DialContext(b.ctx, "tcp", listener.Addr().String())
		if err != nil {
			return 0, err
		}
		open = append(open, conn)
		if _, err := fmt.Fprintf(
			conn, "GET /api/agent/stream?threadId=idle%d HTTP/1.1\r\nHost: %s\r\n\r\n", i, listener.Addr(),
		); err != nil {
			return 0, err
		}
		var first [256]byte
		if n, err := conn.Read(first[:]); err != nil || !strings.Contains(string(first[:n]), " 200 ") {
			return 0, fmt.Errorf("a stream answers %q, %w", first[:n], err)
		}
	}
	return (inUse() - before) / streams, nil
}

// pgOptions are those of all nodes.
var pgOptions = postgres.Options{Pool: 16}
