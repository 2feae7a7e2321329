module github.com/spoolhq/spool/test/webhook

go 1.26.0

require (
	github.com/spoolhq/spool v0.1.0
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
)

replace (
	github.com/spoolhq/spool => ../..
	github.com/spoolhq/spool/rest => ../../rest
)
