// Package spooltest is for the tests of programs that use Spool: of agents and their tools, and
// of backends, models and other adapters behind the ports of package spool.
//
// To test an agent, give an engine a [Model] that answers what the test says, over the backend of
// package [github.com/spoolhq/spool/backend/memory]. Nothing sleeps in a bubble of testing/synctest,
// where a lease that lapses or a park that expires takes no time.
//
// A [History] remembers what the store, the clients and the tools have seen, and [Check] reports
// what must never happen: a gap in the record, a tool call with two effects, text on a screen that
// was never saved, a run without an end. [Faulty] stands between an engine and its backend and
// fails, hangs or kills the process at the call that the test names.
//
// An adapter passes the suite of each port that it implements: [TestStore], [TestQueue],
// [TestStreams], [TestBus], [TestModel]. Passing them is what it means to be one.
package spooltest
