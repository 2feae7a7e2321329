package form

import "github.com/spoolhq/spool"

// The size of a row without its long texts, in bytes. It includes the row's entries in indexes and its dependent rows
// (of waits, effects and the ledger).
const (
	ThreadSize  = 1 << 10
	RunSize     = 1 << 10
	EntrySize   = 256
	DeltaSize   = 128
	messageSize = 256
)

// sizeLag bounds how many bytes of a thread may be missing from its tenant's sum while a run is active. So neither
// the start of a run nor its steps have to write the sum.
const sizeLag = 16 << 10

// MessageSize returns the size of a message with its stored content. The result of a call is stored twice, because
// its effect has it too.
func MessageSize(role spool.Role, content []byte) int {
	if role == spool.RoleTool {
		return messageSize + 2*len(content)
	}
	return messageSize + len(content)
}

// SumsSize reports whether a transaction adds a thread's growth since the last sum to the tenant's sum: if there is
// growth, and either the run has ended or the growth is large.
func SumsSize(growth int64, ended bool) bool {
	if growth == 0 {
		return false
	}
	return ended || growth >= sizeLag || growth <= -sizeLag
}
