package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is RESULTS.md.
type report struct {
	config config
	arms   []*arm
	commit string // the measured commit
	began  time.Time
	took   time.Duration
}

// wantCPU is how much CPU a run of Spool may use, relative to its peer, durability included. wantRate is how many
// runs a second there must be.
const wantCPU, wantRate = 0.8, 1.1

func (r *report) markdown(args []string) string {
	spool, peer := r.arms[0], r.arms[1]
	var out strings.Builder
	fmt.Fprintf(&out, "# A whole run beside tRPC-agent-go\n\nWritten by `%s`, do not edit.\n\n",
		strings.TrimSpace("cd bench/peers && GOWORK=off go run . "+strings.Join(args, " ")))
	out.WriteString("A run is one tool call and an answer of 50 deltas, posted and streamed as AG-UI events, each run on a thread of its own. " +
		"Spool saves every step in a SQLite file with an fsync per commit; the runner of tRPC-agent-go v1.11.2 keeps its sessions in memory. " +
		"Model, load and server share the cores of one machine; the servers take turns.\n\n")
	fmt.Fprintf(&out, "Commit %s, %s, %s, %d cores, %d clients, %d rounds of %d runs, %.0f s\n\n",
		r.commit, r.began.UTC().Format("2006-01-02 15:04 UTC"), runtime.Version(), runtime.NumCPU(), r.config.clients,
		r.config.rounds, r.config.runs, r.took.Seconds())
	out.WriteString("| median (rounds) | Spool, durable | tRPC-agent-go, in memory |\n|---|--:|--:|\n")
	fmt.Fprintf(&out, "| CPU of the server for a run, ms | %s | %s |\n", spread(spool.cpu), spread(peer.cpu))
	fmt.Fprintf(&out, "| runs a second | %s | %s |\n", spread(spool.rate), spread(peer.rate))
	if r.config.memory > 0 {
		fmt.Fprintf(&out, "| resident memory after %d runs, MiB | %.0f | %.0f |\n", r.config.memory, spool.memory/(1<<20),
			peer.memory/(1<<20))
	}
	cpu, rates := over(spool.cpu, peer.cpu), over(spool.rate, peer.rate)
	fmt.Fprintf(&out, "\nCPU of a run, Spool beside tRPC-agent-go: %s, goal at most %.2f: %s\n", spread(cpu), wantCPU,
		verdict(median(cpu) <= wantCPU))
	fmt.Fprintf(&out, "\nRuns a second, Spool beside tRPC-agent-go: %s, goal at least %.2f: %s\n", spread(rates), wantRate,
		verdict(median(rates) >= wantRate))
	return out.String()
}

// over returns the ratio of each round.
func over(a, b []float64) []float64 {
	ratios := make([]float64, len(a))
	for i := range ratios {
		ratios[i] = a[i] / b[i]
	}
	return ratios
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}

func spread(v []float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(v), slices.Min(v), slices.Max(v))
}

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
