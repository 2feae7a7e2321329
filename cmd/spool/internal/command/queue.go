package command

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/relay"
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/server/verify/google"
	"github.com/spoolhq/spool/server/verify/qstash"
	"github.com/spoolhq/spool/server/verify/secret"
	"github.com/spoolhq/spool/server/verify/webhook"
)

// newVerifier returns the verifier of queue deliveries, or nil if the configuration has none, and the
// names of its schemes.
func newVerifier(q config.Queue) (verify.Verifier, []description, error) {
	var (
		verifiers []verify.Verifier
		names     []description
		problems  []error
	)
	add := func(name string, source config.Source, v verify.Verifier, err error) {
		if err != nil {
			problems = append(problems, source.Errorf("%s", fieldNames.Replace(spool.MessageOf(err))))
		}
		verifiers, names = append(verifiers, v), append(names, description{name: name})
	}
	if c := q.Webhook; c != nil {
		v, err := webhook.New(webhook.Config{Secrets: c.Secrets, Tolerance: c.Tolerance})
		add("webhook", c.Source, v, err)
	}
	if c := q.QStash; c != nil {
		v, err := qstash.New(qstash.Config{URL: c.URL, CurrentKey: c.CurrentKey, NextKey: c.NextKey})
		add("qstash", c.Source, v, err)
	}
	if c := q.Google; c != nil {
		v, err := google.New(google.Config{Audience: c.Audience, ServiceAccounts: c.ServiceAccounts})
		add("google", c.Source, v, err)
	}
	if c := q.Secret; c != nil {
		v, err := secret.New(secret.Config{Secrets: c.Secrets, Header: c.Header})
		add("secret", c.Source, v, err)
	}
	if len(problems) > 0 || len(verifiers) == 0 {
		return nil, nil, errors.Join(problems...)
	}
	return verify.Any(verifiers...), names, nil
}

// pushSweep is how often a process that pushes jobs looks for active runs without a worker and without
// a job. A run whose job waits in the external queue counts as such a run, and is pushed again.
const pushSweep = time.Minute

// push configures the process to push its jobs instead of executing them.
func (s *setup) push(p *config.Push) error {
	if p == nil {
		return nil
	}
	header := make(http.Header, len(p.Headers))
	for name, value := range p.Headers {
		header[name] = []string{value} // under the name as the author wrote it, for error messages
	}
	r, err := relay.New(relay.Config{URL: p.URL, Secrets: p.Secrets, Header: header})
	if err != nil {
		return p.Errorf("%s", fieldNames.Replace(spool.MessageOf(err)))
	}
	s.engine.Worker.SweepEvery = pushSweep
	s.work.Concurrency, s.work.Deliver = p.Concurrency, r.Deliver
	s.pushed = hostOf(p.URL)
	return nil
}

// fieldNames replaces names of Config fields of a verifier, or of the relay, by names of the file.
var fieldNames = strings.NewReplacer(
	"URL must have a host", "url must have a host", "Secrets", "secrets", "CurrentKey", "current_key", "NextKey",
	"next_key",
	"ServiceAccounts", "service_accounts", "Header", "header",
)
