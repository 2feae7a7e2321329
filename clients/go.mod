// This file keeps the folder out of the Go module above it: it has no Go code.
module github.com/spoolhq/spool/clients

go 1.26.0
