// Package google verifies deliveries of Google Cloud (Cloud Tasks, Cloud Scheduler,
// Pub/Sub push with its payload unwrapped). They have an OpenID Connect token of a service
// account.
//
//	verifier, err := google.New(google.Config{
//		Audience:        "https://agents.example.com/api/queue/agent-run",
//		ServiceAccounts: []string{"tasks@project.iam.gserviceaccount.com"},
//	})
//
// The token proves the sender and not the body: an attacker who reads one delivery on its way can
// send others until the token expires after one hour. Deliveries must come over TLS.
//
// The verifier loads Google's keys with the first delivery and keeps them. It loads them again when a
// token needs an unknown key, but at most every 10 seconds, whatever callers send. While Google
// cannot be reached, it uses the old keys for up to one day.
package google
