// Package aisdk speaks the UI message stream of the AI SDK, which its useChat reads. It writes the changes of
// package projection as chunks, turns saved threads into UI messages, and reads what a client posts.
//
// The assistant's message of a run has the run's id, so a stream that replays the run replaces what a client
// has of it. Version 6 refuses chunks that it does not know and so gets a smaller set: see [Version].
package aisdk
