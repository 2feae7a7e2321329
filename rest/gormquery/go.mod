module github.com/spoolhq/spool/rest/gormquery

go 1.26.0

replace github.com/spoolhq/spool/rest => ..

require (
	github.com/spoolhq/spool/rest v0.1.0
	gorm.io/gorm v1.31.2
)

require (
	github.com/danielgtaylor/huma/v2 v2.39.0 // indirect
	github.com/jinzhu/inflection v1.0.0 // indirect
	github.com/jinzhu/now v1.1.5 // indirect
	github.com/samber/do/v2 v2.0.0 // indirect
	github.com/samber/go-type-to-string v1.8.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)
