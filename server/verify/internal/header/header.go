// Package header reads the headers that prove where a request comes from. It is strict:
// a header that could be read in two ways is refused.
package header

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// maxBytes bounds a header, and with it what is done for a request that nobody has signed.
const maxBytes = 8 << 10

// One returns the value of a header that is there once and not empty. An error names the
// header and says nothing of its value.
func One(h http.Header, name string) (string, error) {
	switch values := h.Values(name); {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		return "", fmt.Errorf("the header %s is missing", name)
	case len(values) > 1:
		return "", fmt.Errorf("the header %s is there twice", name)
	case len(values[0]) > maxBytes:
		return "", fmt.Errorf("the header %s is too long", name)
	default:
		return values[0], nil
	}
}

// Bearer returns what follows "Bearer " in the header Authorization, as [One] does.
func Bearer(h http.Header) (string, error) {
	value, err := One(h, "Authorization")
	if err != nil {
		return "", err
	}
	scheme, token, _ := strings.Cut(value, " ")
	if token = strings.TrimLeft(token, " "); token == "" || !strings.EqualFold(scheme, "bearer") {
		return "", errors.New("the header Authorization has no bearer token")
	}
	return token, nil
}
