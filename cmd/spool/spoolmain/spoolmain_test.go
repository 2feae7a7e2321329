package spoolmain_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/spoolmain"
)

// asProgram is a variable with which the test binary is a program that adds a provider of this name.
const asProgram = "SPOOLMAIN_TEST_PROVIDER"

func TestMain(m *testing.M) {
	if name := os.Getenv(asProgram); name != "" {
		spoolmain.Main(spoolmain.Provider{Name: name, Open: open})
	}
	os.Exit(m.Run())
}

// open makes a model that repeats the prompt after the value of a field of extra_body.
func open(m spoolmain.Model) (spool.Model, error) {
	before, ok := m.Extra["before"].(string)
	if !ok {
		return nil, errors.New("extra_body has no before")
	}
	return echo{m.Model + " " + before + " "}, nil
}

type echo struct{ before string }

func (e echo) Stream(_ context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		text := e.before + r.Messages[len(r.Messages)-1].Text()
		_ = yield(spool.TextDelta{Text: text}, nil) && yield(spool.TextEnd{}, nil) &&
			yield(spool.Finish{Reason: spool.FinishStop}, nil)
	}
}

// program returns the command of a program that adds a provider. Its configuration has the text.
func program(t *testing.T, provider, config string, args ...string) *exec.Cmd {
	t.Helper()

	file := filepath.Join(t.TempDir(), "spool.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"="+provider, "SPOOL_CONFIG="+file, "SPOOL_DATA="+t.TempDir(), "SPOOL_TOKEN=",
		"SPOOL_DATABASE=")
	return cmd
}

const oneModel = "models:\n  m: {provider: echo, model: x, extra_body: {before: says}}\nagents:\n  a: {model: m}\n"

// A program with a provider of its own serves runs of its models.
func TestProvider(t *testing.T) {
	t.Parallel()

	cmd := program(t, "echo", oneModel, "serve", "--listen", "127.0.0.1:0")
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	var at string
	for at == "" && lines.Scan() {
		at = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text())
	}
	body := strings.NewReader(`{"threadId": "t", "runId": "r", "prompt": "hello"}`)
	answer := request(t, http.MethodPost, at+"/api/agent/run", body)
	answer += request(t, http.MethodGet, at+"/api/agent/runs/r?wait=30s", nil)
	answer += request(t, http.MethodGet, at+"/api/agent/history?threadId=t", nil)
	if !strings.Contains(answer, "x says hello") {
		t.Errorf("the answers are\n%s", answer)
	}
}

func request(t *testing.T, method, url string, body io.Reader) string {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is wrong with a provider, or with a model of it, is an error before anything starts.
func TestProviderProblems(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ provider, config, want string }{
		"Taken": {"openai", oneModel, `spool: there is a provider "openai" already`},
		"Name":  {"a b", oneModel, "spool: the name of a provider may only have letters"},
		"Unknown": {
			"other", oneModel, "spool.yaml:2: models.m.provider: must be openai, anthropic, gemini, responses, demo or other",
		},
		"Option": {
			"echo", strings.Replace(oneModel, "model: x", "model: x, profile: x", 1),
			"spool.yaml:2: models.m.profile: the echo provider has no use for it",
		},
		"Open": {
			"echo", strings.Replace(oneModel, "before:", "after:", 1), "spool.yaml:2: models.m: extra_body has no before",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			out, err := program(t, c.provider, c.config, "check").CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), c.want) {
				t.Errorf("%v\n%s\nwant %s", err, out, c.want)
			}
		})
	}
}

// The JSON Schema of the program has its provider.
func TestProviderSchema(t *testing.T) {
	t.Parallel()

	out, err := program(t, "echo", "", "schema").Output()
	if err != nil || !strings.Contains(string(out), `"echo"`) {
		t.Errorf("%v, %d bytes without the provider", err, len(out))
	}
}
