//go:build !race

package body_test

// raced says that the race detector is on, under which pools forget on purpose and a process is several times slower.
const raced = false
