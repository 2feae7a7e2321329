//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/internal/testing/testserver"
	"github.com/spoolhq/spool/wire"
)

// limitsOptions say how the limit of a provider is tested.
type limitsOptions struct {
	// Duration is how long there is work, at least two minutes. The first minute is not judged.
	Duration time.Duration
	// Workers is how many processes share the limit of RPM requests in any minute.
	Workers, RPM int
	// Progress gets a line every minute.
	Progress io.Writer
}

const (
	// leastUsed is the part of the quota that must be used.
	leastUsed = 0.95
	// waitingRuns is how many runs there are at the same time for each worker.
	waitingRuns = 4
)

// limitsReport is the result.
type limitsReport struct {
	limitsOptions

	// Requests were made in the Minutes that are judged, Refused and Most in all of them.
	Requests, Refused, Most, Senders int
	Minutes                          float64
	Completed                        int
	Failure                          string
}

// used returns the part of the quota that was used.
func (r limitsReport) used() float64 {
	return float64(r.Requests) / (float64(r.RPM) * r.Minutes)
}

func (r limitsReport) String() string {
	return fmt.Sprintf("%d workers, %d requests a minute allowed, %.0f minutes after the first: %d requests, %.1f %% of the quota; "+
		"%d in the fullest sliding minute, %d answered with 429; %d runs completed by %d workers\n",
		r.Workers, r.RPM, r.Minutes, r.Requests, 100*r.used(), r.Most, r.Refused, r.Completed, r.Senders)
}

// err returns what the result violates.
func (r limitsReport) err() error {
	switch {
	case r.Failure != "":
		return errors.New(r.Failure)
	case r.Refused > 0 || r.Most > r.RPM:
		return fmt.Errorf("%d requests were refused, and %d were in one minute", r.Refused, r.Most)
	case r.used() < leastUsed:
		return fmt.Errorf("only %.1f %% of the quota was used", 100*r.used())
	case r.Senders != r.Workers:
		return fmt.Errorf("only %d of %d workers have sent requests", r.Senders, r.Workers)
	default:
		return nil
	}
}

// runLimits lets processes of "spool serve --role worker" share the limit of a strict provider.
func runLimits(ctx context.Context, o limitsOptions) (limitsReport, error) {
	r := limitsReport{limitsOptions: o}
	dir, err := os.MkdirTemp("", "spool-limits-*")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	binary, err := buildSpool(ctx, dir)
	if err != nil {
		return r, err
	}
	db, err := startDatabase(ctx)
	if err != nil {
		return r, err
	}
	defer db.close()
	provider := &strictProvider{rpm: o.RPM, by: make(map[string]int)}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return r, err
	}
	h := &http.Server{Handler: provider, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = h.Serve(listener) }()
	defer h.Close()

	s := &spoolProcesses{
		binary: binary, dir: dir, database: db.url("spool"), model: "http://" + listener.Addr().String() + "/v1", rpm: o.RPM,
	}
	defer s.close()
	api, err := s.start(ctx, "api", "api")
	for i := 0; err == nil && i < o.Workers; i++ {
		_, err = s.start(ctx, fmt.Sprintf("w%d", i+1), "worker")
	}
	if err != nil {
		return r, err
	}
	c, err := client.New(api, client.Options{})
	if err != nil {
		return r, err
	}
	return measureLimits(ctx, r, c, provider)
}

// measureLimits gives the workers more runs than the limit allows, and counts the requests.
func measureLimits(
	ctx context.Context, r limitsReport, c *client.Client, provider *strictProvider,
) (limitsReport, error) {
	began := time.Now()
	working, stop := context.WithDeadline(ctx, began.Add(r.Duration))
	defer stop()
	var users sync.WaitGroup
	var completed atomic.Int64
	var failure atomic.Value
	for i := range waitingRuns * r.Workers {
		users.Go(func() {
			for n := 0; working.Err() == nil; n++ {
				if err := oneRun(working, c, fmt.Sprintf("t%d-%d", i, n)); err == nil {
					completed.Add(1)
				} else if working.Err() == nil {
					failure.CompareAndSwap(nil, err.Error())
					stop()
				}
			}
		})
	}
	for at := began.Add(time.Minute); sleep(working, time.Until(at)); at = at.Add(time.Minute) {
		refused, most, _ := provider.totals()
		_, _ = fmt.Fprintf(r.Progress, "minute %2.0f: %d requests, most in any minute %d, refused %d\n",
			at.Sub(began).Minutes(), provider.between(at.Add(-time.Minute), at), most, refused)
	}
	ended := time.Now()
	users.Wait()
	r.Requests = provider.between(began.Add(time.Minute), ended)
	r.Minutes = ended.Sub(began.Add(time.Minute)).Minutes()
	r.Refused, r.Most, r.Senders = provider.totals()
	r.Completed = int(completed.Load())
	r.Failure, _ = failure.Load().(string)
	return r, ctx.Err()
}

// oneRun starts a run of one model call and waits until it has ended.
func oneRun(ctx context.Context, c *client.Client, id string) error {
	_, err := c.Run(ctx, client.RunRequest{
		ThreadID: spool.ThreadID(id), RunID: spool.RunID(id), IdempotencyKey: id, Prompt: "Hello",
	})
	if err != nil {
		return err
	}
	out, err := c.Await(ctx, spool.RunID(id))
	if err == nil && out.State != wire.Completed {
		err = fmt.Errorf("run %s ended as %s: %s", id, out.State, out.Error)
	}
	return err
}

// buildSpool builds the binary from the module that this one replaces.
func buildSpool(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "spool")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/spool")
	cmd.Dir, cmd.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0", "GOWORK=") // as it is released
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build spool (in the folder test/chaos of the repository): %w: %s", err, out)
	}
	return binary, nil
}

// spoolProcesses are processes of "spool serve" over one database.
type spoolProcesses struct {
	binary, dir, database, model string
	rpm                          int
	running                      []*exec.Cmd
}

const limitsConfig = `models:
  x: {provider: openai, model: strict, base_url: %q, api_key: key-of-the-team, headers: {%s: %q}, limits: {rpm: %d}}
agents: {a: {model: x}}
`

// start starts a process and returns its address when it is ready.
func (s *spoolProcesses) start(ctx context.Context, name, role string) (string, error) {
	config := filepath.Join(s.dir, name+".yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, limitsConfig, s.model, workerHeader, name, s.rpm), 0o600); err != nil {
		return "", err
	}
	log, err := os.Create(filepath.Join(s.dir, name+".log"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	cmd := exec.Command(s.binary, "serve", "--role", role, "--listen", "127.0.0.1:0", "--database", s.database,
		"--config", config, "--data", filepath.Join(s.dir, name))
	cmd.Env = append(os.Environ(), "SPOOL_TOKEN=", "SPOOL_DATABASE_POOL=5")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = testserver.OwnGroup(syscall.SIGKILL)
	testserver.OnLastingThread(func() { err = cmd.Start() })
	if err != nil {
		return "", err
	}
	s.running = append(s.running, cmd)
	for ctx, cancel := context.WithTimeout(ctx, time.Minute); ; {
		text, err := os.ReadFile(log.Name())
		if _, rest, ok := strings.Cut(string(text), "spool listens on "); ok && strings.Contains(rest, "\n") {
			cancel()
			address, _, _ := strings.Cut(rest, "\n")
			return address, nil
		}
		if !sleep(ctx, 50*time.Millisecond) {
			cancel()
			return "", errors.Join(fmt.Errorf("%s does not listen: %s", name, text), err)
		}
	}
}

// close ends all processes.
func (s *spoolProcesses) close() {
	for _, cmd := range s.running {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
