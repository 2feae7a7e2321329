// Command peers measures how much a whole run costs a server. It compares Spool, which makes every step
// durable in a SQLite file, with the runner of tRPC-agent-go, which keeps its sessions in memory. A run
// is one tool call and an answer of fifty deltas, posted and streamed as AG-UI events.
//
// Model, load and both servers are processes of this one binary and share the machine's cores. The two
// servers take turns within each round. Both get the same load from the same model.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// limit bounds a whole run, even if something hangs.
const limit = 20 * time.Minute

// config has the values of the flags.
type config struct {
	rounds  int
	runs    int // of each server in each round
	memory  int // runs of each server before its memory is read
	clients int
	out     string
	profile string
}

func main() {
	if role := os.Getenv(roleEnv); role != "" {
		exit(serveRole(role))
	}
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer release()
	exit(run(ctx, os.Args[1:], os.Stdout))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var c config
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&c.rounds, "rounds", 5, "how often both servers are measured")
	flags.IntVar(&c.runs, "runs", 400, "runs of each server in a round")
	flags.IntVar(&c.memory, "memory", 7000, "runs of each server before its memory is read; 0 leaves that out")
	flags.IntVar(&c.clients, "clients", 16, "how many clients there are at once")
	flags.StringVar(&c.out, "out", "RESULTS.md", "where the results are written; - for the terminal alone")
	flags.StringVar(&c.profile, "profile", "", "write CPU profiles of the servers to this folder")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := measure(ctx, c, out)
	if err != nil {
		return err
	}
	text := r.markdown(args)
	if c.out == "-" {
		_, err = io.WriteString(out, text)
		return err
	}
	return os.WriteFile(c.out, []byte(text), 0o644)
}
