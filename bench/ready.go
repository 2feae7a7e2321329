package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// readyGoal is how many milliseconds a process may take until it is ready.
const readyGoal = 150

// measureReady measures how long `spool serve` takes until it is ready, over a new and over an existing
// database.
func measureReady(b *bench) (*section, error) {
	threads, turns := size(b, 10_000, 100), size(b, 4, 1)
	s := &section{
		title: "Start over an existing database",
		how: fmt.Sprintf("The built `spool serve`, from the start of its process to the first 200 of `/readyz`, which is asked "+
			"every millisecond. The SQLite file has %s threads with a finished run each, and %d runs that wait for an "+
			"approval; the process before ended with SIGTERM. \"New\" is an empty folder. CPU is user and system time of the "+
			"whole process.",
			number(float64(threads)), readyWaiting),
	}
	spool := filepath.Join(b.dir, "spool")
	if err := buildSpool(b.ctx, spool); err != nil {
		return nil, err
	}
	filled := filepath.Join(b.dir, "ready")
	if err := fillReady(b.ctx, spool, filled, threads); err != nil {
		return nil, err
	}
	var fresh, existing readyTimes
	empty := 0
	err := b.interleave(turns,
		func() error {
			empty++
			return fresh.measure(b.ctx, spool, filepath.Join(b.dir, "empty"+strconv.Itoa(empty)))
		},
		func() error { return existing.measure(b.ctx, spool, filled) },
	)
	if err != nil {
		return nil, err
	}
	s.rows = []row{
		{"new", "ms", fresh.ready},
		{"new, CPU", "ms", fresh.cpu},
		{"existing", "ms", existing.ready},
		{"existing, CPU", "ms", existing.cpu},
	}
	s.goals = []goal{atMost("until ready over an existing database, in ms", existing.ready.median(), readyGoal)}
	return s, nil
}

// readyWaiting is the number of runs that wait.
const readyWaiting = 10

// buildSpool builds the command that is measured.
func buildSpool(ctx context.Context, out string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-o", out, "./cmd/spool")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=") // the workspace has the module rest
	return said(cmd)
}

// readyTimes are the milliseconds of starts.
type readyTimes struct{ ready, cpu sample }

// measure starts the command over a data folder, and ends it when it is ready.
func (r *readyTimes) measure(ctx context.Context, spool, data string) error {
	p, err := startSpool(ctx, spool, data)
	if err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	r.ready = append(r.ready, p.ready)
	state := p.cmd.ProcessState
	r.cpu = append(r.cpu, milliseconds(state.UserTime()+state.SystemTime()))
	return nil
}

// spoolProcess is a process of the spool command.
type spoolProcess struct {
	cmd   *exec.Cmd
	url   string
	ready float64 // milliseconds until it was ready
}

// startSpool starts a server, and returns when it is ready.
func startSpool(ctx context.Context, spool, data string) (*spoolProcess, error) {
	free, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, spool, "serve", "--listen", address, "--data", data, "--log-level", "error")
	cmd.Stderr = os.Stderr
	p := &spoolProcess{cmd: cmd, url: "http://" + address}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for request(ctx, http.MethodGet, p.url+"/readyz", nil, nil) != nil {
		if time.Since(began) > patience {
			return nil, errors.Join(errors.New("the server is not ready"), p.stop())
		}
		<-tick.C
	}
	p.ready = milliseconds(time.Since(began))
	return p, nil
}

// stop ends the server in order.
func (p *spoolProcess) stop() error {
	return errors.Join(p.cmd.Process.Signal(syscall.SIGTERM), p.cmd.Wait())
}

// fillReady creates the data folder of a server that has run for a while.
func fillReady(ctx context.Context, spool, data string, threads int) error {
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	if err := fillFinished(ctx, filepath.Join(data, "spool.db"), threads); err != nil {
		return err
	}
	p, err := startSpool(ctx, spool, data)
	if err != nil {
		return err
	}
	for n := range readyWaiting {
		body := map[string]string{
			"threadId": fmt.Sprintf("waiting-%d", n), "prompt": `use send_email with {"to":"ann@example.com"}`,
		}
		if err := request(ctx, http.MethodPost, p.url+"/api/agent/run", body, nil); err != nil {
			return errors.Join(err, p.stop())
		}
	}
	return errors.Join(p.waiting(ctx), p.stop())
}

// waiting returns when all of [readyWaiting] runs wait.
func (p *spoolProcess) waiting(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < patience; <-tick.C {
		var inbox struct {
			Questions []struct{} `json:"questions"`
		}
		if err := request(ctx, http.MethodGet, p.url+"/api/agent/inbox", nil, &inbox); err != nil {
			return err
		}
		if len(inbox.Questions) == readyWaiting {
			return nil
		}
	}
	return errors.New("the runs do not wait")
}

// fillFinished creates a database of threads with a finished run each.
func fillFinished(ctx context.Context, file string, threads int) error {
	db, err := sqlite.Open(file, nil)
	if err != nil {
		return err
	}
	const writers = 64 // they share commits
	var all sync.WaitGroup
	failures := make([]error, writers)
	for w := range writers {
		all.Go(func() {
			for n := w; n < threads && failures[w] == nil; n += writers {
				failures[w] = fillOne(ctx, db, n)
			}
		})
	}
	all.Wait()
	return errors.Join(errors.Join(failures...), db.Close())
}

func fillOne(ctx context.Context, db *sqlite.DB, n int) error {
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID("finished-" + strconv.Itoa(n))}
	return db.Update(ctx, key, 0, func(tx store.Tx) error {
		run := filledRun(key, 0)
		return tx.Write(store.Changes{
			Thread: &wire.Thread{State: wire.Completed, Title: "A short conversation", Model: "demo", RunID: run},
			NewRuns: []store.RunRow{{Run: wire.Run{
				ID: run, Agent: "assistant", Model: "demo", State: wire.Completed, StopReason: "completed",
				EnqueuedAt: tx.Now(), StartedAt: tx.Now(), EndedAt: tx.Now(), Segments: 1, Steps: 1,
			}}},
			Entries: segmentEntries(run, 1),
			Messages: []*spool.Message{
				{
					ID: spool.MessageID("msg_q_" + strconv.Itoa(n)), RunID: run, Role: spool.RoleUser,
					Content: spool.TextContent(startPrompt),
				},
				{
					ID: spool.MessageID("msg_a_" + strconv.Itoa(n)), RunID: run, Role: spool.RoleAssistant,
					Content: spool.TextContent(startPrompt + startPrompt),
				},
			},
		})
	})
}
