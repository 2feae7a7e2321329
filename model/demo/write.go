package demo

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

var (
	// errStopped says that the caller stopped iterating.
	errStopped = errors.New("stopped iterating")
	// errFull says that the answer has reached its bound.
	errFull = errors.New("answer is full")
)

// writer streams one plan and counts what it writes.
type writer struct {
	ctx   context.Context //nolint:containedctx // lives for one call of Stream
	yield func(spool.ModelEvent, error) bool
	delay time.Duration
	// left is how many more words the answer may have. Zero: no bound. -1: none.
	left    int
	stopped bool
	usage   counts
	words   int
}

func (w *writer) plan(p plan) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if err := w.emit(spool.UsageSeen{Usage: w.usage.usage()}); err != nil {
		return err
	}
	reason, err := spool.FinishStop, w.body(p)
	switch {
	case errors.Is(err, errFull):
		reason = spool.FinishLength
	case err != nil:
		return err
	case len(p.calls) > 0:
		reason = spool.FinishToolCalls
	}
	return w.emit(spool.Finish{Reason: reason, Usage: w.usage.usage(), ModelID: ModelID})
}

func (w *writer) body(p plan) error {
	err := w.stream(p.reasoning, func(word string) spool.ModelEvent {
		w.usage.reasoning++
		return spool.ReasoningDelta{Text: word}
	})
	if err != nil {
		return err
	}
	if err := w.emit(spool.ReasoningEnd{Provider: p.signature}); err != nil {
		return err
	}
	err = w.stream(p.text, func(word string) spool.ModelEvent { return spool.TextDelta{Text: word} })
	if err != nil {
		return err
	}
	for _, c := range p.calls {
		if err := w.call(c); err != nil {
			return err
		}
	}
	return nil
}

// call writes one tool call, either completely or not at all.
func (w *writer) call(c plannedCall) error {
	if w.left < 0 {
		return errFull
	}
	if err := w.emit(spool.ToolCallStart{ID: c.id, Name: c.name}); err != nil {
		return err
	}
	for _, piece := range pieces(c.args) {
		if err := w.pause(); err != nil {
			return err
		}
		w.count()
		if err := w.emit(spool.ToolCallDelta{ID: c.id, Args: piece}); err != nil {
			return err
		}
	}
	return w.emit(spool.ToolCallEnd{ID: c.id, Name: c.name, Args: c.args})
}

func (w *writer) stream(text string, event func(word string) spool.ModelEvent) error {
	for _, word := range pieces(text) {
		if w.left < 0 {
			return errFull
		}
		if err := w.pause(); err != nil {
			return err
		}
		w.count()
		if err := w.emit(event(word)); err != nil {
			return err
		}
		w.words++
		if w.words%usageEvery == 0 {
			if err := w.emit(spool.UsageSeen{Usage: w.usage.usage()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// count counts one word of output.
func (w *writer) count() {
	w.usage.output++
	if w.left > 0 {
		w.left--
		if w.left == 0 {
			w.left = -1
		}
	}
}

// pause waits before a word. It returns ctx's error as soon as ctx ends.
func (w *writer) pause() error {
	if w.delay <= 0 {
		return w.ctx.Err()
	}
	timer := time.NewTimer(w.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return w.ctx.Err()
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

func (w *writer) emit(event spool.ModelEvent) error {
	if !w.yield(event, nil) {
		w.stopped = true
		return errStopped
	}
	return nil
}

// pieces cuts a text after each run of blanks. Joined, the pieces are the text again.
func pieces(text string) []string {
	var out []string
	start, blank := 0, false
	for i, r := range text {
		isBlank := strings.ContainsRune(" \t\r\n", r)
		if blank && !isBlank {
			out = append(out, text[start:i])
			start = i
		}
		blank = isBlank
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}
