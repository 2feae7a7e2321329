package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
)

// The paths of probes, below the base path.
const (
	pathHealth = "/healthz"
	pathReady  = "/readyz"
)

// healthy is the answer of a process that answers.
type healthy struct {
	Status string `enum:"ok" json:"status"`
}

// check answers GET /healthz as long as the process answers anything.
func (health) check(context.Context, struct{}) (healthy, error) { return healthy{"ok"}, nil }

// Check reports whether something is as requests need it. An error's message, as of
// [spool.MessageOf], is shown to everybody. It has to return soon after ctx has ended.
type Check func(ctx context.Context) error

const (
	// checkTimeout bounds the checks of one probe.
	checkTimeout = 2 * time.Second
	// checkEvery is how long the outcome of checks holds, so that nobody can wear out the
	// store by asking.
	checkEvery = time.Second
)

// readiness is the answer to a probe. What is wrong is said in words without secrets.
type readiness struct {
	Status string            `doc:"Whether requests may come."                 enum:"ok,unavailable"        json:"status"`
	Checks map[string]string `doc:"What was looked at: ok, or what is wrong."  example:"{\"store\":\"ok\"}" json:"checks"`
	Error  string            `doc:"What is wrong, for a person."               json:"error,omitempty"`
	Code   spool.Code        `doc:"What is wrong, for a program: unavailable." json:"code,omitempty"`
}

// probes carries out checks, all at the same time, and keeps the outcome for a while.
type probes struct {
	checks map[string]Check

	mu      sync.Mutex
	at      time.Time
	outcome map[string]string
}

// look returns what each check says.
func (p *probes) look(ctx context.Context) map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outcome != nil && time.Since(p.at) < checkEvery {
		return maps.Clone(p.outcome)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	type said struct{ name, text string }
	all := make(chan said, len(p.checks))
	for name, check := range p.checks {
		go func() { all <- said{name, verdict(check(ctx))} }()
	}
	p.outcome = make(map[string]string, len(p.checks))
	for name := range p.checks {
		p.outcome[name] = "did not answer in time"
	}
	for range p.checks {
		select {
		case s := <-all:
			p.outcome[s.name] = s.text
			continue
		case <-ctx.Done():
		}
		break
	}
	p.at = time.Now()
	return maps.Clone(p.outcome)
}

func verdict(err error) string {
	if err == nil {
		return "ok"
	}
	return spool.MessageOf(err)
}

// ready answers GET /readyz: 200 while requests may come, else 503 with what is wrong.
func (c health) ready(ctx context.Context, _ struct{}) (readiness, error) {
	checks := c.probes.look(ctx)
	checks["shutdown"] = "ok"
	if c.isDraining() {
		checks["shutdown"] = "the server shuts down"
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if checks[name] != "ok" {
			wrong = append(wrong, name+": "+checks[name])
		}
	}
	if len(wrong) == 0 {
		return readiness{Status: "ok", Checks: checks}, nil
	}
	rest.ResponseOf(ctx).SetStatus(http.StatusServiceUnavailable)
	return readiness{Status: "unavailable", Checks: checks, Error: strings.Join(wrong, "; "), Code: spool.Unavailable}, nil
}

// Drain has GET /readyz say from now on that requests should go elsewhere. Those that come
// all the same are answered as before, until [Server.Shutdown], but none waits any more for the
// end of a run: those that do are answered at once.
func (s *Server) Drain() { s.startDrain() }

func (s *Server) isDraining() bool { return s.drain.Err() != nil }
