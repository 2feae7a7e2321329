module github.com/spoolhq/spool/rest/throttle/redis

go 1.26.0

replace github.com/spoolhq/spool/rest => ../..

require (
	github.com/redis/go-redis/v9 v9.23.0
	github.com/spoolhq/spool/rest v0.1.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/danielgtaylor/huma/v2 v2.39.0 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/samber/do/v2 v2.0.0 // indirect
	github.com/samber/go-type-to-string v1.8.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
