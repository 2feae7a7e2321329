//go:build !unix

package main

import "time"

// cpuTime returns the time, as the CPU time is not known here.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
