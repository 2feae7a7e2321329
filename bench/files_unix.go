//go:build unix

package main

import (
	"syscall"
	"time"
)

// openFiles returns how many files this process may have open. It raises the limit if it can: a process that
// it starts then has the same one.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	const wanted = manyClients + 1000
	if limit.Cur < wanted {
		raised := syscall.Rlimit{Cur: wanted, Max: max(limit.Max, wanted)}
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised) == nil {
			limit = raised
		}
	}
	return uint64(limit.Cur) //nolint:unconvert // it is signed on some systems
}

// cpuTime returns the CPU time of this process so far.
func cpuTime() time.Duration { return cpuOf(syscall.RUSAGE_SELF) }

// childTime returns the CPU time of the processes for which this one has waited, and of those for which they have.
func childTime() time.Duration { return cpuOf(syscall.RUSAGE_CHILDREN) }

func cpuOf(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
