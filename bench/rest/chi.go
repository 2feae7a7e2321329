package main

import (
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-playground/validator/v10"
)

// chiAPI is bare on the router of chi, with bodies checked by go-playground.
type chiAPI struct {
	*bare
	validate *validator.Validate
}

func newChi(c *catalog) http.Handler {
	a := &chiAPI{
		bare:     &bare{c, newLimiter(), writeMarshaled},
		validate: prepare(validator.New(validator.WithRequiredStructEnabled())),
	}
	r := chi.NewRouter()
	r.Get("/items/{id}", a.get)
	r.Get("/items", a.list)
	r.Post("/items", a.post)
	r.Get("/shops/{shop}/items/{id}", a.offer)
	r.Get("/staff/{shop}/items/{id}", a.guarded)
	return r
}

type chiDraft struct {
	Name     string   `json:"name"     validate:"required,max=80"`
	SKU      string   `json:"sku"      validate:"required,sku"`
	Category string   `json:"category" validate:"required,oneof=office garden kitchen"`
	Price    float64  `json:"price"    validate:"required,gt=0,lte=100000"`
	Quantity int      `json:"quantity" validate:"gte=0,lte=1000"`
	Tags     []string `json:"tags"     validate:"max=8,dive,min=1,max=20"`
	Note     string   `json:"note"     validate:"max=200"`
}

func (a *chiAPI) post(w http.ResponseWriter, r *http.Request) {
	var in chiDraft
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	body.DisallowUnknownFields()
	if err := body.Decode(&in); err != nil {
		a.fail(w, http.StatusUnprocessableEntity, fieldProblem{"body", err.Error()})
		return
	}
	if err := a.validate.StructCtx(r.Context(), &in); err != nil {
		a.fail(w, http.StatusUnprocessableEntity, fieldsOf(err)...)
		return
	}
	it := a.catalog.create(draft(in))
	a.write(w, http.StatusCreated, contentJSON, &it)
}
