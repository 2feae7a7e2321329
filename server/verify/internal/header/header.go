// Package header reads the headers that prove the sender of a request. It refuses a header that
// could be read in two ways.
package header

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// maxBytes bounds a header, and so the work for an unsigned request.
const maxBytes = 8 << 10

// One returns the value of a header that the request must have exactly once, and not empty. Its
// error names the header and has nothing of the value in it.
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

// Bearer returns the token after "Bearer " in the header Authorization. Its error is as that of [One].
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
