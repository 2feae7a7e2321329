module github.com/spoolhq/spool

go 1.26
