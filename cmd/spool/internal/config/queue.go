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

func queueOptions(q *Queue) table {
	return table{
		row("verify", required(fields(verifyOptions(q)).then(func(v value) {
			// The author of the section does not mean that nobody may deliver.
			if q.Webhook == nil && q.QStash == nil && q.Google == nil && q.Secret == nil && !v.complained() {
				v.problemf("names none of webhook, qstash, google, secret")
			}
		})), "How a delivery proves that it comes from the queue."),
		row("push", optional(&q.Push, pushOptions), "Push jobs to another server instead of executing them here."),
	}
}

// verifyOptions are the schemes that verify deliveries.
func verifyOptions(q *Queue) table {
	return table{
		row("webhook", optional(&q.Webhook, func(w *Webhook) table {
			return table{
				row("secrets", required(words(&w.Secrets)), "Base64 of 24 bytes or more, with or without whsec_."),
				row("tolerance", duration(&w.Tolerance), "How old, or how far ahead, a signature may be. Default: 5m."),
			}
		}), "Signatures of Standard Webhooks."),
		row("qstash", optional(&q.QStash, func(s *QStash) table {
			return table{
				row("url", required(httpURL(&s.URL)), "Exactly the URL that QStash delivers to."),
				row("current_key", text(&s.CurrentKey), "A signing key. One of the two is required."),
				row("next_key", text(&s.NextKey), "The next signing key."),
			}
		}), "Signatures of QStash."),
		row("google", optional(&q.Google, func(g *Google) table {
			return table{
				row("audience", required(word(&g.Audience)), "The audience of the tokens."),
				row("service_accounts", required(words(&g.ServiceAccounts)),
					"Email addresses of the service accounts that may deliver."),
			}
		}), "Tokens of Google Cloud Tasks."),
		row("secret", optional(&q.Secret, func(s *Secret) table {
			return table{
				row("secrets", required(words(&s.Secrets)), "16 characters or more."),
				row("header", text(&s.Header), "The header that has the secret. Default: Authorization."),
			}
		}), "A shared secret in a header."),
	}
}

func pushOptions(p *Push) table {
	return table{
		row("url", required(httpURL(&p.URL)), "The URL that jobs are pushed to."),
		row("secrets", required(words(&p.Secrets)), "Secrets that sign each push, like those of webhook."),
		row("headers", textsByName(&p.Headers, func(e entry) {
			if !e.present() {
				e.problemf("must be text")
			}
		}), "Headers of each push, such as a queue's key. They are never logged."),
		row("concurrency", integer(&p.Concurrency), "Pushes at a time. Default: 16."),
	}
}
