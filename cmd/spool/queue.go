package main

import (
	"errors"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/server/verify/google"
	"github.com/spoolhq/spool/server/verify/qstash"
	"github.com/spoolhq/spool/server/verify/secret"
	"github.com/spoolhq/spool/server/verify/webhook"
)

// newVerifier makes the verifier of queue deliveries, nil when the configuration has none,
// and names its schemes.
func newVerifier(q config.Queue) (server.QueueVerifier, []description, error) {
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

// fieldNames puts the fields of a verifier's Config into the words of the file.
var fieldNames = strings.NewReplacer(
	"Secrets", "secrets", "CurrentKey", "current_key", "NextKey", "next_key",
	"ServiceAccounts", "service_accounts", "Header", "header",
)
