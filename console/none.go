//go:build noconsole

package console

import "io/fs"

// files are left out.
var files fs.FS
