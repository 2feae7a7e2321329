package docs

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// examples returns what Go blocks may quote: examples, which tests compile and run, and the
// documentation in the sources.
func examples(t *testing.T) map[string]string {
	t.Helper()

	all := map[string]string{}
	for _, file := range tracked(t, "*.go") {
		name := filepath.Base(file)
		if strings.HasPrefix(file, "examples/") || strings.HasPrefix(name, "example_") || name == "doc.go" ||
			file == "rest/raw.go" {
			all[file] = squeeze(read(t, file))
		}
	}
	return all
}

// squeeze leaves out what a quote may have otherwise: indentation, alignment, and that a
// program's output stands in a comment.
func squeeze(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "//")
		b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}

// goBlock looks for the example that a block is a part of, and for its output there. A
// program is also built, as a module of its own.
func (r *runner) goBlock(b block, want *block) {
	found := false
	output := want == nil
	for _, text := range r.sources {
		if strings.Contains(text, squeeze(b.text)) {
			found = true
			output = output || strings.Contains(text, squeeze(want.text))
		}
	}
	switch {
	case !found:
		r.failf(b,
			"no example has this code: it has to be a part of a file below examples or of an example_test.go, which tests compile and run")
	case !output:
		r.failf(*want, "the example that the block before is from does not print this")
	}
	if strings.HasPrefix(b.text, "package main\n") {
		r.build(b)
	}
}

// quote looks for the example that prints a text.
func (r *runner) quote(b block) {
	for _, text := range r.sources {
		if strings.Contains(text, squeeze(b.text)) {
			return
		}
	}
	r.failf(b,
		"no block before prints this, and no example does: is the block before a sh? If it cannot be printed, a comment has to say why (see test/docs/doc.go)")
}

// leaf is the import of a leaf of rest, a module of its own.
var leaf = regexp.MustCompile(`github\.com/spoolhq/spool/(rest/(?:bunquery|gormquery|throttle/redis|auth/oidc))\b`)

// build builds a program in a module of its own that uses this one and rest.
func (r *runner) build(b block) {
	dir := r.t.TempDir()
	absolute, err := filepath.Abs(root)
	if err != nil {
		r.t.Fatal(err)
	}
	var mod, sum strings.Builder
	mod.WriteString(strings.Replace(read(r.t, "go.mod"), "module github.com/spoolhq/spool", "module example.com/page", 1))
	sum.WriteString(read(r.t, "go.sum") + read(r.t, "rest/go.sum"))
	need := func(path, folder string) {
		fmt.Fprintf(&mod, "\nrequire %[1]s v0.1.0\n\nreplace %[1]s => %[2]s\n", path, filepath.Join(absolute, folder))
	}
	need("github.com/spoolhq/spool", ".")
	need("github.com/spoolhq/spool/rest", "rest")
	for _, m := range leaf.FindAllStringSubmatch(b.text, -1) {
		need(m[0], m[1])
		sum.WriteString(read(r.t, m[1]+"/go.sum"))
	}
	for name, text := range map[string]string{"go.mod": mod.String(), "go.sum": sum.String(), "main.go": b.text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	build := exec.CommandContext(r.t.Context(), "go", "build", "-mod=mod", "-trimpath", "-buildvcs=false", "-o",
		filepath.Join(dir, "program"), ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOPROXY=off", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		r.failf(b, "the program cannot be built in a module of its own: %v\n%s", err, out)
	}
}

// json parses each value of a block.
func (r *runner) json(b block) {
	if strings.Contains(strings.ReplaceAll(b.text, `"…"`, ""), "…") {
		return // it is cut
	}
	values := json.NewDecoder(strings.NewReader(b.text))
	for {
		var value any
		if err := values.Decode(&value); err == io.EOF {
			return
		} else if err != nil {
			r.failf(b, "the block is not JSON: %v", err)
			return
		}
	}
}

var variable = regexp.MustCompile(`\$\{([A-Z0-9_]+)[}:]`)

func section(name string) *regexp.Regexp { return regexp.MustCompile(`(?m)^` + name + `:`) }

// yaml checks a configuration. One without agents gets the demo's.
func (r *runner) yaml(b block) bool {
	s := r.open()
	name := fmt.Sprintf("block-%d.yaml", b.line)
	// The comments have the lines of the page in the messages.
	text := append(bytes.Repeat([]byte("#\n"), b.line), b.text...)
	if !section("agents").MatchString(b.text) {
		text = append(text, "agents: {assistant: {model: demo}}\n"...)
		if !section("models").MatchString(b.text) {
			text = append(text, "models: {demo: {provider: demo}}\n"...)
		}
	}
	if err := os.WriteFile(filepath.Join(r.folder, name), text, 0o600); err != nil {
		r.t.Fatal(err)
	}
	var secrets strings.Builder
	for _, m := range variable.FindAllStringSubmatch(b.text, -1) {
		// A token and a secret of a signature alike: base64 of 32 bytes.
		secret := fmt.Sprintf("%-32.32s", m[1])
		fmt.Fprintf(&secrets, "%s=%s ", m[1], base64.StdEncoding.EncodeToString([]byte(secret)))
	}
	difference, err := s.step(b, secrets.String()+"spool check "+name, func(printed string) string {
		if s.status() == 0 {
			return ""
		}
		return fmt.Sprintf("%s:%d: the configuration is refused (lines are the page's):\n%s", b.page, b.line, printed)
	})
	if difference != "" {
		r.t.Error(difference)
	}
	return err == nil
}
