// Package webhook verifies and signs deliveries by the specification Standard Webhooks: an
// HMAC-SHA256 over the id, the time and the body of a message, with a secret that both
// sides have.
//
//	verifier, err := webhook.New(webhook.Config{Secrets: []string{os.Getenv("QUEUE_SECRET")}})
//	...
//	server.New(engine, server.Config{QueueVerifier: verifier, ...})
//
// A message has three headers:
//
//   - webhook-id names the message, and is the same in all attempts to send it
//   - webhook-timestamp is the time of this attempt, in seconds since 1970
//   - webhook-signature has one or more signatures, separated by spaces; one of them must fit
//
// To replace a secret, first add the new one to the receiver, then switch the sender to it, then
// remove the old one from the receiver.
//
// The package knows the symmetric scheme, v1, and ignores signatures of other schemes.
//
// See https://www.standardwebhooks.com.
package webhook
