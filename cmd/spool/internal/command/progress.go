package command

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress tells a person how far a command is: with a bar on a terminal, and elsewhere with a line now and then.
type progress struct {
	to          io.Writer
	bar         bool
	total       int
	every       time.Duration
	lastPrinted time.Time
}

// The pace of the reports, and the width of the bar.
const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
	barWidth  = 30
)

// newProgress returns the progress of a command with a number of steps, which may turn out to be wrong.
func newProgress(to io.Writer, total int) *progress {
	p := &progress{to: to, bar: isTerminal(to), total: total, every: lineEvery, lastPrinted: time.Now()}
	if p.bar {
		p.every, p.lastPrinted = barEvery, time.Time{}
	}
	return p
}

// at reports that a number of steps is done and a number of bytes was moved, if it is time for a report.
func (p *progress) at(done int, bytes int64) {
	now := time.Now()
	if now.Sub(p.lastPrinted) < p.every {
		return
	}
	p.lastPrinted = now
	p.total = max(p.total, done)
	text := fmt.Sprintf("%3d %%, %d of %d sections, %s", 100*done/max(p.total, 1), done, p.total, megabytes(bytes))
	if !p.bar {
		fmt.Fprintln(p.to, strings.TrimSpace(text))
		return
	}
	full := barWidth * done / max(p.total, 1)
	fmt.Fprintf(p.to, "\r\x1b[K[%s%s] %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), text)
}

// clear removes the bar, so that another line can be written.
func (p *progress) clear() {
	if p.bar {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
