package main

import (
	"errors"
	"regexp"
	"strings"
)

// The figures in the README are between these lines. The flag -readme writes them, and a test compares
// them with RESULTS.md.
const (
	readmeFrom = "<!-- figures: cd bench && GOWORK=off go run . -readme -->\n"
	readmeTo   = "<!-- end of figures -->"
)

// readmeFigures is the README's table. The text in braces stands for the median of a row: it is the
// title of the section, a bar, and the row.
const readmeFigures = `| | Spool | bare |
|---|--:|--:|
| runs started over HTTP, 16 clients | {Run starts|Spool, 16 clients}/s | {Run starts|bare, 16 clients}/s |
| the same, 64 clients | {Run starts|Spool, 64 clients}/s | {Run starts|bare, 64 clients}/s |
| latency of a delta, written at once, p50 and p99 | {Added latency|Spool, flush 0, p50} ms, {Added latency|Spool, flush 0, p99} ms | {Added latency|bare, p50} ms, {Added latency|bare, p99} ms |
| latency of a delta, in the default window of 50 ms, p50 and p99 | {Added latency|Spool, flush window 50 ms, p50} ms, {Added latency|Spool, flush window 50 ms, p99} ms | |
| frames to 1,000 clients of one thread | {Fan-out|Spool, flush 0}/s | {Fan-out|bare, flushed when its channel is empty}/s |
| memory per idle client, of 1,000 | {Memory per idle client|Spool, 1000 clients, resident} KiB | {Memory per idle client|bare, 1000 clients, resident} KiB |
| entries of a long record replayed over HTTP | {Replay|replay over HTTP}/s | {Replay|read alone}/s, without HTTP |
| a step with a tool call, and the two commits that it makes | {Step|step} µs | {Step|2 bare commits} µs |
| from a stop to its end on the stream, p50 and p99 | {Stop|stop, p50} ms, {Stop|stop, p99} ms | |
| work of a page in a frame while an answer streams into it, p95 | {Rendering|hooks, p95} ms | {Rendering|one text node, p95} ms |
| ` + "`@spool/client`" + ` in a page, and ` +
	"`@spool/react`" + ` with it, gzipped | {Sizes of the clients|@spool/client, gzipped} KiB, {Sizes of the clients|@spool/react with @spool/client, without React, gzipped} KiB | |
`

var readmeFigure = regexp.MustCompile(`\{([^|}]+)\|([^}]+)\}`)

// readme returns the README with the figures of RESULTS.md.
func readme(text string, r results) (string, error) {
	before, rest, ok := strings.Cut(text, readmeFrom)
	_, after, ends := strings.Cut(rest, readmeTo)
	if !ok || !ends {
		return "", errors.New("the README has no place for the figures")
	}
	figures := readmeFigures
	var missed []string
	for _, w := range r.sections {
		for _, m := range writtenGoal.FindAllStringSubmatch(w.text, -1) {
			if m[4] != "met" {
				missed = append(missed, "- "+sentence(m[1], m[2], m[3])+"\n")
			}
		}
	}
	if len(missed) > 0 {
		figures += "\nMissed goals:\n\n" + strings.Join(missed, "")
	} else {
		figures += "\nAll goals are met.\n"
	}
	var missing error
	figures = readmeFigure.ReplaceAllStringFunc(figures, func(place string) string {
		m := readmeFigure.FindStringSubmatch(place)
		value, err := r.median(m[1], m[2])
		missing = errors.Join(missing, err)
		return value
	})
	return before + readmeFrom + "\n" + figures + "\n" + readmeTo + after, missing
}
