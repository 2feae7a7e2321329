package tokenguess_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spoolhq/spool/internal/testing/inputs"
)

// clients has the packages of npm.
const clients = "../../clients/typescript"

// The counts in testdata are those of the real tokenizer.
func TestCounts(t *testing.T) {
	t.Parallel()

	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(clients, "node_modules", "gpt-tokenizer"))
	}
	if err != nil && os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
		t.Fatalf("%v, and SPOOL_TEST_REQUIRE is 1: run make deps/npm", err)
	} else if err != nil {
		t.Skipf("%v: make deps/npm installs it", err)
	}
	inputs.Read(t, "internal/tokenguess")
	out, err := exec.CommandContext(t.Context(), node, "-e", `
		const { countTokens } = require("./`+clients+`/node_modules/gpt-tokenizer/cjs/encoding/o200k_base.js");
		const samples = JSON.parse(require("fs").readFileSync("testdata/texts.json", "utf8"));
		console.log(JSON.stringify(samples.map((s) => countTokens(s.text))));`).Output()
	if err != nil {
		t.Fatal(err)
	}
	var counts []int64
	if err := json.Unmarshal(out, &counts); err != nil {
		t.Fatal(err)
	}
	for i, s := range samples(t) {
		if counts[i] != s.Tokens {
			t.Errorf("%s has %d tokens, not %d", s.Name, counts[i], s.Tokens)
		}
	}
}
