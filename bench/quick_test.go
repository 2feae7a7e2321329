package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestQuickTable: every second round begins with the code of now, the ratios are those of the rounds, and a figure that
// the earlier commit cannot measure is skipped.
func TestQuickTable(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	b := &bench{ctx: t.Context(), rounds: 3, out: &out}
	var order []bool
	values := map[bool][]float64{false: {2, 4, 2}, true: {2, 2, 4}} // ratios 1, 0.5 and 2
	measure := func(f quickFigure, isNow bool) (float64, error) {
		switch {
		case f.what == quickFigures[0].what:
			order = append(order, isNow)
			value := values[isNow][0]
			values[isNow] = values[isNow][1:]
			return value, nil
		case f.what == quickFigures[1].what && !isNow:
			return 0, errors.New("there is no such section")
		default:
			return 1, nil
		}
	}
	if err := b.quickTable(time.Now(), measure); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, []bool{false, true, true, false, false, true}) {
		t.Errorf("the order is %v", order)
	}
	for _, want := range []string{
		"2.00      2.00   1.00  0.50 to 2.00\n",
		quickFigures[1].what + "    skipped, as the commit before cannot measure it: there is no such section\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	failed := errors.New("nothing answers")
	err := b.quickTable(time.Now(), func(_ quickFigure, isNow bool) (float64, error) {
		if isNow {
			return 0, failed
		}
		return 1, nil
	})
	if !errors.Is(err, failed) {
		t.Errorf("what cannot be measured now is %v", err)
	}
}

// TestQuickPage holds the table in CONTRIBUTING.md to the figures.
func TestQuickPage(t *testing.T) {
	t.Parallel()

	_, table, _ := strings.Cut(readFile(t, "../CONTRIBUTING.md"), "$ make bench/quick")
	table, _, _ = strings.Cut(table, "```")
	var rows []string
	for line := range strings.Lines(table) {
		for _, f := range quickFigures {
			if strings.HasPrefix(line, f.what+" ") && strings.Contains(line, " "+f.unit+" ") {
				rows = append(rows, f.what)
			}
		}
	}
	if len(rows) != len(quickFigures) {
		t.Errorf("the page has the figures %q, of %d: paste the output of make bench/quick", rows, len(quickFigures))
	}
}

// TestQuick measures all figures at the smallest size, of the files as they are and of the last commit. It builds three
// programs of each, so it runs with SPOOL_TEST_LONG=1.
func TestQuick(t *testing.T) {
	t.Parallel()

	if os.Getenv("SPOOL_TEST_LONG") != "1" {
		t.Skip("it takes long: SPOOL_TEST_LONG=1 runs it")
	}
	if !hasHistory(t.Context()) {
		t.Skip(noHistory)
	}
	before, err := os.ReadFile("RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args := []string{"-quick", "-short", "-rounds", "1", "-commit", "HEAD", "-dir", t.TempDir()}
	if err := run(context.Background(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	lines := slices.Collect(strings.Lines(out.String()))
	if len(lines) != 4+len(quickFigures) {
		t.Errorf("there are %d lines of %d figures:\n%s", len(lines), len(quickFigures), out.String())
	}
	for _, f := range quickFigures {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, f.what+" ") }) {
			t.Errorf("%s is not in\n%s", f.what, out.String())
		}
	}
	if after, err := os.ReadFile("RESULTS.md"); err != nil || !bytes.Equal(before, after) {
		t.Errorf("RESULTS.md was written: %v", err)
	}
}
