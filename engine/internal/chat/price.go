package chat

import "github.com/spoolhq/spool"

// guessTokens estimates the tokens of content from the length of its stored form, because a provider charges
// for encrypted reasoning too.
func guessTokens(c spool.Content) int64 {
	if len(c) == 0 {
		return 0
	}
	text, err := c.MarshalStored()
	if err != nil {
		return 0
	}
	return int64(len(text)+3) / 4
}
