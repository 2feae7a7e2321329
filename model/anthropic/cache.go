package anthropic

import "slices"

// Cache says how long the provider keeps a prefix of a request. Each use starts the time again.
type Cache string

// The times.
const (
	// CacheShort is five minutes.
	CacheShort Cache = "5m"
	// CacheLong is an hour, at a higher price for writing.
	CacheLong Cache = "1h"
	// CacheOff marks nothing.
	CacheOff Cache = "off"
)

// maxMarks is how many marks the provider takes in a request.
const maxMarks = 4

type cacheControl struct {
	Type string `json:"type"`
	TTL  Cache  `json:"ttl,omitempty"`
}

// control returns the mark of the cache, or nil if requests have no marks.
func (c Cache) control() *cacheControl {
	switch c {
	case CacheOff:
		return nil
	case CacheLong:
		return &cacheControl{Type: "ephemeral", TTL: CacheLong}
	default:
		return &cacheControl{Type: "ephemeral"}
	}
}

// prefix is the end of a prefix of a request: the number of its messages, and of the blocks of the last
// of them.
type prefix struct{ messages, blocks int }

// mark marks the ends of the prefixes that at names, the longest first, at most four. ends[n] is the end of the
// instructions, the tools and the first n messages of the request.
func (b *body) mark(ends []prefix, at []int, control *cacheControl) {
	if control == nil {
		return
	}
	left := maxMarks
	for _, place := range slices.Backward(at) {
		if left == 0 || place < 0 || place >= len(ends) {
			continue
		}
		if b.markPrefix(ends[place], control) {
			left--
		}
	}
}

// markPrefix marks the last block of a prefix that can have a mark. It reports whether that block had none.
func (b *body) markPrefix(end prefix, control *cacheControl) bool {
	for n := end.messages - 1; n >= 0; n-- {
		blocks := b.messages[n].Content
		if n == end.messages-1 {
			blocks = blocks[:end.blocks]
		}
		for _, block := range slices.Backward(blocks) {
			if block.raw == nil && !block.isThinking() {
				return setMark(&block.CacheControl, control)
			}
		}
	}
	switch {
	case len(b.system) > 0:
		return setMark(&b.system[len(b.system)-1].CacheControl, control)
	case len(b.tools) > 0:
		return setMark(&b.tools[len(b.tools)-1].CacheControl, control)
	default:
		return false
	}
}

func setMark(field **cacheControl, control *cacheControl) bool {
	if *field != nil {
		return false
	}
	*field = control
	return true
}
