package wire

import (
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

// Ids name things on the wire and in storage. Callers may choose thread, run and
// client message ids; [spool.CheckID] says which strings are allowed.
type (
	// StreamID names the run stream of one segment: "<runId>:<segment>".
	StreamID string
)

// NewStreamID returns the id of the stream of a run's n-th segment, n from 1.
func NewStreamID(run spool.RunID, segment int) StreamID {
	return StreamID(string(run) + ":" + strconv.Itoa(segment))
}

// Split returns the run and segment in the id. It reports false if the id is not that of a stream.
func (s StreamID) Split() (run spool.RunID, segment int, ok bool) {
	at := strings.LastIndexByte(string(s), ':')
	if at < 1 {
		return "", 0, false
	}
	n, err := strconv.Atoi(string(s[at+1:]))
	if err != nil || n < 1 || strconv.Itoa(n) != string(s[at+1:]) {
		return "", 0, false
	}
	return spool.RunID(s[:at]), n, true
}
