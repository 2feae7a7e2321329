package main

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-playground/validator/v10"
)

// problem is the error body of the implementations that have none of their own.
type problem struct {
	Title  string         `json:"title"`
	Status int            `json:"status"`
	Errors []fieldProblem `json:"errors,omitempty"`
}

// fieldProblem is a problem of a field.
type fieldProblem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// prepare makes a validator of go-playground use the fields' JSON names and know the form of an SKU.
// gin, echo and chi all use it.
func prepare(v *validator.Validate) *validator.Validate {
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		for _, tag := range []string{"json", "form", "query", "uri", "param"} {
			if name, _, _ := strings.Cut(f.Tag.Get(tag), ","); name != "" {
				return name
			}
		}
		return f.Name
	})
	err := v.RegisterValidation("sku", func(fl validator.FieldLevel) bool {
		return skuForm.MatchString(fl.Field().String())
	})
	if err != nil {
		panic("register the validation of an sku: " + err.Error())
	}
	return v
}

// fieldsOf returns the fields that an error of go-playground names.
func fieldsOf(err error) []fieldProblem {
	var wrong validator.ValidationErrors
	if !errors.As(err, &wrong) {
		return []fieldProblem{{Field: "body", Message: err.Error()}}
	}
	fields := make([]fieldProblem, len(wrong))
	for i, w := range wrong {
		_, name, _ := strings.Cut(w.Namespace(), ".")
		fields[i] = fieldProblem{Field: name, Message: "must satisfy " + w.Tag() + " " + w.Param()}
	}
	return fields
}
