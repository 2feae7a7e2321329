package config

import "time"

// Queue is the section queue.
type Queue struct {
	// Webhook, QStash, Google and Secret are the schemes that verify deliveries. A nil scheme is not
	// used. If all are nil, nobody may deliver.
	Webhook *Webhook
	QStash  *QStash
	Google  *Google
	Secret  *Secret
	// Push says where the process pushes its jobs. If it is nil, the process executes them.
	Push *Push
}

// Push is queue.push.
type Push struct {
	Source

	URL     string
	Secrets []string
	// Headers are sent with each push. Their values may be secrets.
	Headers map[string]string
	// Concurrency is how many jobs are pushed at once, or zero if the file has none.
	Concurrency int
}

// Webhook is queue.verify.webhook.
type Webhook struct {
	Source

	Secrets []string
	// Tolerance is zero if the file has none.
	Tolerance time.Duration
}

// QStash is queue.verify.qstash.
type QStash struct {
	Source

	URL                 string
	CurrentKey, NextKey string
}

// Google is queue.verify.google.
type Google struct {
	Source

	Audience        string
	ServiceAccounts []string
}

// Secret is queue.verify.secret.
type Secret struct {
	Source

	Secrets []string
	// Header is empty if the file has none.
	Header string
}

func queue(v value) Queue {
	if !v.present() {
		return Queue{}
	}
	top := v.fields("verify", "push")
	verify := top["verify"]
	f := verify.fields("webhook", "qstash", "google", "secret")
	var q Queue
	if s := f["webhook"]; s.present() {
		w := s.fields("secrets", "tolerance")
		q.Webhook = &Webhook{Source: s.source(), Secrets: w["secrets"].words(), Tolerance: w["tolerance"].duration()}
	}
	if s := f["qstash"]; s.present() {
		w := s.fields("url", "current_key", "next_key")
		q.QStash = &QStash{Source: s.source(), CurrentKey: w["current_key"].text(), NextKey: w["next_key"].text()}
		if w["url"].required() {
			q.QStash.URL = w["url"].url()
		}
	}
	if s := f["google"]; s.present() {
		w := s.fields("audience", "service_accounts")
		q.Google = &Google{Source: s.source(), ServiceAccounts: w["service_accounts"].words()}
		if w["audience"].required() {
			q.Google.Audience = w["audience"].word()
		}
	}
	if s := f["secret"]; s.present() {
		w := s.fields("secrets", "header")
		q.Secret = &Secret{Source: s.source(), Secrets: w["secrets"].words(), Header: w["header"].text()}
	}
	// The author of the section does not mean that nobody may deliver.
	if verify.required() && q == (Queue{}) && !verify.complained() {
		verify.problemf("names none of webhook, qstash, google, secret")
	}
	q.Push = push(top["push"])
	return q
}

func push(v value) *Push {
	if !v.present() {
		return nil
	}
	f := v.fields("url", "secrets", "headers", "concurrency")
	p := &Push{Source: v.source(), Secrets: f["secrets"].words(), Concurrency: f["concurrency"].integer()}
	for _, e := range f["headers"].entries() {
		if !e.present() {
			e.problemf("must be text")
		}
		if p.Headers == nil {
			p.Headers = make(map[string]string)
		}
		p.Headers[e.name] = e.text()
	}
	if f["url"].required() {
		p.URL = f["url"].url()
	}
	return p
}

// words returns a required list of words, which must not be empty.
func (v value) words() []string {
	if !v.required() {
		return nil
	}
	return v.optionalWords()
}

// optionalWords returns a list of words that must not be empty if it exists.
func (v value) optionalWords() []string {
	var out []string
	for _, item := range v.items() {
		out = append(out, item.word())
	}
	if v.present() && len(out) == 0 && !v.complained() {
		v.problemf("is empty")
	}
	return out
}
