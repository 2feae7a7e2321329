package cron

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The periods of each zone of the binary must join: ZoneBounds alone gives bounds that do not. The archive beside the
// tools has the same zones. Those of a machine may be written in another form, and list later changes.
func TestPeriodsJoin(t *testing.T) {
	t.Parallel()

	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		missing(t, "no go command: ", err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		missing(t, "no time zones beside the tools: ", err)
	}
	defer archive.Close()
	for _, file := range archive.File {
		if file.FileInfo().IsDir() {
			continue
		}
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		zone, err := time.LoadLocationFromTZData(file.Name, data)
		if err != nil {
			t.Fatal(err)
		}
		checkPeriods(t, zone)
	}
}

// missing skips a test that needs something that the machine does not have, or ends it if the machine has to have it.
func missing(t *testing.T, what ...any) {
	t.Helper()

	if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
		t.Fatal(what...)
	}
	t.Skip(what...)
}

// checkPeriods walks over the periods of a zone until the year 2100. A change of the offset must be at a period's
// start, as seen from its first second and from its last one.
func checkPeriods(t *testing.T, zone *time.Location) {
	t.Helper()

	until := time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	before := periodAt(zone, earliest)
	changed := before.start
	for at := before.end + 1; at < until; {
		p := periodAt(zone, at)
		if p.start > at || p.end < at || p.offset%60 != 0 {
			t.Fatalf("%s: the period at %d is %+v", zone, at, p)
		}
		if p.offset != before.offset {
			changed = at
			if p.start != at || p.before != before.offset {
				t.Fatalf("%s: the offset changes at %d, and the period is %+v", zone, at, p)
			}
		}
		if late := periodAt(zone, p.end); late.start < changed || late.end != p.end || late.offset != p.offset {
			t.Fatalf("%s: the period at %d is %+v, and in its last second %+v", zone, at, p, late)
		}
		before, at = p, p.end+1
	}
}
