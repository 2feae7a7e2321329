// Package verify has the verifiers of queue deliveries below it, one package to a scheme,
// and puts several of them together.
//
//   - webhook: Standard Webhooks, an HMAC over id, time and body, and its signer
//   - qstash: the token of Upstash QStash, over URL, time and body
//   - google: the OpenID Connect token of Google Cloud, over sender, receiver and time
//   - secret: a shared secret in a header
//
// Each has a New that refuses a configuration which would let anybody through, and a
// Verifier to give to server.Config. Each judges the headers before the server reads the
// body: webhook the id, the time and the form of the signatures, qstash all but whether the
// body is the one that was signed, google and secret everything. A queue delivers at least once and in any order, and
// so may whoever repeats what a queue has signed. All of that is harmless: a job is a
// ticket for a run, and carries it no further than once.
package verify
