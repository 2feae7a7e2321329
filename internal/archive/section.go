package archive

import (
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// AuditRange returns the first and the last seq of a section of the audit log. For a wrong name it is empty.
func AuditRange(s store.Section) (first, last int64) {
	n, err := strconv.ParseInt(s.Name, 10, 32)
	if err != nil || n < 0 {
		return 1, 0
	}
	return n*AuditEntries + 1, (n + 1) * AuditEntries
}

// TokensOf returns the tokens of a run.
func TokensOf(run *Table, values []any) spool.TokenCount {
	return spool.TokenCount{
		InputTokens: run.IntOf(values, "input_tokens"), CachedInputTokens: run.IntOf(values, "cached_input_tokens"),
		OutputTokens: run.IntOf(values, "output_tokens"), TotalTokens: run.IntOf(values, "total_tokens"),
	}
}
