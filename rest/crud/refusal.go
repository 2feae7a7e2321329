package crud

import (
	"errors"
	"net/http"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/internal/fault"
)

// refusal turns an error of the service into an answer, without texts of the database.
func (c *core[T, K]) refusal(err error, route Route) error {
	var known *rest.Error
	var broken *ConstraintError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, rest.ErrNotFound):
		return &rest.Error{Status: http.StatusNotFound, Detail: c.model.name + " was not found.", Err: err}
	case errors.As(err, &broken):
		return c.constraint(broken, route)
	default:
		return err
	}
}

func (c *core[T, K]) constraint(broken *ConstraintError, route Route) error {
	var path []any
	name := c.model.jsonName(broken.Field)
	if broken.Field != "" {
		path = []any{name}
	}
	kind := broken.Constraint
	if kind == ForeignKey && route == Delete {
		kind = Referenced
	}
	invalid := func(f fault.Fault) error {
		e := rest.Invalid(f)
		e.Err = broken
		return e
	}
	switch kind {
	case Unique:
		return c.taken(broken, name, path)
	case Referenced:
		return &rest.Error{
			Status: http.StatusConflict, Code: "referenced", Err: broken,
			Detail: "The " + c.name + " is still referred to by others.",
		}
	case ForeignKey:
		for _, f := range c.parents {
			if f.Name == broken.Field {
				return &rest.Error{Status: http.StatusNotFound, Err: broken}
			}
		}
		return invalid(fault.Value(fault.Body, path, "must refer to something that exists"))
	case NotNull:
		return invalid(fault.Null(fault.Body, path))
	case Check:
		return invalid(fault.Value(fault.Body, path, "must obey a rule of the database"))
	default:
		return broken
	}
}

// taken returns the answer for a value that another row has already.
func (c *core[T, K]) taken(broken *ConstraintError, name string, path []any) error {
	e := &rest.Error{
		Status: http.StatusConflict, Code: "not_unique", Err: broken,
		Detail: "There is " + article(c.name) + " like this already.",
	}
	if path != nil {
		e.Detail = "There is " + article(c.name) + " with this " + name + " already."
		e.Faults = []fault.Fault{fault.Value(fault.Body, path, "must be unique, but there is one like it already")}
	}
	return e
}

func article(name string) string {
	if strings.ContainsAny(name[:1], "AEIOaeio") {
		return "an " + name
	}
	return "a " + name
}
