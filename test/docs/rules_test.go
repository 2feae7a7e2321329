package docs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What a page shows is what is printed, but for placeholders, what is cut, and long lines.
func TestMatch(t *testing.T) {
	t.Parallel()

	long := `{"kind":"thread","event":{"threadId":"count","seq":4,"type":"RUN_ENDED","payload":{"runId":"r1"},`
	for name, c := range map[string]struct {
		shown, printed, missing string
	}{
		"Same":           {"a\nb", "a\nb\n", ""},
		"Other":          {"a\nb", "a\nc", "b"},
		"Less":           {"a\nb", "a", "b"},
		"More":           {"a", "a\nb", "a"},
		"Order":          {"a\nb", "b\na", "a"},
		"Time":           {`{"at":"2026-11-21T20:10:05.592303Z"}`, `{"at":"2027-01-01T00:00:00Z"}`, ""},
		"NoTime":         {`{"at":"2026-11-21T20:10:05.592303Z"}`, `{"at":null}`, `{"at":"2026-11-21T20:10:05.592303Z"}`},
		"ID":             {"run_06gzzke1n55ctydm0c3s18qet0", "run_06gzzd5s8nrgydwhrfgkt6n3rg", ""},
		"Number":         {"seq 3", "seq 4", "seq 3"},
		"Cut":            {`{"a":1,…}`, `{"a":1,"b":2}`, ""},
		"CutNotAll":      {`{"a":1,…}`, `{"a":2,"b":2}`, `{"a":1,…}`},
		"CutLines":       {"a\n…\nd", "a\nb\nc\nd", ""},
		"CutEnd":         {"a\n…", "a\nb\nc\nd", ""},
		"Columns":        {"JOB     THREAD", "JOB  THREAD", ""},
		"Wrapped":        {long + "\n\"seq\":1}", long + `"seq":1}`, ""},
		"NotWrapped":     {"{\"a\":1,\n\"b\":2}", `{"a":1,"b":2}`, `{"a":1,`},
		"SpaceAtTheEnd":  {"a\nb", "a \nb\n\n", ""},
		"Folder":         {"/srv/spool/a.db", "/tmp/1/page/a.db", ""},
		"IdempotencyKey": {"c1/1de47dd5e33b0a2d38c19cbeacf32ae3", "c1/8487def6e1d3b3fd995ec2be13adeb1b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if ok, missing := match(c.shown, c.printed); missing != c.missing || ok != (c.missing == "") {
				t.Errorf("match: %v, %q", ok, missing)
			}
		})
	}
}

// What a server prints in the background may be left out as a whole, and only so.
func TestVisible(t *testing.T) {
	t.Parallel()

	const log = `time=2026-11-21T19:54:38.327Z level=INFO msg="the database is open"
`
	const banner = `spool listens on http://127.0.0.1:8080
  auth    none

Start a run, and watch it:

  curl

All endpoints, to read and to try: http://127.0.0.1:8080/docs

`
	const answer = `{"accepted":true}
`
	const jobs = `[1]-  Terminated              spool serve
loop.sh: line 20: 12042 Killed                  spool serve --data subagents
`
	for name, c := range map[string]struct{ shown, want string }{
		"Neither": {answer, answer},
		"Banner":  {"spool listens on http://127.0.0.1:8080\n…\n", banner + answer},
		"Log":     {log + answer, log + answer},
	} {
		if diff := cmp.Diff(c.want, visible(c.shown, log+banner+answer+jobs)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Code without a fence is run by nobody.
func TestIndented(t *testing.T) {
	t.Parallel()

	for _, page := range pages(t) {
		for _, line := range indented(read(t, page)) {
			t.Errorf(
				"%s:%d: an indented block, which no test runs: put a fence around it, and see test/docs/doc.go for what its language means",
				page, line,
			)
		}
	}
}

func TestFindIndented(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		page string
		want []int
	}{
		"Code":      {"text\n\n    $ a\n    b\n\ntext\n", []int{3}},
		"AtTheTop":  {"    a\n", []int{1}},
		"Tab":       {"text\n\n\ta\n", []int{3}},
		"Paragraph": {"text\n    goes on\n", nil},
		"Fence":     {"text\n\n```sh\n\n    a\n```\n\n    b\n", []int{8}},
		"List":      {"- item\n\n  more\n\n    - below\n\n      more\n\n1. item\n\n   more\n", nil},
		"CodeInIt":  {"- item\n\n      a\n", []int{3}},
		"BehindIt":  {"- item\n\ntext\n\n    a\n", []int{5}},
		"FenceInIt": {"- item\n\n  ```sh\n      a\n  ```\n", nil},
	} {
		if diff := cmp.Diff(c.want, indented(c.page)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()

	const page = "# T\n\n```sh\na\n```\n\ntext\n\n<!-- not run: why -->\n```text\nb\n\nc\n```\n- x\n\n  ```console\n  $ d\n  e\n  ```\n"
	want := []block{
		{page: "p", line: 3, lang: "sh", text: "a\n"},
		{page: "p", line: 10, lang: "text", text: "b\n\nc\n", marker: "not run: why"},
		{page: "p", line: 17, lang: "console", text: "$ d\ne\n"},
	}
	if diff := cmp.Diff(
		want, parse("p", page), cmp.AllowUnexported(block{}), cmpopts.IgnoreFields(block{}, "behind"),
	); diff != "" {
		t.Error(diff)
	}
}
