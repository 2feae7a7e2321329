package query

import (
	"slices"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/internal/stage"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Option is an option of a route that answers with a list: [Filter], [Order], [OrderDefault]
// or [Search]. Several routes may share one value.
type Option interface {
	option.Route
	// Compile prepares the option for lists of m. It returns an error if the option does not
	// fit m; the error begins with place.
	Compile(m *driver.Model, place string) (stage.Stage, error)
}

// sent reports whether the query string has at least one of the parameters.
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
