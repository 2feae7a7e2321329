package main

import (
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"github.com/go-playground/validator/v10"
)

// ginAPI is the catalog on gin, with only the middleware that a case requires.
type ginAPI struct {
	catalog *catalog
	limiter *limiter
}

// setGin sets what gin keeps in globals.
var setGin = sync.OnceFunc(func() {
	gin.SetMode(gin.ReleaseMode)
	engine, ok := binding.Validator.Engine().(*validator.Validate)
	if !ok {
		panic("gin validates with something else than go-playground")
	}
	prepare(engine)
})

func newGin(c *catalog) http.Handler {
	setGin()
	a := &ginAPI{c, newLimiter()}
	r := gin.New()
	r.GET("/items/:id", a.get)
	r.GET("/items", a.list)
	r.POST("/items", a.post)
	r.GET("/shops/:shop/items/:id", a.offer)
	r.GET("/staff/:shop/items/:id", a.guard, a.offer)
	return r
}

type ginID struct {
	ID int64 `binding:"required" uri:"id"`
}

type ginPlace struct {
	Shop string `binding:"required" uri:"shop"`
	ID   int64  `binding:"required" uri:"id"`
}

type ginView struct {
	Lang    string `binding:"oneof=en de fr" form:"lang,default=en"`
	Expand  bool   `form:"expand"`
	MaxTags int    `binding:"gte=0,lte=8"    form:"max_tags,default=8"`
}

type ginWindow struct {
	Limit  int `binding:"gte=1,lte=100" form:"limit,default=50"`
	Offset int `binding:"gte=0"         form:"offset"`
}

type ginDraft struct {
	Name     string   `binding:"required,max=80"                      json:"name"`
	SKU      string   `binding:"required,sku"                         json:"sku"`
	Category string   `binding:"required,oneof=office garden kitchen" json:"category"`
	Price    float64  `binding:"required,gt=0,lte=100000"             json:"price"`
	Quantity int      `binding:"gte=0,lte=1000"                       json:"quantity"`
	Tags     []string `binding:"max=8,dive,min=1,max=20"              json:"tags"`
	Note     string   `binding:"max=200"                              json:"note"`
}

func (a *ginAPI) fail(c *gin.Context, status int, fields ...fieldProblem) {
	c.AbortWithStatusJSON(status, &problem{Title: http.StatusText(status), Status: status, Errors: fields})
}

func (a *ginAPI) invalid(c *gin.Context, err error) {
	a.fail(c, http.StatusUnprocessableEntity, fieldsOf(err)...)
}

func (a *ginAPI) get(c *gin.Context) {
	var in ginID
	if err := c.ShouldBindUri(&in); err != nil {
		a.invalid(c, err)
		return
	}
	it, ok := a.catalog.item(in.ID)
	if !ok {
		a.fail(c, http.StatusNotFound)
		return
	}
	c.JSON(http.StatusOK, &it)
}

func (a *ginAPI) list(c *gin.Context) {
	var in ginWindow
	if err := c.ShouldBindQuery(&in); err != nil {
		a.invalid(c, err)
		return
	}
	c.JSON(http.StatusOK, &itemPage{Items: a.catalog.page(in.Limit, in.Offset), Count: len(a.catalog.items)})
}

func (a *ginAPI) offer(c *gin.Context) {
	var place ginPlace
	if err := c.ShouldBindUri(&place); err != nil {
		a.invalid(c, err)
		return
	}
	var in ginView
	if err := c.ShouldBindQuery(&in); err != nil {
		a.invalid(c, err)
		return
	}
	o, ok := a.catalog.offer(place.Shop, place.ID, in.Lang, in.Expand, in.MaxTags)
	if !ok {
		a.fail(c, http.StatusNotFound)
		return
	}
	if value, ok := c.Get(ginUser); ok {
		if u, ok := value.(user); ok {
			o.Buyer = u.Name
		}
	}
	c.JSON(http.StatusOK, &o)
}

func (a *ginAPI) post(c *gin.Context) {
	var in ginDraft
	if err := c.ShouldBindJSON(&in); err != nil {
		a.invalid(c, err)
		return
	}
	it := a.catalog.create(draft(in))
	c.JSON(http.StatusCreated, &it)
}

// ginUser is the key under which guard stores the user.
const ginUser = "user"

func (a *ginAPI) guard(c *gin.Context) {
	u, ok := userOf(c.GetHeader("Authorization"))
	switch {
	case !ok:
		c.Header("WWW-Authenticate", "Bearer")
		a.fail(c, http.StatusUnauthorized)
	case !a.limiter.take(u.Name):
		a.fail(c, http.StatusTooManyRequests)
	case u.Role != staff:
		a.fail(c, http.StatusForbidden)
	default:
		c.Set(ginUser, u)
		c.Next()
	}
}
