package archtest_test

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/testing/archtest"
)

var update = flag.Bool("update", false, "write what tests compare with")

const partsPage = "docs/design/0014-the-parts-of-the-engine.md"

// The goals of the division.
const (
	packageGoal  = 3000 // lines
	receiverGoal = 40   // methods
	claimGoal    = 8    // returns
)

// TestPartsNow computes what the page about the division says of the code as it is now.
func TestPartsNow(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(filepath.Join(root, partsPage))
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- now -->\n\n", "\n<!-- end of now -->"
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", partsPage)
	}
	table, err := partsTable(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	want := head + begin + table + end + tail
	switch {
	case *update:
		if err := os.WriteFile(filepath.Join(root, partsPage), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(text):
		t.Errorf("%s is not what the code is; run go test ./internal/testing/archtest -run TestPartsNow -update\n%s",
			partsPage, table)
	}
}

// partsTable returns the table. Its second column is history: the same count of 29d5fa7.
func partsTable(tree fs.FS) (string, error) {
	engine, err := archtest.Sizes(tree, "engine")
	if err != nil {
		return "", err
	}
	server, err := archtest.Sizes(tree, "server")
	if err != nil {
		return "", err
	}
	trips, err := archtest.Trips(tree, module, "engine/...",
		archtest.Entry{Package: "engine/internal/thread", Func: "ClaimRun", Parameter: "db"},
		archtest.Entry{Package: "engine", Func: "Engine.Run", Parameter: "r"},
		archtest.Entry{Package: "engine", Func: "Engine.Respond", Parameter: "r"},
	)
	if err != nil {
		return "", err
	}
	both := slices.Concat(engine, server)
	largest := slices.MaxFunc(both, func(a, b archtest.Size) int { return cmp.Compare(a.Lines, b.Lines) })
	receivers := byMethods(both)
	facade := engine[slices.IndexFunc(engine, func(s archtest.Size) bool { return s.Package == "engine" })].Methods

	var out strings.Builder
	row := func(cells ...string) { fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | ")) }
	row("", "before", "now", "goal")
	out.WriteString("|---|---|---|---|\n")
	row("largest package of `engine/...` and `server/...`", "18,694 lines in 109 files",
		fmt.Sprintf("`%s`, %s lines in %d files", largest.Package, thousands(largest.Lines), largest.Files),
		bound(packageGoal, " lines", largest.Lines))
	row("largest receivers, with their methods", "`engine.Engine` 148, `engine.loop` 83, `engine.held` 53",
		fmt.Sprintf("`%s` %d, `%s` %d, `%s` %d", receivers[0].name, receivers[0].methods, receivers[1].name,
			receivers[1].methods, receivers[2].name, receivers[2].methods),
		bound(receiverGoal, "", receivers[0].methods))
	row("methods of `engine.Engine`", "148",
		fmt.Sprintf("%d, with `Watcher` %d and `Admin` %d embedded", facade["Engine"], facade["Watcher"], facade["Admin"]),
		"")
	row("a claim: `thread.ClaimRun`, its transaction", "57 stops, 27 files, 30 returns", told(trips[0]),
		bound(claimGoal, " returns", trips[0].Returns()))
	row("a start: `Engine.Run`, its request", "32 stops, 15 files, 17 returns", told(trips[1]), "")
	row("an answer: `Engine.Respond`, its response", "9 stops, 7 files, 2 returns", told(trips[2]), "")
	return out.String(), nil
}

type typeSize struct {
	name    string
	methods int
}

// byMethods returns the types of the packages, the one with the most methods first.
func byMethods(sizes []archtest.Size) (all []typeSize) {
	for _, s := range sizes {
		for name, methods := range s.Methods {
			all = append(all, typeSize{path.Base(s.Package) + "." + name, methods})
		}
	}
	slices.SortFunc(all, func(a, b typeSize) int {
		return cmp.Or(cmp.Compare(b.methods, a.methods), cmp.Compare(a.name, b.name))
	})
	return all
}

// told returns the numbers of a trip.
func told(t archtest.Trip) string {
	return fmt.Sprintf("%d stops, %d files, %d returns", len(t), t.Files(), t.Returns())
}

// bound returns the largest number that a goal allows, and tells a miss.
func bound(goal int, unit string, now int) string {
	text := "at most " + thousands(goal) + unit
	if now > goal {
		text += ": **missed**"
	}
	return text
}

// thousands returns a number below a million, with a comma between thousands.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

var (
	// A row of the page's table of parts, and a name in its first column.
	partsRow = regexp.MustCompile("(?m)^\\| (`[a-z]+`[^|]*) \\|.*\\|$")
	partName = regexp.MustCompile("`([a-z]+)`")
	// A file on the way of a trip.
	tripFile = regexp.MustCompile("`([a-z]+/[a-z_]+\\.go)`")
)

// TestPartsAreOnThePage holds the page's table of parts to the folders of engine/internal. Each part has a
// row of imports of its own, without an import that nothing needs.
func TestPartsAreOnThePage(t *testing.T) {
	t.Parallel()

	tree := os.DirFS(root)
	text, err := fs.ReadFile(tree, partsPage)
	if err != nil {
		t.Fatal(err)
	}
	table, _, found := strings.Cut(string(text), "Four rules open the circles")
	if !found {
		t.Fatalf("%s has no rules below its table", partsPage)
	}
	var names []string
	for _, row := range partsRow.FindAllStringSubmatch(table, -1) {
		for _, name := range partName.FindAllStringSubmatch(row[1], -1) {
			names = append(names, name[1])
		}
	}
	folders, err := fs.ReadDir(tree, "engine/internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		name := folder.Name()
		if n := len(slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s != name })); n != 1 {
			t.Errorf("the part %s is %d times in the table of %s, want once", name, n, partsPage)
		}
		if !slices.ContainsFunc(layers, func(r archtest.Row) bool { return r.Place == "engine/internal/"+name }) {
			t.Errorf("the part %s has no row of imports of its own", name)
		}
	}
	if len(names) != len(folders) {
		t.Errorf("the table of %s has %d parts, and engine/internal %d: %q", partsPage, len(names), len(folders), names)
	}
	report(t, func() ([]archtest.Problem, error) { return archtest.Unused(tree, module, "engine/internal", layers) })
}

// TestTripsOnThePage holds the files of the page's trips to those that there are.
func TestTripsOnThePage(t *testing.T) {
	t.Parallel()

	tree := os.DirFS(root)
	text, err := fs.ReadFile(tree, partsPage)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## Three trips\n")
	trips, _, found := strings.Cut(rest, "\n## ")
	files := tripFile.FindAllStringSubmatch(trips, -1)
	if !found || len(files) == 0 {
		t.Fatalf("%s has no trips", partsPage)
	}
	for _, file := range files {
		_, part := fs.Stat(tree, path.Join("engine/internal", file[1]))
		if _, err := fs.Stat(tree, file[1]); err != nil && part != nil {
			t.Errorf("a trip of %s leads through %s, which is not there", partsPage, file[1])
		}
	}
}
