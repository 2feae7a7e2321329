//go:build unix

package script_test

import (
	"os/exec"
	"strconv"
	"testing"

	"github.com/spoolhq/spool/internal/testing/script"
)

// A program runs while others start at the same time.
func TestWrite(t *testing.T) {
	t.Parallel()

	for n := range 8 {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			for i := range 25 {
				program := script.Write(t, dir, strconv.Itoa(i), "#!/bin/sh\n")
				if out, err := exec.CommandContext(t.Context(), program).CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			}
		})
	}
}
