package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// sized are the adapters that cmd/spool is built without, and the names of their functions in cmd/spool.
var sized = []struct{ pkg, function string }{
	{"openai", "openOpenAI"}, {"responses", "openResponses"}, {"anthropic", "openAnthropic"}, {"gemini", "openGemini"},
}

// printSizes prints the size of the stripped cmd/spool with all adapters and without each. As JSON it is one object:
// the bytes by the name of what is missing, "" for nothing.
func printSizes(ctx context.Context, out io.Writer, root string, asJSON bool) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sizes")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, err := sizeOf(ctx, root, filepath.Join(dir, "spool"))
	if err != nil {
		return err
	}
	sizes := map[string]int64{"": all}
	for _, a := range sized {
		overlay, err := without(root, filepath.Join(dir, a.pkg), a.pkg, a.function)
		if err != nil {
			return err
		}
		n, err := sizeOf(ctx, root, filepath.Join(dir, "spool-without-"+a.pkg), "-overlay="+overlay)
		if err != nil {
			return err
		}
		sizes[a.pkg] = n
	}
	if asJSON {
		return json.NewEncoder(out).Encode(sizes)
	}
	fmt.Fprintf(out, "| cmd/spool, stripped | MB | less, MB |\n|---|---|---|\n| all adapters | %.1f | |\n",
		float64(all)/1e6)
	for _, a := range sized {
		fmt.Fprintf(out, "| without %s | %.1f | %.1f |\n", a.pkg, float64(sizes[a.pkg])/1e6, float64(all-sizes[a.pkg])/1e6)
	}
	return nil
}

// sizeOf builds cmd/spool and returns the size of the binary.
func sizeOf(ctx context.Context, root, file string, flags ...string) (int64, error) {
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/spool")...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build %s: %w\n%s", filepath.Base(file), err, text)
	}
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// without writes an overlay in which cmd/spool does not import an adapter: its function returns an error.
func without(root, dir, pkg, function string) (string, error) {
	files, err := filepath.Glob(filepath.Join(root, "cmd", "spool", "internal", "command", "*.go"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	body := regexp.MustCompile(`(?s)(func ` + function + `\(m config\.Model[^)]*\) \(spool\.Model, error\) \{\n).*?\n\}\n`)
	line := "\t\"github.com/spoolhq/spool/model/" + pkg + "\"\n"
	replaced := make(map[string]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if strings.HasSuffix(file, "_test.go") || !strings.Contains(string(text), line) {
			continue
		}
		changed := strings.Replace(string(text), line, "", 1)
		changed = strings.ReplaceAll(changed, pkg+".DefaultBaseURL", `""`)
		changed = body.ReplaceAllString(changed, "${1}\treturn nil, nil\n}\n")
		replaced[file] = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(replaced[file], []byte(changed), 0o600); err != nil {
			return "", err
		}
	}
	if len(replaced) == 0 {
		return "", errors.New("cmd/spool has no adapter " + pkg)
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}
