// Package spooltest helps to test what is built on the ports of package spool, and the
// adapters behind them.
//
// An adapter runs the suite of each port that it implements: [TestStore], [TestQueue],
// [TestStreams], [TestBus]. Passing them is what it means to be one.
//
// An application, or the engine itself, is tested over the backend of package
// [github.com/spoolhq/spool/backend/memory], with a [Model] that says what the test wants. [Faulty] stands
// between an engine and its backend and fails the call that it is told to, so that a test
// can kill a process at each of its steps.
package spooltest
