package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// beside is the name of the figure.
const beside = "beside"

// besideGoal is how much CPU time a figure may take, relative to the earlier commit.
const besideGoal = 1.05

// besideFigure is a figure whose CPU time depends only on the code. In the other figures, the load is whatever the
// machine can take.
type besideFigure struct {
	name   string
	rounds int // how often a process measures it
	// load is the commit since which the figure has its load. A commit without it measures something else. Empty: all
	// commits have the load.
	load string
}

var besideFigures = []besideFigure{
	{"latency", 2, ""},
	{"fanout", 1, ""},
	{"snapshot", 2, ""},
	{"replay", 2, ""},
	{"stop", 4, ""},
	{"step", 8, ""},
	{"nested", 1, "520087a6"},
}

// sameLoad returns the figures that have the same load at an earlier commit.
func sameLoad(ctx context.Context, commit string) (same []besideFigure) {
	for _, f := range besideFigures {
		if f.load != "" {
			if _, err := git(ctx, "merge-base", "--is-ancestor", f.load, commit); err != nil {
				continue
			}
		}
		same = append(same, f)
	}
	return same
}

// measureBeside measures the CPU time of this code and of an earlier commit, in turns.
func measureBeside(b *bench) (*section, error) {
	commit, tree, err := b.earlier()
	if err != nil {
		return nil, err
	}
	earlier, now := filepath.Join(b.dir, "bench-earlier"), filepath.Join(b.dir, "bench-now")
	if err := errors.Join(build(b.ctx, filepath.Join(tree, "bench"), earlier), build(b.ctx, ".", now)); err != nil {
		return nil, err
	}
	return besideSection(b, commit, sameLoad(b.ctx, commit), func(figure string, rounds int, isNow bool) (float64, error) {
		binary := earlier
		if isNow {
			binary = now
		}
		args := []string{"-only", figure, "-rounds", strconv.Itoa(rounds), "-dir", b.dir, "-out", "-"}
		if b.short {
			args = append(args, "-short")
		}
		return cpuSeconds(exec.CommandContext(b.ctx, binary, args...))
	})
}

// earlier returns the short name of the earlier commit, and a folder with its files.
func (b *bench) earlier() (commit, tree string, err error) {
	if b.commit == "" {
		return "", "", errors.New("-commit says beside which commit")
	}
	if commit, err = git(b.ctx, "rev-parse", "--short=12", b.commit+"^{commit}"); err != nil {
		return "", "", fmt.Errorf("-commit %s: %w", b.commit, err)
	}
	if tree, err = os.MkdirTemp(b.dir, "earlier"); err != nil {
		return "", "", err
	}
	return commit, tree, unpack(b.ctx, commit, tree)
}

// besideSection measures pairs of each figure. Every second pair begins with the present code.
func besideSection(
	b *bench, commit string, figures []besideFigure, measure func(figure string, rounds int, isNow bool) (float64, error),
) (*section, error) {
	s := &section{
		title: "CPU beside an earlier commit",
		flags: fmt.Sprintf(" -commit %s -rounds %d", commit, b.rounds),
		how: fmt.Sprintf("The CPU time of whole processes of this program, with the server and the clients that they start: of the commit above, and of %s. "+
			"A round is one process of each commit for each figure, in turns; the goal is about the median of the rounds' ratios. The time includes what the "+
			"process prepares.", commit),
	}
	for _, f := range figures {
		s.rows = append(s.rows, row{f.name + " at " + commit, "s of CPU", nil}, row{f.name, "s of CPU", nil})
	}
	for round := range b.rounds {
		order := []bool{false, true}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for i, f := range figures {
			for _, isNow := range order {
				took, err := measure(f.name, f.rounds, isNow)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", f.name, err)
				}
				at := 2 * i
				if isNow {
					at++
				}
				s.rows[at].rounds = append(s.rows[at].rounds, took)
			}
		}
		fmt.Fprintf(b.out, "  round %d of %d\n", round+1, b.rounds)
	}
	for i, f := range figures {
		s.goals = append(s.goals, ratioGoal("CPU of "+f.name+" beside the earlier commit", s.rows[2*i+1].rounds,
			s.rows[2*i].rounds, besideGoal, false))
	}
	return s, nil
}

// unpack writes the files of a commit to a folder.
func unpack(ctx context.Context, commit, dir string) error {
	top, err := git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	archive := dir + ".tar"
	if _, err := git(ctx, "-C", top, "archive", "--format=tar", "-o", archive, commit); err != nil {
		return err
	}
	return said(exec.CommandContext(ctx, "tar", "-xf", archive, "-C", dir))
}

// build builds the bench command of a folder.
func build(ctx context.Context, dir, out string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off") // as what is released
	return said(cmd)
}

// said runs a command. Its error contains the command's output.
func said(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// cpuSeconds runs a command. It returns the CPU time of its process and of the child processes for
// which that process has waited.
func cpuSeconds(cmd *exec.Cmd) (float64, error) {
	err := said(cmd)
	if cmd.ProcessState == nil {
		return 0, err
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), err
}
