// Command release writes a module proxy of the working tree, as it would be published: one
// version of the root module, of rest and of each leaf.
//
//	GOWORK=off go -C test/release run . -out /tmp/proxy
//	GOPROXY=file:///tmp/proxy,$(go env GOPROXY) GONOSUMDB=github.com/spoolhq go install github.com/spoolhq/spool/cmd/spool@latest
package main

import (
	"flag"
	"log/slog"
	"os"
)

func main() {
	out := flag.String("out", "", "folder of the proxy; it is made when it is not there")
	version := flag.String("version", "", "version of all modules; empty: the newest of CHANGELOG.md")
	flag.Parse()
	if err := publish(*out, *version); err != nil {
		slog.Error("write a module proxy", "error", err)
		os.Exit(1)
	}
}
