package enginetest

import (
	"github.com/spoolhq/spool/spooltest"
)

// Options describes a backend to the suite.
//
// # Processes
//
// A case has several engines over the same data. Each stands for a process. Open makes the data of the case
// and the first process's backend. Join makes the backend of another process. All backends of a case must
// have one Live, or one each that carries items and wake-ups between them. If a backend has no Live, the
// suite gives all processes of the case the same one. Some cases give a process run streams of its own.
//
// # Time
//
// A case runs in a bubble of testing/synctest, where an hour passes as soon as all goroutines of the case
// wait for a timer, a channel or another goroutine of the bubble. So the suite has no call that moves the
// time: timers of the engine, of the workers and of the case move it, and time.Now returns it. The store must
// take every time that it writes or compares from the clock that Open gets: [store.View.Now] is the clock's
// time at the begin of the transaction, to the microsecond. So a database with a clock of its own needs a way
// for tests to send the time with each transaction. An offset that is set once for each connection is not
// enough, because the bubble's time moves by hours within a millisecond and stands still during a request. A
// case takes each time that it compares with a stored one from [store.View.Now].
//
// # Network
//
// A request to a server works in a bubble. The bubble's time stands still until the answer is there, so a
// slow server makes no case fail. The following does not work:
//
//   - A goroutine of the bubble that waits for data from a server that nobody has asked for, such as
//     notifications. The time stands still for ever. Start it outside the bubble, or let Subscribe look for
//     notifications with a timer.
//   - A goroutine from outside that calls into the bubble, such as the callback of Subscribe, or that uses a
//     channel of the bubble. The process panics. So each case needs a connection pool of its own, which Open
//     makes and closes in its Cleanup.
//   - A lock of the database that one goroutine holds while it waits for a timer, and for which another one
//     waits. The time stands still for ever. Remote keeps the suite from such waits.
//
// A backend that cannot keep to this sets RealTime or Skip. The suites of package spooltest test its
// notifications outside bubbles.
type Options struct {
	// Open makes the empty backend of a case. It is called once for each case, in its bubble. Everything that it
	// starts must end in its Cleanup.
	Open spooltest.Open
	// Join opens the data of the case again, for another process. It is called with the t of Open, any number of
	// times. Defaults to the value that Open returned.
	Join spooltest.Open
	// Features says what the backend can do. A durable backend gets fewer crashes and random campaigns.
	Features spooltest.Features
	// Remote says that transactions wait for each other where the bubble cannot see it, as in a database server,
	// or in a file that each process opens for itself. No case then waits for a timer within a transaction.
	// Defaults to false.
	Remote bool
	// RealTime runs the cases without bubbles and with the time of the machine. It skips the cases that need a
	// bubble: those of longCases and exactCases, and the campaigns. Defaults to false.
	RealTime bool
	// PortOnly leaves out the subjects whose cases are rules of the engine, which no store can break that passes the
	// suites of package spooltest. Package engine runs them over the backend in memory. Defaults to false.
	PortOnly bool
	// NoCampaigns is the reason for which the campaigns are skipped, which have many bubbles each. Empty: they
	// run.
	NoCampaigns string
	// Only has the names of the subjects and campaigns that run, such as "Publish". A name that the suite does not
	// have fails the test. Defaults to all.
	Only []string
	// Skip has the reasons for which cases are skipped, by their names, such as "Publish/OneOrder". A name that
	// the suite does not have fails the test. Defaults to none.
	Skip map[string]string
}
