// Package spooltest helps to test programs that use Spool: agents and their tools, and backends, models
// and other adapters that implement [store.Store], [store.Live] or [spool.Model].
//
// To test an agent, give an engine a [Model] that answers what the test says, over the backend of
// package [github.com/spoolhq/spool/backend/memory]. In a bubble of testing/synctest, waiting for a
// lease to lapse or a park to expire takes no time.
//
// A [History] records what the store, the clients and the tools have seen, and [Check] reports what
// must never happen: a gap in the record, a tool call with two effects, text on a screen that was never
// saved, a run without an end. [Faulty] wraps an engine's backend, and fails, hangs or kills the
// process at the call that the test names.
//
// The suites [TestStore], [TestQueue], [TestLive] and [TestModel] define what an adapter is: a store must pass
// the first two, and another adapter the suite of its port.
package spooltest
