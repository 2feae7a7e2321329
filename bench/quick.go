package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// quickTime is how long all may take. After the first round, no round begins that would take longer.
const quickTime = 290 * time.Second

// quickSide has what is measured of one commit. Clients in this process measure its servers, and its own programs
// measure the rest.
type quickSide struct {
	*bench

	dir string // of its programs: bench, rest, peers
}

// quickFigure is a figure that a user would ask for.
type quickFigure struct {
	what, unit string
	// measure returns the value. For a figure of CPU time, it returns how much was done by the processes that it has
	// started.
	measure func(s quickSide) (float64, error)
}

// perCPU is the beginning of a unit of CPU time.
const perCPU = "µs of CPU"

// quickFigures are CPU time and ratios of one run where possible, which depend little on what else the machine does.
var quickFigures = []quickFigure{
	{"a start, of 16 clients", perCPU, quickSide.starts},
	{"1,000 frames to 1,000 clients", perCPU, quickSide.frames},
	{"start, stream and stop of a run", perCPU, quickSide.stops},
	{"snapshot of 1,000 messages", perCPU, quickSide.snapshots},
	{"1,000 entries replayed", perCPU, quickSide.replays},
	{"latency of a delta, p50", "ms", quickSide.latency},
	{"memory of an idle client", "KiB", quickSide.idle},
	{"step beside 2 bare commits", "ratio", quickSide.step},
	{"rest beside net/http, GET by id", "ratio", quickSide.get},
	{"whole run beside tRPC-agent-go", "ratio of CPU", quickSide.run},
}

// quick measures the figures of an earlier commit and of the files as they are, in turns, and prints a table.
func (b *bench) quick() error {
	if b.commit == "" { // the change is committed, or about to be
		b.commit = "HEAD~1"
		if changed, err := git(b.ctx, "status", "--porcelain", "--untracked-files=no"); err != nil || changed != "" {
			b.commit = "HEAD"
		}
	}
	began := time.Now()
	commit, tree, err := b.earlier()
	if err != nil {
		return err
	}
	before, err := b.quickSide("before", filepath.Join(tree, "bench"))
	if err != nil {
		return err
	}
	now, err := b.quickSide("now", ".")
	if err != nil {
		return err
	}
	if _, err := b.fill(); err != nil {
		return err
	}
	before.filled, now.filled = b.filled, b.filled
	fmt.Fprintf(b.out, "%s before, and the files as they are now; built in %.0f s\n", commit, time.Since(began).Seconds())
	return b.quickTable(began, func(f quickFigure, isNow bool) (float64, error) {
		side := before
		if isNow {
			side = now
		}
		used := childTime()
		value, err := f.measure(side)
		if f.unit == perCPU {
			value = float64((childTime() - used).Microseconds()) / value
		}
		return value, err
	})
}

// quickSide builds the programs of a folder with the files of bench.
func (b *bench) quickSide(name, tree string) (quickSide, error) {
	side := *b
	s := quickSide{&side, filepath.Join(b.dir, name)}
	side.binary = filepath.Join(s.dir, "bench")
	return s, errors.Join(
		build(b.ctx, tree, side.binary), build(b.ctx, filepath.Join(tree, "rest"), filepath.Join(s.dir, "rest")),
		build(b.ctx, filepath.Join(tree, "peers"), filepath.Join(s.dir, "peers")),
	)
}

// quickTable measures pairs of each figure, and prints a table. Every second pair begins with the present code. It
// skips a figure that the earlier commit cannot measure.
func (b *bench) quickTable(began time.Time, measure func(f quickFigure, isNow bool) (float64, error)) error {
	values := make([][2]sample, len(quickFigures)) // before, now
	skipped := make([]error, len(quickFigures))
	rounds := 0
	for took := time.Duration(0); rounds < b.rounds && (rounds == 0 || time.Since(began)+took < quickTime); rounds++ {
		start := time.Now()
		for i, f := range quickFigures {
			for turn := range 2 {
				isNow := (rounds+turn)%2 == 1
				if skipped[i] != nil {
					continue
				}
				value, err := measure(f, isNow)
				switch {
				case err != nil && isNow, b.ctx.Err() != nil:
					return fmt.Errorf("%s: %w", f.what, cmp.Or(err, b.ctx.Err()))
				case err != nil:
					skipped[i] = err
				default:
					side := &values[i][(rounds+turn)%2]
					*side = append(*side, value)
				}
			}
		}
		took = time.Since(start)
	}
	fmt.Fprintf(b.out, "%d rounds, %.0f s in all\n\n", rounds, time.Since(began).Seconds())
	const line = "%-32s %-13s %9s %9s %6s  %s\n"
	fmt.Fprintf(b.out, line, "figure", "unit", "before", "now", "ratio", "of the rounds")
	for i, f := range quickFigures {
		if skipped[i] != nil {
			fmt.Fprintf(b.out, "%-32s skipped, as the commit before cannot measure it: %.200v\n", f.what, skipped[i])
			continue
		}
		before, now := values[i][0], values[i][1]
		ratios := now.over(before)
		fmt.Fprintf(b.out, line, f.what, f.unit, number(before.median()), number(now.median()), number(ratios.median()),
			number(ratios.min())+" to "+number(ratios.max()))
	}
	return nil
}

// starts returns how many runs were started.
func (s quickSide) starts() (float64, error) {
	var rates sample
	took := size(s.bench, 2*time.Second, 100*time.Millisecond)
	err := s.round(&rates, "spool", 16, took, driveStarts)
	return rates.median() * took.Seconds(), err
}

// frames returns how many thousands of frames the clients of a thread have got.
func (s quickSide) frames() (float64, error) {
	clients, frames := size(s.bench, 1000, 20), size(s.bench, 500, 50)
	return float64(clients*frames) / 1000, s.fanSpool(new(sample), 0, clients, frames)
}

func (s quickSide) latency() (float64, error) {
	var q quantiles
	err := s.delaySpool(&q, -1, size(s.bench, 300, 10))
	return q.p50.median(), err
}

func (s quickSide) idle() (float64, error) {
	var i idle
	err := s.idleSpool(&i, size(s.bench, 1000, 20), options{})
	return i.rss.median(), err
}

// stops returns how many runs were stopped.
func (s quickSide) stops() (float64, error) {
	n := size(s.bench, 40, 2)
	return float64(n), s.served(options{File: s.newFile("stop")}, func(c *child) error {
		err := c.ask(http.MethodPost, "/work", nil)
		for i := 0; i < n && err == nil; i++ {
			err = stopOnce(new(sample), new(sample), c)
		}
		return err
	})
}

// snapshots returns how many snapshots of the long thread were read over HTTP.
func (s quickSide) snapshots() (float64, error) {
	n := size(s.bench, 60, 2)
	return float64(n), s.served(options{File: s.filled}, func(c *child) error {
		for range n {
			var snapshot struct{ Messages []json.RawMessage }
			url := "http://" + c.Public + "/api/agent/history?threadId=" + string(longRecord.ID)
			if err := request(s.ctx, http.MethodGet, url, nil, &snapshot); err != nil {
				return err
			}
			if len(snapshot.Messages) != filledMessages {
				return fmt.Errorf("a snapshot has %d messages", len(snapshot.Messages))
			}
		}
		return nil
	})
}

// replays returns how many thousands of entries of the long record were replayed.
func (s quickSide) replays() (float64, error) {
	n := entriesOf(s.bench)
	return float64(n) / 1000, s.served(options{File: s.filled}, func(c *child) error {
		return replay(new(sample), c, n)
	})
}

// served does something with a server, which ends then.
func (s quickSide) served(o options, do func(c *child) error) error {
	c, err := s.spawn("spool", o)
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.stop())
}

var (
	writtenGet  = regexp.MustCompile(`(?m)^get +rest +([\d.]+) `)
	writtenStep = regexp.MustCompile(`(?m)^- Step beside 2 bare commits: ([\d.]+) `)
	writtenRun  = regexp.MustCompile(`Spool beside tRPC-agent-go: ([\d.]+)`)
)

func (s quickSide) step() (float64, error) {
	return s.printed(writtenStep, "bench", "-only", "step", "-rounds", "3", "-dir", s.bench.dir,
		"-short="+strconv.FormatBool(s.short), "-out", "-")
}

func (s quickSide) get() (float64, error) {
	return s.printed(writtenGet, "rest", "-only", "get", "-with", "rest", "-quick="+strconv.FormatBool(s.short), "-out", "-")
}

func (s quickSide) run() (float64, error) {
	return s.printed(writtenRun, "peers", "-rounds", "3", "-runs", size(s.bench, "200", "20"), "-memory", "0", "-out", "-")
}

// printed runs one of the side's programs, and returns a number that it prints.
func (s quickSide) printed(number *regexp.Regexp, program string, args ...string) (float64, error) {
	out, err := exec.CommandContext(s.ctx, filepath.Join(s.dir, program), args...).Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", program, err)
	}
	m := number.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("%s does not print %s", program, number)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
