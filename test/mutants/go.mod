module github.com/spoolhq/spool/test/mutants

go 1.26.0
