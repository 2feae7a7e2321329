package demo

import (
	"strings"

	"github.com/spoolhq/spool"
)

// counts is the usage of one answer. A word counts as a token.
type counts struct{ input, cacheRead, cacheWrite, output, reasoning int64 }

// promptUsage counts a request. It imitates a provider that caches: messages before the user's last
// prompt count as read from the cache, and the others as written to it.
func promptUsage(r spool.ModelRequest) counts {
	var c counts
	c.input = words(r.Instructions)
	for _, t := range r.Tools {
		c.input += words(t.Name) + words(t.Description) + words(string(t.Parameters))
	}
	last := -1
	for i, m := range r.Messages {
		if m.Role == spool.RoleUser {
			last = i
		}
	}
	for i, m := range r.Messages {
		if i == last && i > 0 {
			c.cacheRead = c.input
		}
		c.input += messageWords(m)
	}
	c.cacheWrite = c.input - c.cacheRead
	return c
}

func (c counts) usage() spool.Usage {
	return spool.Usage{
		Input:      &c.input,
		CacheRead:  &c.cacheRead,
		CacheWrite: &c.cacheWrite,
		Output:     &c.output,
		Reasoning:  &c.reasoning,
	}
}

func messageWords(m spool.Message) int64 {
	var n int64
	for _, p := range m.Content {
		n += words(p.Text) + words(p.ToolName) + words(string(p.Args)) + words(string(p.Result))
		if p.Image != "" || p.File != "" {
			n++
		}
	}
	return n
}

func words(text string) int64 { return int64(len(strings.Fields(text))) }
