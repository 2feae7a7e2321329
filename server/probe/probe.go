// Package probe has the probes of liveness and readiness. It knows nothing of the engine.
package probe

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

// The paths of the probes, below the base path.
const (
	PathHealth = "/healthz"
	PathReady  = "/readyz"
)

// Healthy is the answer of a process that answers.
type Healthy struct {
	Status string `enum:"ok" json:"status"` // Always ok.
}

// Health answers as long as the process answers requests at all.
func (*Controller) Health(context.Context, struct{}) (Healthy, error) { return Healthy{"ok"}, nil }

// Check reports whether something is as requests need it. An error's message, as of
// [spool.MessageOf], is shown to everybody. It has to return soon after ctx has ended.
type Check func(ctx context.Context) error

const (
	// checkTimeout bounds the checks of one probe.
	checkTimeout = 2 * time.Second
	// checkEvery is how long the outcome of checks is kept, so that probes cannot overload the
	// store.
	checkEvery = time.Second
)

// Readiness is the answer to a probe. What is wrong is said in words without secrets.
type Readiness struct {
	// Status is whether the process is ready for requests.
	Status string `enum:"ok,unavailable" json:"status"`
	// Checks are the checks, each with ok or with what is wrong.
	Checks map[string]string `example:"{\"store\":\"ok\"}" json:"checks"`
	Error  string            `json:"error,omitempty"` // The error, for a person.
	Code   spool.Code        `json:"code,omitempty"`  // The error's code: unavailable.
}

// Controller has the endpoints. It executes checks, all at the same time, and keeps the outcome for a
// while. It is safe for concurrent use.
type Controller struct {
	checks map[string]Check
	// draining ends when requests should go elsewhere.
	draining context.Context //nolint:containedctx // the lifetime of the server

	mu      sync.Mutex
	at      time.Time
	outcome map[string]string
}

// New returns probes with these checks.
func New(checks map[string]Check, draining context.Context) *Controller { //nolint:revive // it is no call's
	return &Controller{checks: checks, draining: draining}
}

// look returns what each check says.
func (p *Controller) look(ctx context.Context) map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outcome != nil && time.Since(p.at) < checkEvery {
		return maps.Clone(p.outcome)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	type checkText struct{ name, text string }
	all := make(chan checkText, len(p.checks))
	for name, check := range p.checks {
		go func() { all <- checkText{name, verdict(check(ctx))} }()
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

// Whether the process is ready for requests, and the checks: the store, the worker if the process has one, and whether
// the process shuts down. The result is up to one second old.
func (p *Controller) Ready(ctx context.Context, _ struct{}) (Readiness, error) {
	checks := p.look(ctx)
	checks["shutdown"] = "ok"
	if p.draining.Err() != nil {
		checks["shutdown"] = "the server shuts down"
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if checks[name] != "ok" {
			wrong = append(wrong, name+": "+checks[name])
		}
	}
	if len(wrong) == 0 {
		return Readiness{Status: "ok", Checks: checks}, nil
	}
	rest.ResponseOf(ctx).SetStatus(http.StatusServiceUnavailable)
	return Readiness{Status: "unavailable", Checks: checks, Error: strings.Join(wrong, "; "), Code: spool.Unavailable}, nil
}
