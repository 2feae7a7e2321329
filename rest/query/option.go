package query

import (
	"slices"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/internal/stage"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Option is an option of a route that answers with a list: [Filter], [Order], [OrderDefault]
// or [Search]. One value may be given to any number of routes.
type Option interface {
	option.Route
	// Compile prepares the option for lists of m. The error is a mistake of registration,
	// starts with place and names what is wrong.
	Compile(m *driver.Model, place string) (stage.Stage, error)
}

// sent reports whether the query string has one of the parameters, however often.
func sent(in *bind.Input, names ...string) bool {
	if in.Request().URL.RawQuery == "" {
		return false
	}
	for name := range in.QueryNames() {
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}
