//go:build unix

// Command mutants plants mistakes in the product, one at a time, and says which tier of the tests finds each.
//
// A mistake is a small edit of a line that a test covers: a condition is negated, a bound is moved by one, a
// statement or a defer is dropped, an error is not returned. The seed decides which lines and which edits. An edit that
// does not compile counts as none, and the next of the seed takes its place. No file of the tree is changed: the go
// command reads the edit from an overlay (-overlay), in a folder for temporary files.
//
// The arguments are tiers, in the order in which they try a mistake. Only what a tier misses reaches the next one. A
// tier is a list of "go test" commands in tiers.json, which must say what test/go.sh runs. TIER=TREE runs the tests
// of another checkout, over its own product: the edit goes into the function of the same name, and is left out ("no
// place") where that function differs in the line. A line counts as covered if any of the tiers covers it.
//
// For each tier, coverage is measured once: each test, and each subject of TestEngine, has a process of its own. The
// cache keeps what it covers and how long it takes, by the contents of all sources that the package is compiled from.
// So after a new test, only its own package is measured again. A mistake then runs only the tests that cover its
// line: those of its own package first, the fastest first, until one fails. A test that fails has to fail twice with
// the mistake, unless it takes five times its time or has 6 GiB, which counts as a failure. A test that fails without
// a mistake is left out, and so is a command whose services are missing. The report names both.
//
// Mistakes run without the race detector, also in tests that a tier runs with it: what the detector alone would find
// counts as missed. With -races, the program plants the data races of races.json instead, and runs only the tests that
// a tier runs with the detector. Here each tier gets each race. A race whose text is not in the product any more is
// an error.
//
// Not seen is what tests cover in other processes that they start, such as those of test/docs and test/release: they
// kill no mistake, in any tier.
//
// The results are lines of JSON in a file. The same command continues after the last line, whatever ended it, and
// prints a report in Markdown. From this folder, with the checkout of b2fc5f86 in ../../../before:
//
//	git worktree add ../../../before b2fc5f86
//	export GOFLAGS=-trimpath CGO_ENABLED=0 GOGC=400 GOWORK=off
//	../services/run.sh -- go run . -index quick before=../../../before              # coverage
//	../services/run.sh -- go run . -mutants 60 -seed 28 -minutes 600 quick before=../../../before > mutants.md
//	../services/run.sh -- go run . -races -minutes 240 quick before=../../../before > races.md
//
// On two quiet cores, coverage takes about half an hour for each tier. A mistake that is found takes 10 to 60 seconds,
// most of them for the compiler. One that is not found runs all tests that cover its line, which can take 20 minutes in
// each tier. So 60 mistakes take five to seven hours if ten are missed, and the races two.
//
// For one package, to try a new test:
//
//	GOWORK=off go run . -mutants 5 -only '^rest/page/' -packages '^rest/page$' quick
package main
