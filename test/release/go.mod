module github.com/spoolhq/spool/test/release

go 1.26.0

require (
	go.yaml.in/yaml/v4 v4.0.0
	golang.org/x/mod v0.42.0
)
