// Package nats lets the processes of one shared store work together over NATS. It needs a NATS server of
// version 2.10 or later (its tests use 2.15), and a connection that reconnects for ever, as [Connect] makes it.
//
// The store stays the only truth. [Live] is a [store.Live] over core NATS: run streams and wake-ups, which
// may be lost. [Tickets] sends the jobs of a store through a work queue of JetStream, which fans them out to
// workers. A program can use either without the other. Without NATS, runs go on: see below.
//
// # Run streams
//
// The process that opens a run stream owns it, and keeps it in its memory. Other processes ask the owner by
// request and reply, on a subject of the stream. The server answers at once if nobody listens on the subject:
// then the stream is gone, as after the death of its owner, and readers get a snapshot.
//
// This has four reasons. An append is a write to memory: it neither fails nor waits when NATS is away, so a
// segment never loses its stream to the network. One process decides which offset comes next, so a writer
// with an old fence is refused. A stream that nobody elsewhere reads costs the network nothing but wake-ups.
// A reader that comes late reads what is there, and needs no copy from the start.
//
// Two other designs were weighed. Items in a stream of JetStream survive their writer, and a check of the last
// sequence refuses an old writer. But then each flush waits for the server, an outage breaks the streams of
// all runs, and the age of an item, not the end of the segment, decides when it goes. What survives is worth
// little: the store has every finished step, and followers drop the items of an unfinished one. Items that
// are published to all followers need a copy of the stream in each process, a way to repair gaps, and a way to
// get the beginning; that is request and reply again, beside the rest.
//
// # When NATS is away
//
// Runs go on, and followers in a run's own process see everything. A follower elsewhere waits up to
// [LiveOptions.Patience], then gets a snapshot, and sees the record by polling. A stream that a process has lost
// in the middle stays gone for it, because an engine takes the end of such a segment from the saved messages. All
// other streams are there again after the reconnect, when each subscriber of the process is woken once.
//
// Tickets stay in the store, without losing attempts. A ticket that NATS has lost is made good by the sweep of
// the workers: a run that has neither a worker nor a job gets a new ticket.
package nats
