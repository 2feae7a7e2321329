// Package google verifies deliveries of Google Cloud (Cloud Tasks, Cloud Scheduler,
// Pub/Sub push with its payload unwrapped), which bear an OpenID Connect token of a service
// account.
//
//	verifier, err := google.New(google.Config{
//		Audience:        "https://agents.example.com/api/queue/agent-run",
//		ServiceAccounts: []string{"tasks@project.iam.gserviceaccount.com"},
//	})
//
// The token says who sends, and nothing about what: whoever reads a delivery on its way can
// send others for as long as the token lives, which is an hour. Deliveries must come over
// TLS.
//
// Google's keys are loaded with the first delivery and kept. A key that is not known makes
// them be loaded again, but no more often than every 10 seconds, whatever is sent; and while
// Google cannot be reached, those that are there are used for a day.
package google
