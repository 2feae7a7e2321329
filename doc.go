// Package spool has what an author of agents and tools needs: agents, tools, models, messages, files and errors. It has
// the words of durable agent runs, and nothing in it executes. Package engine has the machinery, package server the
// HTTP surface, package wire what clients read and write, and package store the port of a database.
//
// A thread is a conversation. A run is one dispatched attempt to advance it, and a thread has at most one
// active run. Workers execute a run in segments: the first after the start, one after each park, and one
// after each failure. In a segment the run advances by steps, one model round trip each. Durable facts are
// entries of the thread's record, which have gap-free sequence numbers. Content that only live viewers need
// goes to the segment's run stream.
//
// # Tenancy
//
// Every operation takes a [ThreadKey], and the tenant is a part of every key that a backend stores. Run ids
// are unique in a tenant.
package spool
