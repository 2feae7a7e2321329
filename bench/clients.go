package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The figures of the clients for pages. They need Node, the packages of clients/typescript and, but for the sizes, a
// Chromium, so they are measured only on request.
const (
	render = "render"
	long   = "long"
	sizes  = "sizes"
)

// clientsFolder has the TypeScript packages, relative to this folder.
const clientsFolder = "../clients/typescript"

// clientPaths are the files that the figures of the clients measure.
var clientPaths = []string{
	clientsFolder + "/packages", clientsFolder + "/apps", clientsFolder + "/scripts", clientsFolder + "/test/browser",
	clientsFolder + "/package-lock.json", clientsFolder + "/sizes.json", "../console/dist", ":(top,exclude)*.test.ts",
	":(top,exclude)*.test.tsx", ":(top,exclude)*.md",
}

// renderGoal is how much work of the main thread a frame may take, relative to a page that appends the same text to one
// node.
const renderGoal = 1.5

// renderRound is one round of a page as test/browser/render.bench.ts writes it: milliseconds of the main thread in a
// frame.
type renderRound struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// measureRender measures the work of a browser's main thread while an answer streams into a page.
func measureRender(b *bench) (*section, error) {
	text, err := b.inChromium("bench:render")
	if err != nil {
		return nil, err
	}
	return renderSection(text)
}

// inChromium runs a script of the TypeScript packages that measures pages, and returns what it wrote.
func (b *bench) inChromium(script string) ([]byte, error) {
	out := filepath.Join(b.dir, strings.ReplaceAll(script, ":", "-")+".json")
	if err := npm(
		b.ctx, []string{"SPOOL_BENCH_OUT=" + out, "SPOOL_BENCH_ROUNDS=" + strconv.Itoa(b.rounds)}, script,
	); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// renderSection reads what test/browser/render.bench.ts writes.
func renderSection(text []byte) (*section, error) {
	var pages struct {
		Hooks []renderRound `json:"hooks"`
		Node  []renderRound `json:"node"`
	}
	if err := json.Unmarshal(text, &pages); err != nil {
		return nil, fmt.Errorf("bench:render: %w", err)
	}
	if len(pages.Hooks) == 0 || len(pages.Hooks) != len(pages.Node) {
		return nil, fmt.Errorf("bench:render: %d rounds of one page and %d of the other", len(pages.Hooks), len(pages.Node))
	}
	s := &section{
		title: "Rendering",
		how: "An answer of 2,000 tokens comes at 200 a second into a page in Chromium, through a server with a scripted model: once into a chat on `@spool/react`, " +
			"built for production, and once into a page that appends the same text to one text node. From a trace of the browser: the processor's time " +
			"of the main thread in each frame of a sixtieth of a second. A round is one answer in each page, in turns.",
	}
	of := func(rounds []renderRound, value func(renderRound) float64) (all sample) {
		for _, r := range rounds {
			all = append(all, value(r))
		}
		return all
	}
	quantiles := []struct {
		name  string
		value func(renderRound) float64
	}{
		{"p50", func(r renderRound) float64 { return r.P50 }},
		{"p95", func(r renderRound) float64 { return r.P95 }},
		{"p99", func(r renderRound) float64 { return r.P99 }},
	}
	for _, q := range quantiles {
		s.rows = append(s.rows, row{"hooks, " + q.name, "ms a frame", of(pages.Hooks, q.value)},
			row{"one text node, " + q.name, "ms a frame", of(pages.Node, q.value)})
	}
	p95 := quantiles[1].value
	s.goals = []goal{
		ratioGoal("p95 of a frame's work beside one text node", of(pages.Hooks, p95), of(pages.Node, p95), renderGoal, false),
	}
	return s, nil
}

// longActs are the acts of test/browser/long.ts, in their order there.
var longActs = []string{
	"an answer begins", "a word comes", "scrolling to the beginning", "10 MB come", "10 MB are read",
}

// measureLong measures the longest task of a page with a long thread or a large result.
func measureLong(b *bench) (*section, error) {
	text, err := b.inChromium("bench:long")
	if err != nil {
		return nil, err
	}
	return longSection(text)
}

// longSection reads what test/browser/long.bench.ts writes.
func longSection(text []byte) (*section, error) {
	var rounds map[string][]struct { // by act, milliseconds of the main thread
		Act   float64 `json:"act"`
		Plain float64 `json:"plain"`
	}
	if err := json.Unmarshal(text, &rounds); err != nil {
		return nil, fmt.Errorf("bench:long: %w", err)
	}
	s := &section{
		title: "Long threads and large results in a page",
		how: "The longest task of a page's main thread in Chromium, in the processor's time from a trace of the browser. An answer begins and goes on in a thread of 2,000 messages " +
			"of which a page on `@spool/react` shows 300; somebody scrolls the console to its beginning; a result of 10 MB comes, and somebody reads on in it in the console. " +
			"Beside each, in the same page: 6,000 short lines that come to the screen at once, which a person hardly notices. What the pages do is counted by a test.",
	}
	for _, act := range longActs {
		var of, plain sample
		for _, r := range rounds[act] {
			of, plain = append(of, r.Act), append(plain, r.Plain)
		}
		if len(of) == 0 {
			return nil, fmt.Errorf("bench:long: no round of %q", act)
		}
		s.rows = append(s.rows, row{act, "ms", of}, row{"6,000 lines, after: " + act, "ms", plain})
		s.goals = append(s.goals, ratioGoal("longest task beside 6,000 lines, "+act, of, plain, 1, false))
	}
	return s, nil
}

// bundle is a part of the clients as scripts/sizes.mjs prints it.
type bundle struct {
	Name     string  `json:"name"`
	Minified float64 `json:"minifiedKiB"`
	Gzipped  float64 `json:"gzippedKiB"`
	Goal     float64 `json:"goalKiB"`
}

// measureSizes measures how large the clients are in a page.
func measureSizes(b *bench) (*section, error) {
	if err := npm(b.ctx, nil, "build"); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(b.ctx, "node", "scripts/sizes.mjs", "--json")
	cmd.Dir = clientsFolder
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	return sizesSection(text)
}

// sizesSection reads what scripts/sizes.mjs prints.
func sizesSection(text []byte) (*section, error) {
	var bundles []bundle
	if err := json.Unmarshal(text, &bundles); err != nil {
		return nil, fmt.Errorf("scripts/sizes.mjs: %w", err)
	}
	s := &section{
		title: "Sizes of the clients",
		how: "What the packages add to a page: built with Vite and minified, with all that they import except React; and all files of the web console, " +
			"each compressed on its own. `sizes.json` in `clients/typescript` has what is bundled, the goals, and the bounds that a check holds. `npm run sizes` there compares " +
			"today's sizes with the bounds and with this table.",
	}
	for _, each := range bundles {
		s.rows = append(s.rows, row{each.Name + ", minified", "KiB", sample{each.Minified}},
			row{each.Name + ", gzipped", "KiB", sample{each.Gzipped}})
		s.goals = append(s.goals, goal{
			what: each.Name + ", gzipped", want: "at most " + number(each.Goal) + " KiB", got: number(each.Gzipped) + " KiB",
			met: each.Gzipped <= each.Goal,
		})
	}
	return s, nil
}

// npm runs a script of the TypeScript packages. Its error has the script's last lines.
func npm(ctx context.Context, env []string, script string) error {
	cmd := exec.CommandContext(ctx, "npm", "run", "--silent", script)
	cmd.Dir, cmd.Env = clientsFolder, append(append(os.Environ(), "GOWORK="), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("npm run %s: %w\n%s", script, err, strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
	return nil
}

// pathsOf returns the files that a section's figure measures.
func (w written) pathsOf() []string {
	if slices.Contains([]string{render, long, sizes}, w.name()) {
		return clientPaths
	}
	return measuredPaths
}
