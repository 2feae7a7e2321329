package main

import (
	"net/http"

	"github.com/go-playground/validator/v10"
	"github.com/labstack/echo/v5"
)

// echoAPI is the catalog on echo, with only the middleware that a case requires.
type echoAPI struct {
	catalog *catalog
	limiter *limiter
}

// echoValidator is the validator for echo, which has none of its own.
type echoValidator struct{ validate *validator.Validate }

func (v echoValidator) Validate(in any) error { return v.validate.Struct(in) }

func newEcho(c *catalog) http.Handler {
	a := &echoAPI{c, newLimiter()}
	e := echo.New()
	e.Validator = echoValidator{prepare(validator.New(validator.WithRequiredStructEnabled()))}
	e.GET("/items/:id", a.get)
	e.GET("/items", a.list)
	e.POST("/items", a.post)
	e.GET("/shops/:shop/items/:id", a.offer)
	e.GET("/staff/:shop/items/:id", a.offer, a.guard)
	return e
}

type echoWindow struct {
	Limit  int `query:"limit"  validate:"gte=1,lte=100"`
	Offset int `query:"offset" validate:"gte=0"`
}

type echoView struct {
	Shop    string `param:"shop"     validate:"required"`
	ID      int64  `param:"id"       validate:"required"`
	Lang    string `query:"lang"     validate:"oneof=en de fr"`
	Expand  bool   `query:"expand"`
	MaxTags int    `query:"max_tags" validate:"gte=0,lte=8"`
}

type echoDraft struct {
	Name     string   `json:"name"     validate:"required,max=80"`
	SKU      string   `json:"sku"      validate:"required,sku"`
	Category string   `json:"category" validate:"required,oneof=office garden kitchen"`
	Price    float64  `json:"price"    validate:"required,gt=0,lte=100000"`
	Quantity int      `json:"quantity" validate:"gte=0,lte=1000"`
	Tags     []string `json:"tags"     validate:"max=8,dive,min=1,max=20"`
	Note     string   `json:"note"     validate:"max=200"`
}

func (a *echoAPI) fail(c *echo.Context, status int, fields ...fieldProblem) error {
	return c.JSON(status, &problem{Title: http.StatusText(status), Status: status, Errors: fields})
}

func (a *echoAPI) invalid(c *echo.Context, err error) error {
	return a.fail(c, http.StatusUnprocessableEntity, fieldsOf(err)...)
}

func (a *echoAPI) get(c *echo.Context) error {
	id, err := echo.PathParam[int64](c, "id")
	if err != nil {
		return a.invalid(c, err)
	}
	it, ok := a.catalog.item(id)
	if !ok {
		return a.fail(c, http.StatusNotFound)
	}
	return c.JSON(http.StatusOK, &it)
}

func (a *echoAPI) list(c *echo.Context) error {
	in := echoWindow{Limit: defaultLimit}
	if err := c.Bind(&in); err != nil {
		return a.invalid(c, err)
	}
	if err := c.Validate(&in); err != nil {
		return a.invalid(c, err)
	}
	return c.JSON(http.StatusOK, &itemPage{Items: a.catalog.page(in.Limit, in.Offset), Count: len(a.catalog.items)})
}

func (a *echoAPI) offer(c *echo.Context) error {
	in := echoView{Lang: defaultLang, MaxTags: maxTags}
	if err := c.Bind(&in); err != nil {
		return a.invalid(c, err)
	}
	if err := c.Validate(&in); err != nil {
		return a.invalid(c, err)
	}
	o, ok := a.catalog.offer(in.Shop, in.ID, in.Lang, in.Expand, in.MaxTags)
	if !ok {
		return a.fail(c, http.StatusNotFound)
	}
	if u, ok := c.Get(echoUser).(user); ok {
		o.Buyer = u.Name
	}
	return c.JSON(http.StatusOK, &o)
}

func (a *echoAPI) post(c *echo.Context) error {
	var in echoDraft
	if err := c.Bind(&in); err != nil {
		return a.invalid(c, err)
	}
	if err := c.Validate(&in); err != nil {
		return a.invalid(c, err)
	}
	it := a.catalog.create(draft(in))
	return c.JSON(http.StatusCreated, &it)
}

// echoUser is the key under which guard stores the user.
const echoUser = "user"

func (a *echoAPI) guard(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		u, ok := userOf(c.Request().Header.Get("Authorization"))
		switch {
		case !ok:
			c.Response().Header().Set("WWW-Authenticate", "Bearer")
			return a.fail(c, http.StatusUnauthorized)
		case !a.limiter.take(u.Name):
			return a.fail(c, http.StatusTooManyRequests)
		case u.Role != staff:
			return a.fail(c, http.StatusForbidden)
		}
		c.Set(echoUser, u)
		return next(c)
	}
}
