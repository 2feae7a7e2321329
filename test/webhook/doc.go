// Package webhook has the libraries of Standard Webhooks read what Spool delivers: those in Go, in TypeScript and in
// Python, as receivers use them.
package webhook
