package openapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
)

// loadTimeout bounds how long a document may take.
const loadTimeout = 30 * time.Second

// IsURL reports whether a document's location is an http or https URL, and not a file.
func IsURL(location string) bool {
	return strings.HasPrefix(location, "http://") || strings.HasPrefix(location, "https://")
}

// Load reads a document of up to [MaxDocument] bytes from a file, or from an http or https URL that the egress
// policy allows. It follows redirects within the URL's host only. It returns an [spool.Unavailable] error if
// the server cannot be reached, and an [spool.Invalid] one if there is no such document. No error has the
// query or the password of the URL.
func Load(ctx context.Context, location string, policy egress.Policy) ([]byte, error) {
	if !IsURL(location) {
		return loadFile(location)
	}
	transport, err := egress.New(policy)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, location, http.NoBody)
	if err != nil {
		return nil, spool.Errorf(spool.Invalid, "the document is at no http or https URL")
	}
	request.Header.Set("Accept", "application/json, application/yaml, */*")
	host := request.URL.Host
	client := &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Host != host || r.URL.Scheme != request.URL.Scheme || len(via) > 5 {
			return spool.Errorf(spool.Invalid, "%s redirects to another host, which is not followed", host)
		}
		return nil
	}}
	response, err := client.Do(request)
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err
		}
		if known, ok := errors.AsType[*spool.Error](err); ok {
			return nil, known
		}
		return nil, &spool.Error{Code: spool.Unavailable, Message: "cannot get the document from " + host, Err: err}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, spool.Errorf(spool.Invalid, "%s answered with status %d instead of the document", host,
			response.StatusCode)
	}
	return read(response.Body)
}

func loadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &spool.Error{Code: spool.Invalid, Message: err.Error(), Err: err}
	}
	defer file.Close()
	return read(file)
}

func read(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxDocument+1))
	switch {
	case err != nil:
		return nil, &spool.Error{Code: spool.Unavailable, Message: "the document cannot be read to its end", Err: err}
	case len(text) > MaxDocument:
		return nil, spool.Errorf(spool.Invalid, "the document is larger than %d bytes", MaxDocument)
	default:
		return text, nil
	}
}
