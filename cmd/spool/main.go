// Command spool serves durable agent runs from one binary: the HTTP API, a worker and a SQLite file,
// with a demo model if nothing else is configured.
package main

import "github.com/spoolhq/spool/cmd/spool/spoolmain"

func main() { spoolmain.Main() }
