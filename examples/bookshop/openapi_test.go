package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what tests compare with")

// checks are the programs of test/openapi.
const checks = "../../test/openapi"

// node runs one of the programs that look at documents from outside.
func node(t *testing.T, program string, args ...string) {
	t.Helper()
	_, missing := os.Stat(filepath.Join(checks, "..", "node_modules"))
	if missing == nil {
		_, missing = exec.LookPath("node")
	}
	if missing != nil && os.Getenv("SPOOL_TEST_REQUIRE") != "1" {
		t.Skipf("test/node_modules is not there, \"make deps\" makes it: %v", missing)
	}
	command := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(checks, program)}, args...)...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// TestDocument compares the document with openapi.json, which -update writes.
func TestDocument(t *testing.T) {
	t.Parallel()

	const golden = "openapi.json"
	got := open(t).get("/openapi.json").body
	if *update {
		if err := os.WriteFile(golden, append(bytes.TrimSpace(got), '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.TrimSpace(want)), string(bytes.TrimSpace(got))); diff != "" {
		t.Errorf("the document has changed; if that is meant, run the test with -update: %s", diff)
	}
	node(t, "validate.mjs", golden)
	node(t, "lint.mjs", golden)
}

// TestTypedClient compiles a client whose types are made of the document, and has it use the
// shop. What it expects is in client/shop.ts.
func TestTypedClient(t *testing.T) {
	t.Parallel()

	v := open(t)
	node(t, "client.mjs", "openapi.json", "client/shop.ts", t.TempDir(), "--run", v.base, demoKey, demoCustomer,
		demoPassword)
}

// TestDocsPage opens the page for people in a browser, and tries an operation out there.
func TestDocsPage(t *testing.T) {
	t.Parallel()

	if _, err := os.Stat(browser()); err != nil && os.Getenv("SPOOL_TEST_REQUIRE") != "1" {
		t.Skipf("there is no browser: %v", err)
	}
	picture := filepath.Join(t.TempDir(), "docs.png")
	const books = "#operations-catalog-Books_list "
	node(t, "page.mjs", open(t).base+"/docs", picture,
		"--click", books+".opblock-summary-control", "--click", books+".try-out__btn", "--click", books+".execute",
		"--expect", "Book shop", "--expect", "A part of the title.", "--expect", "/partner/stock/{isbn}", "--expect",
		"Around the World in Eighty Days")
}

func browser() string {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	return "/usr/bin/chromium"
}
