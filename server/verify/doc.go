// Package verify declares what a verifier of queue deliveries does, and combines several verifiers.
// The packages below it implement one scheme each:
//
//   - webhook: Standard Webhooks, an HMAC over id, time and body, and its signer
//   - qstash: the token of Upstash QStash, over URL, time and body
//   - google: the OpenID Connect token of Google Cloud, over sender, receiver and time
//   - secret: a shared secret in a header
//
// Each has a Verifier for server.Config, and a New that refuses a configuration which would let
// anybody through. Each judges the headers before the server reads the body: webhook checks the id,
// the time and the form of the signatures; qstash checks everything except whether the signature is
// for this body; google and secret check everything.
//
// A queue may deliver a job several times and in any order, and an attacker may repeat a signed
// delivery. Both are harmless: each step of a run happens once, however often its job is delivered.
package verify
