package main

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// mark is in each delta once and nowhere else in a frame, so that a busy client can count frames by
	// counting bytes.
	mark = "~"
	// stamp precedes the time at which a delta was made, in nanoseconds since 1970.
	stamp = "@"
	// words make a delta as long as the deltas of providers.
	words = " and so it goes on and on, for a while,"
)

// script is a model whose prompt says what to answer: "burst N" stands for N deltas as fast as they are
// taken, "pace N GAP" for one per GAP, and "endless GAP" for the same until it is cancelled. The answer
// to anything else is one delta.
type script struct{}

// Stream implements [spool.Model].
func (script) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	n, gap := parseScript(r.Messages[len(r.Messages)-1].Text())
	return func(yield func(spool.ModelEvent, error) bool) {
		var ticks <-chan time.Time
		if gap > 0 {
			ticker := time.NewTicker(gap)
			defer ticker.Stop()
			ticks = ticker.C
		}
		for i := 0; n < 0 || i < n; i++ {
			if ticks != nil {
				select {
				case <-ticks:
				case <-ctx.Done():
					yield(nil, ctx.Err())
					return
				}
			}
			if !yield(spool.TextDelta{Text: stamped(time.Now())}, nil) {
				return
			}
		}
		yield(spool.Finish{Reason: spool.FinishStop, ModelID: "script-1"}, nil)
	}
}

// stamped returns a delta that contains the time at which it was made.
func stamped(at time.Time) string {
	return mark + stamp + strconv.FormatInt(at.UnixNano(), 10) + words
}

// parseScript returns how many deltas a prompt asks for, or a negative number for no bound, and the
// time between them.
func parseScript(prompt string) (n int, gap time.Duration) {
	word, rest, _ := strings.Cut(prompt, " ")
	switch word {
	case "burst":
		_, _ = fmt.Sscan(rest, &n)
	case "pace":
		var text string
		_, _ = fmt.Sscan(rest, &n, &text)
		gap, _ = time.ParseDuration(text)
	case "endless":
		n = -1
		gap, _ = time.ParseDuration(rest)
	default:
		n = 1
	}
	return n, gap
}
