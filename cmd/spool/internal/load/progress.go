package load

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Progress writes how far a load is: as a bar that moves, for a terminal, or as lines. It is safe for
// concurrent use.
type Progress struct {
	out io.Writer
	bar bool

	mu sync.Mutex
	// width is the length of the bar that is shown.
	width int
	// phase and told say what the last line was about, and when it was written.
	phase       Phase
	lastPrinted time.Time
}

// NewProgress returns a Progress that writes a bar or lines.
func NewProgress(out io.Writer, bar bool) *Progress { return &Progress{out: out, bar: bar} }

const (
	// barLength is the length of a full bar, in characters.
	barLength = 24
	// lineEvery is the time between two lines about the same phase.
	lineEvery = 5 * time.Second
)

// Show writes a status.
func (p *Progress) Show(s Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case s.Phase == PhaseDone:
		p.line(doneText(s))
	case p.bar:
		p.draw(barText(s) + text(s))
	case s.Phase != p.phase || time.Since(p.lastPrinted) >= lineEvery:
		p.line(text(s))
	}
	p.phase = s.Phase
}

// Close ends the bar.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width > 0 {
		p.draw("")
		fmt.Fprint(p.out, "\r")
	}
}

// line writes a line in place of the bar.
func (p *Progress) line(text string) {
	if p.width > 0 {
		p.draw("")
		fmt.Fprint(p.out, "\r")
	}
	fmt.Fprintln(p.out, text)
	p.lastPrinted = time.Now()
}

// draw writes a text over the one that is shown.
func (p *Progress) draw(text string) {
	width := len([]rune(text))
	fmt.Fprint(p.out, "\r", text, strings.Repeat(" ", max(0, p.width-width)))
	p.width = width
}

func barText(s Status) string {
	share := 1.0
	switch {
	case s.Phase == PhaseClean:
		share = float64(s.Ended) / float64(max(1, s.Sent))
	case s.Of > 0:
		share = min(1, s.Elapsed.Seconds()/s.Of.Seconds())
	}
	full := int(share * barLength)
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barLength-full) + "] "
}

// text says in one line what happens.
func text(s Status) string {
	switch {
	case s.Phase == PhaseClean:
		return fmt.Sprintf("deleting threads: %d of %d", s.Ended, s.Sent)
	case s.Phase == PhaseWarmUp:
		return fmt.Sprintf("warm-up at %s/s: %s", rate(s.Rate), counts(s))
	case s.Elapsed > s.Of:
		return fmt.Sprintf("%d of %d, %s/s: %s, waiting for the rest", s.Rung, s.Rungs, rate(s.Rate), counts(s))
	default:
		return fmt.Sprintf("%d of %d, %s/s: %s", s.Rung, s.Rungs, rate(s.Rate), counts(s))
	}
}

func counts(s Status) string {
	return fmt.Sprintf("%d started, %d ended, %d failed, %d watchers", s.Sent, s.Ended, s.Failed, s.Watchers)
}

func doneText(s Status) string {
	end := "held"
	switch {
	case s.Done.Cut:
		end = "cut short"
	case s.Done.Saturation != "":
		end = "saturated"
	}
	return fmt.Sprintf("%d of %d, %s/s: %s, %s/s ended, first token p50 %s ms, p99 %s ms", s.Rung, s.Rungs, rate(s.Rate),
		end,
		rate(s.Done.AchievedPerSecond), number(s.Done.FirstToken.P50), number(s.Done.FirstToken.P99))
}
