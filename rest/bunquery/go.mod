module github.com/spoolhq/spool/rest/bunquery

go 1.26.0

replace github.com/spoolhq/spool/rest => ..

require (
	github.com/spoolhq/spool/rest v0.1.0
	github.com/uptrace/bun v1.3.0
)

require (
	github.com/danielgtaylor/huma/v2 v2.39.0 // indirect
	github.com/jinzhu/inflection v1.0.0 // indirect
	github.com/puzpuzpuz/xsync/v3 v3.5.1 // indirect
	github.com/samber/do/v2 v2.0.0 // indirect
	github.com/samber/go-type-to-string v1.8.0 // indirect
	github.com/tmthrgd/go-hex v0.0.0-20190904060850-447a3041c3bc // indirect
	github.com/vmihailenco/msgpack/v5 v5.4.1 // indirect
	github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
