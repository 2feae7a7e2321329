// Package client is the Go client of a Spool server: the operations of its HTTP surface, and [Client.Follow],
// which follows a thread live for as long as the caller wants.
//
// Follow survives everything that retrying can cure: a server that restarts, a connection that is cut at any
// byte, a proxy that ends streams, a stream that stalls, a token that expires. It resumes at the position of
// the last frame, so the caller gets each frame exactly once.
//
// The package knows the wire and nothing of the engine. Package view turns snapshots and frames into the
// messages, questions and streamed text that a user sees.
//
// Errors are [spool.Error] values with the server's code: see [spool.CodeOf] and [StatusOf]. A refusal that
// the server answers with a result, such as a start on a busy thread, is a result and not an error.
package client
