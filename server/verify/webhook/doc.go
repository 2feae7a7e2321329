// Package webhook verifies and signs deliveries as Standard Webhooks describes it: an
// HMAC-SHA256 over the id, the time and the body of a message, with a secret that both
// sides have.
//
//	verifier, err := webhook.New(webhook.Config{Secrets: []string{os.Getenv("QUEUE_SECRET")}})
//	...
//	server.New(engine, server.Config{QueueVerifier: verifier, ...})
//
// A message has three headers. webhook-id names it, and is the same each time that it is
// sent; webhook-timestamp is the time of this attempt in seconds since 1970;
// webhook-signature has one signature or more with spaces between them, of which one has
// to fit. To replace a secret, let the receiver know both, then let the sender use the new
// one, then let the receiver forget the old one.
//
// Only the symmetric scheme, v1, is known. Signatures of other schemes are passed over.
//
// See https://www.standardwebhooks.com.
package webhook
