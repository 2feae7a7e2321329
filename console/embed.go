//go:build !noconsole

package console

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

var files = func() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a valid one
	}
	return sub
}()
