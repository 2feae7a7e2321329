module github.com/spoolhq/spool/examples/websocket

go 1.26.0

replace github.com/spoolhq/spool/rest => ../../rest

require (
	github.com/coder/websocket v1.8.15
	github.com/google/go-cmp v0.7.0
	github.com/spoolhq/spool/rest v0.1.0
)

require (
	github.com/danielgtaylor/huma/v2 v2.39.0 // indirect
	github.com/samber/do/v2 v2.0.0 // indirect
	github.com/samber/go-type-to-string v1.8.0 // indirect
)
