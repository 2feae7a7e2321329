package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// conditions describe the machine and the time of the measurement.
type conditions struct {
	lines  [][2]string
	before string // the load average at the start
}

func describe(ctx context.Context) conditions {
	return conditions{before: load(), lines: [][2]string{
		{"CPU", fmt.Sprintf("%s, %d cores", field("/proc/cpuinfo", "model name"), runtime.NumCPU())},
		{"System", runtime.GOOS + " " + strings.TrimSpace(read("/proc/sys/kernel/osrelease"))},
		{"Go", runtime.Version() + " " + runtime.GOARCH + ", GOMAXPROCS 1"},
		{"Commit", commit(ctx)},
		{"Modules", modules()},
		{"Date", time.Now().UTC().Format("2006-01-02 15:04 UTC")},
	}}
}

// table finishes the description. It reads the load average again, because other load may have come.
func (c conditions) table(took time.Duration) string {
	lines := slices.Concat(c.lines, [][2]string{
		{"Load average", c.before + " at the start, " + load() + " at the end, this run included"},
		{"Took", took.Round(time.Second).String()},
	})
	var out strings.Builder
	out.WriteString("| | |\n|---|---|\n")
	for _, line := range lines {
		fmt.Fprintf(&out, "| %s | %s |\n", line[0], line[1])
	}
	return out.String()
}

// peers are the modules whose versions are listed.
var peers = []string{
	"danielgtaylor/huma", "gin-gonic/gin", "labstack/echo", "go-chi/chi", "go-playground/validator", "goccy/go-json",
}

func modules() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	var list []string
	for _, dep := range info.Deps {
		for _, peer := range peers {
			if strings.Contains(dep.Path, peer) {
				list = append(list, strings.TrimPrefix(dep.Path, "github.com/")+" "+dep.Version)
			}
		}
	}
	return strings.Join(list, ", ")
}

// commit returns the measured commit. Only changes of rest and of this folder count, because other
// files of the tree may change meanwhile.
func commit(ctx context.Context) string {
	name := output(ctx, "git", "rev-parse", "--short=12", "HEAD")
	if output(ctx, "git", "status", "--porcelain", "--", ".", "../../rest", ":!RESULTS.md") != "" {
		name += ", with changes that are not committed"
	}
	return name
}

func output(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// load returns the load averages of the last 1, 5 and 15 minutes.
func load() string {
	parts := strings.Fields(read("/proc/loadavg"))
	if len(parts) < 3 {
		return "unknown"
	}
	return strings.Join(parts[:3], " ")
}

// field returns the first value of a name in a file of "name : value" lines.
func field(file, name string) string {
	for line := range strings.Lines(read(file)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func read(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(text)
}
