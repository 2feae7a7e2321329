package command

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spoolhq/spool/cmd/spool/internal/load"
	"github.com/spoolhq/spool/internal/testing/testwait"
)

// Each flag of load is in its help and in its page.
func TestLoadHelp(t *testing.T) {
	t.Parallel()

	got := command(nil, "load", "--help")
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "operations", "load.md"))
	if err != nil || got.code != exitOK || got.stderr != "" {
		t.Fatalf("%v, %+v", err, got)
	}
	for _, f := range loadFlags {
		if !strings.Contains(got.stdout, "--"+f.name) || !strings.Contains(got.stdout, f.help) {
			t.Errorf("the help lacks --%s", f.name)
		}
		if !strings.Contains(string(page), "| `--"+f.name+"` |") {
			t.Errorf("docs/operations/load.md has no row for --%s", f.name)
		}
	}
	for line := range strings.Lines(got.stdout) {
		if len(line) > 100 {
			t.Errorf("a line of the help is too long: %s", line)
		}
	}
}

// A load that must not be made ends with exit code 2, before anything is sent.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"Remote": {
			[]string{"https://agents.example"},
			"agents.example is not this machine: --remote allows to load a server that you own",
		},
		"Private":    {[]string{"http://10.0.0.1:8080"}, "10.0.0.1 is not this machine"},
		"Name":       {[]string{"http://localhost.example:8080"}, "localhost.example is not this machine"},
		"MaxRate":    {[]string{"--ladder", "10,2000"}, "2000 runs per second are more than --max-rate allows (1000)"},
		"Both":       {[]string{"--rate", "1", "--ladder", "1,2"}, "--rate and --ladder exclude each other"},
		"Ladder":     {[]string{"--ladder", "20,10"}, "--ladder: the rates must ascend"},
		"Rate":       {[]string{"--rate", "0"}, "a rate must be greater than 0"},
		"Stops":      {[]string{"--stops", "2"}, "the share of stops must be from 0 to 1"},
		"NoNumber":   {[]string{"--resumes", "NaN"}, "the share of resumes must be from 0 to 1"},
		"NoFolder":   {[]string{"--json", "load_test.go/r.json"}, "--json: there is no folder load_test.go"},
		"PNG":        {[]string{"--svg", "out/r.PNG"}, "--svg: the chart is drawn as out/r.svg, not as .PNG"},
		"Watchers":   {[]string{"--watchers", "100", "--in-flight", "201"}, "are more than 20000 clients"},
		"NoURL":      {[]string{"127.0.0.1:8080"}, "the address must be an http or https URL"},
		"Password":   {[]string{"http://me:secret@127.0.0.1"}, "the address has a password in it"},
		"TwoServers": {[]string{"http://127.0.0.1:1", "http://127.0.0.1:2"}, `load has no place for "http://127.0.0.1:2"`},
		"Flag":       {[]string{"--laddr", "1"}, "flag provided but not defined: -laddr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := command(nil, append([]string{"load"}, c.args...)...)
			if got.code != exitUsage || !strings.Contains(got.stderr, c.want) ||
				!strings.Contains(got.stderr, `Run "spool load --help"`) || got.stdout != "" {
				t.Errorf("%+v", got)
			}
			if strings.Contains(got.stderr, "secret") {
				t.Error("it prints the password")
			}
		})
	}
}

// A load of a server is reported on the terminal and in files, and leaves nothing behind.
func TestLoad(t *testing.T) {
	t.Parallel()

	p := startWith(t, []string{"SPOOL_TOKEN=0123456789abcdef"}, t.TempDir())
	dir := t.TempDir()
	args := []string{
		"load", "--rate", "8", "--step", "500ms", "--warm-up", "250ms", "--drain", "60s", "--max-duration", "2m", "--max-p99",
		"1m", "--stops", "0.25", "--prompt", "Hi", "--json", filepath.Join(dir, "r.json"), "--svg",
		filepath.Join(dir, "r.svg"),
	}
	env := map[string]string{"SPOOL_URL": p.url, "SPOOL_TOKEN": "0123456789abcdef"}
	got := command(env, args...)
	if got.code != exitOK || !strings.Contains(got.stdout, "OFFERED/S") || !strings.Contains(got.stdout, "first token") ||
		!strings.Contains(got.stderr, "1 of 1, 8/s: ") {
		t.Fatalf("%+v", got)
	}
	text, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r load.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rungs) != 1 || r.Rungs[0].Ended != 4 || r.Rungs[0].Stopped+r.Rungs[0].StoppedLate != 1 ||
		r.Threads.Deleted != r.Threads.Made || r.Command.Server != p.url {
		t.Errorf("%s", text)
	}
	if picture, err := os.ReadFile(filepath.Join(dir, "r.svg")); err != nil ||
		!bytes.Contains(picture, []byte("spool load "+p.url)) {
		t.Errorf("%v: %s", err, picture)
	}
	if bytes.Contains(text, []byte("0123456789abcdef")) {
		t.Error("the report has the token")
	}
	delete(env, "SPOOL_TOKEN")
	if got := command(env, args...); got.code != exitFailure ||
		!strings.Contains(got.stderr, "no run of the warm-up succeeded: start: 401 unauthorized") ||
		!strings.Contains(got.stderr, namesToken) {
		t.Errorf("without a token: %+v", got)
	}
}

// A server that dies ends the load with exit code 1 and the report. Its threads can be removed later.
func TestLoadServerDies(t *testing.T) {
	t.Parallel()

	data, file := t.TempDir(), filepath.Join(t.TempDir(), "r.json")
	p := start(t, data)
	ended := make(chan result, 1)
	go func() {
		ended <- command(nil, "load", "--rate", "5", "--warm-up", "0s", "--step", "8s", "--drain", "1s", "--json", file,
			p.url)
	}()
	ctx := patiently(t)
	// The answer to the start of the first of them has come by then: the load knows that it has a thread.
	for strings.Count(p.get(t, "/api/threads"), `"id":"load-`) < 3 {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		}
	}
	p.signal(t, syscall.SIGKILL)
	got := testwait.For(t, ended, "the end of the load")
	if got.code != exitFailure || !strings.Contains(got.stderr, "the server does not answer any more") ||
		!strings.Contains(got.stdout, "The load ended early: the server does not answer any more") {
		t.Errorf("%+v", got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r load.Report
	if err := json.Unmarshal(text, &r); err != nil || !r.Lost || len(r.Rungs) != 1 || r.HeldPerSecond != 0 ||
		r.Saturation != "" || r.Threads.Left == 0 {
		t.Errorf("%v: %s", err, text)
	}

	_, removal, _ := strings.Cut(got.stdout, "To delete them: spool ")
	removal, _, _ = strings.Cut(removal, p.url)
	p = start(t, data)
	if got := command(nil, append(strings.Fields(removal), p.url)...); got.code != exitOK ||
		!strings.Contains(got.stdout, " threads were found, and ") {
		t.Errorf("%q: %+v", removal, got)
	}
	if threads := p.get(t, "/api/threads"); strings.Contains(threads, "load-") {
		t.Errorf("the server still has %s", threads)
	}
}

// Ctrl-C prints the report so far, stops the runs and deletes the threads.
func TestLoadInterrupted(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	cmd := exec.CommandContext(t.Context(), os.Args[0], "load", "--rate", "5", "--warm-up", "0s", "--step", "10m",
		"--max-duration", "20m", "--prompt", "slow 1000", p.url)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stdout bytes.Buffer
	var stderr printed
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	ctx := patiently(t)
	for !strings.Contains(stderr.String(), "1 of 1") || !strings.Contains(p.get(t, "/api/threads"), `"state":"RUNNING"`) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- cmd.Wait() }()
	_ = testwait.For(t, ended, "the end of the load")
	if code := cmd.ProcessState.ExitCode(); code != exitFailure ||
		!strings.Contains(stdout.String(), "The load ended early: interrupted.") {
		t.Errorf("exit code %d: %s%s", code, &stdout, &stderr)
	}
	if threads := p.get(t, "/api/threads"); strings.Contains(threads, "load-") {
		t.Errorf("the server still has %s", threads)
	}
}
