package chat

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
)

// guessTokens estimates the tokens of an answer. A provider charges for reasoning too, which it may only send
// encrypted.
func guessTokens(c spool.Content) (tokens int64) {
	for _, p := range c {
		tokens += history.Written(p)
	}
	return tokens
}
