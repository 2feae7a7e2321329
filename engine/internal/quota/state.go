package quota

import (
	"cmp"
	"maps"
	"slices"
)

// state is the value of a group's row. Its times are milliseconds of the store's clock since 1970.
type state struct {
	// ClosedUntil is the time from which the provider takes requests again.
	ClosedUntil int64 `json:"closedUntil,omitempty"`
	// Refusals counts the times that the provider refused requests and did not say for how long, since
	// its last answer.
	Refusals int `json:"refusals,omitempty"`
	// Past has the reported starts and tokens, the oldest first.
	Past []count `json:"past,omitempty"`
	// Holders are the engines by their ids.
	Holders map[string]holder `json:"holders,omitempty"`
}

// count is a number of starts with their tokens. At is the time of the last one.
type count struct {
	At     int64 `json:"at"`
	Starts int64 `json:"starts,omitempty"`
	Tokens int64 `json:"tokens,omitempty"`
}

// holder is what an engine holds and asks for.
type holder struct {
	// Until is the end of the holder's lease.
	Until int64 `json:"until"`
	// Report is the number of its last report.
	Report int64 `json:"report,omitempty"`
	// Grants are unreported starts. At is the time from which they may be used.
	Grants []count `json:"grants,omitempty"`
	// Slots is the most requests that the holder may have under way.
	Slots int64 `json:"slots,omitempty"`
	// Since is when the call began to wait that has waited longest. Zero: none waits.
	Since int64 `json:"since,omitempty"`
	// Tokens are the tokens of that call.
	Tokens int64 `json:"tokens,omitempty"`
	// Slotted means that the call waits for a start alone.
	Slotted bool `json:"slotted,omitempty"`
}

func (h holder) equal(o holder) bool {
	return h.Report == o.Report && slices.Equal(h.Grants, o.Grants) && h.Slots == o.Slots && h.Since == o.Since &&
		h.Tokens == o.Tokens && h.Slotted == o.Slotted
}

// clone returns a state that shares no memory that expire or serve write to.
func (s *state) clone() state {
	c := *s
	c.Past, c.Holders = slices.Clone(s.Past), maps.Clone(s.Holders)
	if c.Holders == nil {
		c.Holders = make(map[string]holder)
	}
	return c
}

// expire removes what no longer counts. The grants of a holder whose lease has lapsed count as used.
func (s *state) expire(now int64) {
	for id, h := range s.Holders {
		if h.Until > now {
			continue
		}
		for _, g := range h.Grants {
			g.At += usable
			s.add(g)
		}
		delete(s.Holders, id)
	}
	s.Past = slices.DeleteFunc(s.Past, func(c count) bool { return c.At+period <= now })
}

// add counts starts as used.
func (s *state) add(c count) {
	at, _ := slices.BinarySearchFunc(s.Past, c.At/grain,
		func(p count, want int64) int { return cmp.Compare(p.At/grain, want) })
	if at == len(s.Past) || s.Past[at].At/grain != c.At/grain {
		s.Past = slices.Insert(s.Past, at, c)
		return
	}
	p := &s.Past[at]
	p.At, p.Starts, p.Tokens = max(p.At, c.At), p.Starts+c.Starts, p.Tokens+c.Tokens
}

// returnTokens subtracts the tokens that a call did not use from those of its start's time.
func (s *state) returnTokens(at, tokens int64) {
	i, found := slices.BinarySearchFunc(s.Past, at/grain,
		func(p count, want int64) int { return cmp.Compare(p.At/grain, want) })
	if found {
		s.Past[i].Tokens = max(s.Past[i].Tokens-tokens, 0)
	}
}

// lastUse returns the time after which nothing in the row counts.
func (s *state) lastUse() (at int64) {
	at = s.ClosedUntil
	for _, c := range s.Past {
		at = max(at, c.At+period)
	}
	for _, h := range s.Holders {
		at = max(at, h.Until+usable+period)
	}
	return at
}

// book finds the times of further starts. It counts all starts that may be within a minute of a new one.
type book struct {
	limit          Limit
	at             int64 // of the next start
	counts         []count
	starts, tokens int64
}

// book returns a book whose first start is not before the given time.
func (s *state) book(l Limit, from int64) *book {
	b := &book{limit: l, at: from}
	for _, c := range s.Past {
		b.note(c)
	}
	for _, h := range s.Holders {
		for _, g := range h.Grants {
			g.At += usable
			b.note(g)
		}
	}
	slices.SortFunc(b.counts, func(x, y count) int { return cmp.Compare(x.At, y.At) })
	return b
}

func (b *book) note(c count) {
	if c.At+period > b.at {
		b.counts = append(b.counts, c)
		b.starts, b.tokens = b.starts+c.Starts, b.tokens+c.Tokens
	}
}

// next returns the first time at which a start with the tokens is within the limit, and what it has to wait
// for. A start with more tokens than the limit has room once no other is within the minute.
func (b *book) next(tokens int64) (at int64, why Reason) {
	if b.limit.Tokens > 0 {
		tokens = min(tokens, b.limit.Tokens)
	}
	starts, used := b.starts, b.tokens
	at = b.at
	for _, c := range b.counts {
		switch {
		case b.limit.Requests > 0 && starts+1 > b.limit.Requests:
			why = Requests
		case b.limit.Tokens > 0 && used+tokens > b.limit.Tokens:
			why = Tokens
		default:
			return at, why
		}
		at = max(at, c.At+period)
		starts, used = starts-c.Starts, used-c.Tokens
	}
	return at, why
}

// addStart adds a start at a time that next returned.
func (b *book) addStart(at, tokens int64) {
	kept := b.counts[:0]
	b.at, b.starts, b.tokens = at, 0, 0
	old := b.counts
	b.counts = kept
	for _, c := range old {
		b.note(c)
	}
	b.note(count{At: at + usable, Starts: 1, Tokens: tokens})
	slices.SortFunc(b.counts, func(x, y count) int { return cmp.Compare(x.At, y.At) })
}
