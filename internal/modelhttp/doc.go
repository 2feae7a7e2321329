// Package modelhttp has what the adapters of model providers share: a client that does not follow redirects,
// a timer for silent servers, the redaction of secrets, and the reading of Retry-After.
package modelhttp
