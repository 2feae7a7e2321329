package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// machine describes the machine of the measurement.
type machine struct {
	cpu, memory, disk, system, commit string
}

func describeMachine(ctx context.Context, dir string) machine {
	cpu := field("/proc/cpuinfo", "model name")
	mhz := field("/proc/cpuinfo", "cpu MHz")
	m := machine{
		cpu:    fmt.Sprintf("%s, %s MHz, %d cores", cpu, mhz, runtime.NumCPU()),
		disk:   filesystem(dir),
		system: strings.TrimSpace("Linux " + firstLine("/proc/sys/kernel/osrelease")),
		commit: output(ctx, "git", "rev-parse", "--short=12", "HEAD"),
	}
	if runtime.GOOS != "linux" {
		m.cpu, m.system = fmt.Sprintf("%d cores", runtime.NumCPU()), runtime.GOOS
	}
	kilobytes, _, _ := strings.Cut(field("/proc/meminfo", "MemTotal"), " ")
	if n, err := strconv.ParseFloat(kilobytes, 64); err == nil {
		m.memory = fmt.Sprintf("%.1f GiB", n/(1<<20))
	}
	if output(
		ctx, "git",
		slices.Concat([]string{"status", "--porcelain", "--untracked-files=no", "--"}, measuredPaths, clientPaths)...,
	) != "" {
		m.commit += ", with changes that are not committed"
	}
	return m
}

// table returns the machine as a table for RESULTS.md.
func (m machine) table() string {
	var out strings.Builder
	out.WriteString("| | |\n|---|---|\n")
	for _, line := range [][2]string{
		{"CPU", m.cpu},
		{"Memory", m.memory},
		{"Disk", m.disk},
		{"System", m.system},
		{"Go", runtime.Version() + " " + runtime.GOARCH + ", GOMAXPROCS " + strconv.Itoa(runtime.GOMAXPROCS(0))},
	} {
		fmt.Fprintf(&out, "| %s | %s |\n", line[0], line[1])
	}
	return out.String()
}

// filesystem returns the type and the device of the mount that dir is on.
func filesystem(dir string) string {
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return "unknown"
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "unknown"
	}
	best, found := "", "unknown"
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		at := strings.TrimSuffix(f[1], "/") + "/"
		if strings.HasPrefix(abs+"/", at) && len(at) > len(best) {
			best, found = at, fmt.Sprintf("%s on %s (%s)", f[2], f[0], f[3])
		}
	}
	return found
}

// field returns the first value of a name in a file of "name : value" lines.
func field(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// output returns the output of a command, or "unknown" if it fails.
func output(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
