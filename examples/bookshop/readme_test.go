package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// console finds the commands of the README, each with what it printed.
var console = regexp.MustCompile("(?s)```console\n(.*?)```")

// TestReadme runs the commands of the README in one shell, and compares what they print.
// With -update it writes that.
func TestReadme(t *testing.T) {
	t.Parallel()

	for _, program := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil && os.Getenv("SPOOL_TEST_REQUIRE") != "1" {
			t.Skipf("the commands of the README need %s: %v", program, err)
		}
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const mark = "\x1e"
	var script strings.Builder
	for _, block := range console.FindAllStringSubmatch(string(text), -1) {
		for _, command := range commands(block[1]) {
			script.WriteString("printf '" + mark + "'\n" + command + "\n")
		}
	}
	shell := exec.CommandContext(t.Context(), "bash")
	shell.Stdin = strings.NewReader(strings.ReplaceAll(script.String(), "http://127.0.0.1:8090", open(t).base))
	shell.Stderr = t.Output()
	printed, err := shell.Output()
	if err != nil {
		t.Fatal(err)
	}
	outputs := strings.Split(string(printed), mark)[1:]
	got := console.ReplaceAllStringFunc(string(text), func(block string) string {
		var out strings.Builder
		for _, command := range commands(console.FindStringSubmatch(block)[1]) {
			out.WriteString("$ " + command + "\n" + outputs[0])
			if outputs[0] != "" && !strings.HasSuffix(outputs[0], "\n") {
				out.WriteString("\n")
			}
			outputs = outputs[1:]
		}
		return "```console\n" + out.String() + "```"
	})
	if *update {
		if err := os.WriteFile("README.md", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(text), got); diff != "" {
		t.Errorf("the shop answers otherwise than the README says; -update writes it: %s", diff)
	}
}

// commands returns those of a block. A command goes on after a line that ends with \ or |.
func commands(block string) []string {
	var all []string
	goesOn := false
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		switch command, begins := strings.CutPrefix(line, "$ "); {
		case begins:
			all = append(all, command)
		case goesOn:
			all[len(all)-1] += "\n" + line
		default:
			continue
		}
		goesOn = strings.HasSuffix(line, `\`) || strings.HasSuffix(line, "|")
	}
	return all
}
