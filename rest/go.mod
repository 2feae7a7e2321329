module github.com/spoolhq/spool/rest

go 1.26.0

require (
	github.com/danielgtaylor/huma/v2 v2.39.0
	github.com/golang-jwt/jwt/v5 v5.3.1
	github.com/google/go-cmp v0.7.0
	github.com/samber/do/v2 v2.0.0
)

require github.com/samber/go-type-to-string v1.8.0 // indirect
