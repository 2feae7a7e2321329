package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// miss is the sentence about a missed goal for a reader who does not know the benchmarks.
type miss struct {
	// goal matches the whole subject of the goal.
	goal *regexp.Regexp
	// text is the sentence. $1 stands for the first group of goal, {got} for the measured value, {times} for
	// its inverse, and {want} for the bound. A row stands in braces as in [readmeFigures]. A text with {times}
	// is for values below 1.
	text string
}

// misses has a sentence for each goal of RESULTS.md.
var misses = []miss{
	about(`Starts beside bare, (\d+) clients`,
		"With $1 clients, Spool starts {got} times as many runs a second as the bare program (goal: {want} times)"),
	about(`Added latency, (.+), (p\d+) in ms.*`,
		"Spool hands a delta to the client after {got} ms ($2, $1; goal: {want} ms)"),
	about(`Fan-out to (\d+) clients beside the better bare one, (.+)`,
		"Spool delivers {got} times as many frames a second to $1 clients of a thread as the faster bare program ($2; goal: {want} times)"),
	about(`Resident memory per idle client beside bare, (\d+) clients`,
		"With $1 idle clients, each takes {got} times the memory that it takes in the bare program (goal: {want} times)"),
	about(`Heap and stacks per idle client beside bare, (\d+) clients`,
		"With $1 idle clients, each takes {got} times the heap and the stacks that it takes in the bare program (goal: {want} times)"),
	about(`Resident memory per idle client, (\d+) clients`,
		"With $1 idle clients, each takes {got} of memory (goal: {want})"),
	about(`Snapshot with a long record beside a short one`,
		"The snapshot of a thread with a long record takes {got} times as long as that of a thread with a short one (goal: {want} times)"),
	about(`p99 of another thread while clients return, over idle, in ms`,
		"While 1,000 clients return to a large thread at once, clients of other threads wait {got} ms longer (p99; goal: {want} ms)"),
	about(`AG-UI, p99 of another thread while clients return, over idle, in ms`,
		"While 1,000 AG-UI clients return to a large thread at once, clients of other threads wait {got} ms longer (p99; goal: {want} ms)"),
	about(`memory while clients return, in snapshots`,
		"When 1,000 clients return to a thread at once, the server's memory grows by {got} times the thread's snapshot (goal: {want} times)"),
	about(`AG-UI, memory while clients return, in snapshots`,
		"When 1,000 AG-UI clients return to a thread at once, the server's memory grows by {got} times the thread's snapshot (goal: {want} times)"),
	about(`Stop, p99 of all (\d+) runs in ms`,
		"A client sees the end of a run {got} ms after it stopped the run (p99; goal: {want})"),
	about(`Step beside (\d+) bare commits`,
		"A step with a tool call takes {got} times as long as the $1 commits that it makes: {Step|step} µs against {Step|$1 bare commits} µs (goal: {want} times)"),
	about(`Step with a catalogue of ([\d,]+) tools beside one with (\d+) listed ones`,
		"A step of an agent with a catalogue of $1 tools takes {got} times as long as one with $2 listed tools (goal: {want} times)"),
	about(`load of the document, over its decoding`,
		"An OpenAPI document with 300 operations takes {got} times as long to load as to decode (goal: {want} times)"),
	about(`Bytes written by a step beside (\d+) bare commits`,
		"A step with a tool call writes {got} times as many bytes as $1 commits of one row (goal: {want} times)"),
	about(`Step (over PostgreSQL )?behind ([\d,]+) turns beside one in a new thread`,
		"A step ${1}in a thread with $2 turns takes {got} times as long as one in a new thread (goal: {want} times)"),
	about(`Words of a run itself beside words (\d+) deep`,
		"A word of a run nested $1 deep takes {got} times the CPU time that a word of the run itself takes (goal: {want} times)"),
	about(`longest task beside 6,000 lines, (.+)`,
		"The longest task of a page is {got} times that of 6,000 short lines that come to the screen at once ($1; goal: {want} times)"),
	about(`Run with an endpoint that wants none of its events beside one without`,
		"A run takes {got} times the CPU time if there is an endpoint that wants none of its events (goal: {want} times)"),
	about(`Run with three endpoints beside one without`,
		"A run takes {got} times the CPU time if three endpoints want all its events (goal: {want} times)"),
	about(`Delivery beside a bare claim, post and acknowledgement`,
		"The delivery of an event takes {got} times the CPU time of a bare claim, post and acknowledgement (goal: {want} times)"),
	about(`p99 from the due time to the run, in ms`,
		"With 100 schedules that come due each second, a run starts {got} ms behind its due time (p99; goal: {want} ms)"),
	about(`CPU of an idle process with ([\d,]+) schedules beside one with none`,
		"An idle server with $1 schedules takes {got} times the CPU time of one without schedules (goal: {want} times)"),
	about(`CPU of a step over (\w+) beside a bare loop`,
		"A step over the adapter $1 takes {got} times the CPU time of a bare loop over the provider's SDK (goal: {want} times)"),
	about(`Starts over PostgreSQL beside bare, (\d+) clients`,
		"With $1 clients, Spool starts {got} times as many runs a second over PostgreSQL as the bare program (goal: {want} times)"),
	about(`Stream items beside the better bare insert`,
		"Spool saves {got} times as many stream items a second in PostgreSQL as the faster bare program (goal: {want} times)"),
	about(`Stream items a second`, "Spool saves {got} stream items a second in PostgreSQL (goal: {want})"),
	about(`p50 of a pick-up of River at its lowest cooldown beside Spool, one process`,
		"Within one process, Spool picks up a job {got} times faster than River with its shortest pause between two fetches (goal: {want} times)"),
	about(`p50 of a pick-up of River at its lowest cooldown beside Spool, two nodes`,
		"River picks up a job about {times} times faster than Spool between two nodes: in {Pick-up over PostgreSQL|two nodes, River at its lowest cooldown, p50} ms "+
			"against {Pick-up over PostgreSQL|two nodes, Spool, p50} ms, with its shortest pause between two fetches (goal: as fast as River)"),
	about(`until ready over an existing database, in ms`,
		"A server over an existing database of 10,000 threads is ready after {got} ms (goal: {want} ms)"),
	about(`Bytes that a run (of one step|with three calls of a tool) writes`,
		"A run $1 writes {got} bytes of log on PostgreSQL (goal: {want})"),
	about(`Stop on the other node, p99 of all \d+ runs in ms`,
		"A client of one node sees the end of a run on another node {got} ms after it stopped the run (p99; goal: {want} ms)"),
	about(`Token of the other node, p50 in ms.*`,
		"A client of one node gets a token from another node after {got} ms (p50; goal: {want} ms)"),
	about(`Takeover of a killed worker's run, longest in s.*`,
		"The run of a killed worker goes on after up to {got} s (goal: {want} s)"),
	about(`p95 of a frame's work beside one text node`,
		"While an answer streams in, a page with the hooks works {got} times as long in each frame as a page with one text node (p95; goal: {want} times)"),
	about(`(@spool/.+|the web console), gzipped`, "The size of $1 is {got}, gzipped (goal: {want})"),
	about(`CPU of (\w+) beside the earlier commit`,
		"The benchmark $1 takes {got} times the CPU time that it took at an earlier commit (goal: {want} times)"),
	about(`CPU of a step over (\w+) beside the earlier commit`,
		"A step over the adapter $1 takes {got} times the CPU time that it took at an earlier commit (goal: {want} times)"),
}

func about(goal, text string) miss { return miss{regexp.MustCompile("^(?:" + goal + ")$"), text} }

// sentence returns what the README says of a missed goal. It may contain rows in braces.
func sentence(what, got, want string) string {
	want = strings.ReplaceAll(want, ".00", "")
	value, _, _ := strings.Cut(got, " (")
	ratio, _ := strconv.ParseFloat(value, 64) // 0: it is no ratio
	for _, m := range misses {
		at := m.goal.FindStringSubmatchIndex(what)
		if at == nil || strings.Contains(m.text, "{times}") && (ratio <= 0 || ratio >= 1) {
			continue
		}
		text := string(m.goal.ExpandString(nil, m.text, what, at))
		return strings.NewReplacer("{got}", value, "{times}", times(1/ratio), "{want}", want).Replace(text)
	}
	return fmt.Sprintf("%s: %s (goal: %s)", what, value, want)
}

// times returns a factor with as many digits as a sentence needs.
func times(factor float64) string {
	if factor < 3 {
		return strconv.FormatFloat(factor, 'f', 1, 64)
	}
	return strconv.FormatFloat(factor, 'f', 0, 64)
}
