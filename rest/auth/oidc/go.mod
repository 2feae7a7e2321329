module github.com/spoolhq/spool/rest/auth/oidc

go 1.26.0

replace github.com/spoolhq/spool/rest => ../..

require (
	github.com/coreos/go-oidc/v3 v3.21.0
	github.com/spoolhq/spool/rest v0.1.0
)

require (
	github.com/danielgtaylor/huma/v2 v2.39.0 // indirect
	github.com/go-jose/go-jose/v4 v4.1.4 // indirect
	github.com/golang-jwt/jwt/v5 v5.3.1 // indirect
	github.com/samber/do/v2 v2.0.0 // indirect
	github.com/samber/go-type-to-string v1.8.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
)
