//go:build !unix

package sqlite

import (
	"os"

	"github.com/spoolhq/spool"
)

func lock(string) (*os.File, error) {
	return nil, spool.Errorf(spool.Invalid, "Exclusive is not supported on this system")
}

func unlock(*os.File) error { return nil }
