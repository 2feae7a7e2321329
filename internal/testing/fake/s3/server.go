// Package s3 is a strict server of the S3 protocol with one bucket, for tests. It verifies the signature of each
// request and of each chunk of a body, and refuses what a lenient server would let pass: bodies without a signature
// over a plain connection, headers that are not signed, wrong regions and clocks. It can fail in ways that a real
// service does.
package s3

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the tag of an object is its MD5
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is a service with one account and one bucket. Its exported fields must not change after the first request,
// except within Change.
type Server struct {
	*httptest.Server

	// AccessKey and SecretKey are those of the only account.
	AccessKey, SecretKey string
	// Bucket and Region are those of the only bucket.
	Bucket, Region string
	// Denies refuses each request of the account, as if it had no rights.
	Denies bool
	// NoList answers 403 for missing objects, as a service does for an account that may not list the bucket.
	NoList bool
	// Skew is how far the clock of the server goes ahead.
	Skew time.Duration
	// Busy is how many of the next requests get 503 SlowDown. With Unread, the server answers before it reads the body.
	Busy   int
	Unread bool
	// Broken is how many of the next requests get no answer, before anything happens.
	Broken int
	// Lost is how many of the next puts are stored, and get no answer.
	Lost int
	// Cut is how many answers with data end in the middle, and CutAt how many bytes they have.
	Cut, CutAt int
	// Missing404 answers the deletion of a missing object with 404, as some services do.
	Missing404 bool
	// Repeats puts the text of the request, with its credentials, into errors.
	Repeats bool
	// Unsized sends data without their length.
	Unsized bool

	mu       sync.Mutex
	objects  map[string][]byte
	requests []string
	refusals []string
}

// Open starts a server over TLS or without. It ends when Close is called.
func Open(secure bool) *Server {
	s := &Server{ //nolint:gosec // the keys open nothing but this server
		AccessKey: "AKIDSPOOLTEST", SecretKey: "wJalr/hunter2+SECRET", Bucket: "artifacts", Region: "eu-test-1",
		objects: make(map[string][]byte),
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	return s
}

// Change calls fn while no request is served.
func (s *Server) Change(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

// Objects returns the names of the objects.
func (s *Server) Objects() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.objects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Requests returns the method and the path of each request since the last call.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// Refusals returns why requests were refused since the last call.
func (s *Server) Refusals() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	refusals := s.refusals
	s.refusals = nil
	return refusals
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	unread := false
	s.Change(func() {
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
		if s.Broken > 0 {
			s.Broken--
			panic(http.ErrAbortHandler)
		}
		if s.Unread && s.Busy > 0 {
			s.Busy--
			unread = true
		}
	})
	if unread {
		s.fail(w, r, errBusy)
		return
	}
	signed, data, err := s.authentic(r) // reads the body without holding the lock
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.Busy > 0 {
		s.Busy--
		err = errBusy
	}
	if err == nil {
		err = s.answer(w, r, signed, data)
	}
	if err != nil {
		s.refusals = append(s.refusals, err.Error())
		s.fail(w, r, err)
	}
}

var errBusy = refuse(http.StatusServiceUnavailable, "SlowDown", "reduce your request rate")

// authentic returns the signature and the body of a request that the account has signed.
func (s *Server) authentic(r *http.Request) (*signature, []byte, error) {
	signed, err := parse(r)
	if err != nil {
		return nil, nil, err
	}
	var access, secret string
	var skew time.Duration
	s.Change(func() { access, secret, skew = s.AccessKey, s.SecretKey, s.Skew })
	if signed.access != access {
		return nil, nil, refuse(http.StatusForbidden, "InvalidAccessKeyId", "there is no such access key")
	}
	if apart := time.Now().Add(skew).Sub(signed.at); apart.Abs() > greatestSkew {
		return nil, nil, refuse(http.StatusForbidden, "RequestTimeTooSkewed", "the clocks are %v apart", apart)
	}
	signed.derive(secret)
	if err := errors.Join(signed.checkHeaders(r), signed.verify(r)); err != nil {
		return nil, nil, err
	}
	data, err := signed.body(r)
	return signed, data, err
}

// answer serves an authentic request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, signed *signature, data []byte) error {
	bucket, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	_, location := r.URL.Query()["location"]
	location = location && name == "" && r.Method == http.MethodGet
	switch {
	case s.Denies:
		return refuse(http.StatusForbidden, "AccessDenied", "access denied")
	case bucket != s.Bucket:
		return refuse(http.StatusNotFound, "NoSuchBucket", "the bucket does not exist")
	case location && (signed.region == "us-east-1" || signed.region == s.Region):
		return respond(w, http.StatusOK, locationAnswer{Region: s.Region})
	case signed.region != s.Region:
		wrong := refuse(http.StatusBadRequest, "AuthorizationHeaderMalformed", "the region %q is wrong", signed.region)
		wrong.region = s.Region
		return wrong
	case name == "" || r.URL.RawQuery != "":
		return refuse(http.StatusNotImplemented, "NotImplemented", "the server has objects only")
	}
	switch r.Method {
	case http.MethodPut:
		return s.put(w, name, data)
	case http.MethodGet, http.MethodHead:
		return s.get(w, r, name)
	case http.MethodDelete:
		if _, ok := s.objects[name]; !ok && s.Missing404 {
			return refuse(http.StatusNotFound, "NoSuchKey", "the object does not exist")
		}
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
		return nil
	default:
		return refuse(http.StatusMethodNotAllowed, "MethodNotAllowed", "the method is not allowed")
	}
}

func (s *Server) put(w http.ResponseWriter, name string, data []byte) error {
	s.objects[name] = data
	if s.Lost > 0 {
		s.Lost--
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("ETag", tag(data))
	w.WriteHeader(http.StatusOK)
	return nil
}

func tag(data []byte) string {
	sum := md5.Sum(data) //nolint:gosec // see the import
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, name string) error {
	data, ok := s.objects[name]
	switch {
	case !ok && s.NoList:
		return refuse(http.StatusForbidden, "AccessDenied", "access denied")
	case !ok:
		return refuse(http.StatusNotFound, "NoSuchKey", "the object does not exist")
	}
	w.Header().Set("ETag", tag(data))
	w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/octet-stream")
	if !s.Unsized {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	}
	if r.Method == http.MethodHead {
		return nil
	}
	if s.Cut > 0 {
		s.Cut--
		_, _ = w.Write(data[:min(s.CutAt, len(data))])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	if s.Unsized {
		_ = http.NewResponseController(w).Flush()
	}
	_, _ = io.Copy(w, bytes.NewReader(data)) // the client may have gone
	return nil
}

type locationAnswer struct {
	XMLName xml.Name `xml:"LocationConstraint"`
	Region  string   `xml:",chardata"`
}

type errorAnswer struct {
	XMLName  xml.Name `xml:"Error"`
	Code     string   `xml:"Code"`
	Message  string   `xml:"Message"`
	Resource string   `xml:"Resource"`
	Region   string   `xml:"Region,omitempty"`
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		refused = refuse(http.StatusInternalServerError, "InternalError", "%v", err)
	}
	if s.Repeats {
		refused = refuse(refused.status, refused.code, "%s: %s %s", refused.message, r.Header.Get("Authorization"),
			s.SecretKey)
	}
	_ = respond(w, refused.status, errorAnswer{
		Code: refused.code, Message: refused.message, Resource: r.URL.Path, Region: refused.region,
	})
}

func respond(w http.ResponseWriter, status int, body any) error {
	text, err := xml.Marshal(body)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = w.Write(append([]byte(xml.Header), text...)) // the client may have gone
	return nil
}
