package responses

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxBody bounds a request.
const maxBody = 64 << 20

// ServeHTTP serves, below any prefix:
//
//   - POST /responses: an answer, which is always streamed.
//   - GET /responses/{id}: a stored response. With stream=true and starting_after, its events.
//   - POST /responses/{id}/cancel: ends a background response.
//   - DELETE /responses/{id}.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return
	}
	_, path, _ := strings.Cut(r.URL.Path, "/responses")
	request := &Request{
		Method: r.Method, Path: "/responses" + path, Query: r.URL.RawQuery, Host: r.Host, Header: r.Header.Clone(),
		Raw: string(body),
	}
	id, action, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case id == "" && r.Method == http.MethodPost:
		s.create(w, r, request)
	case id != "" && action == "" && r.Method == http.MethodGet:
		s.retrieve(w, r, request, id)
	case id != "" && action == "cancel" && r.Method == http.MethodPost:
		s.cancel(w, request, id)
	case id != "" && action == "" && r.Method == http.MethodDelete:
		s.remove(w, request, id)
	default:
		s.refuse(w, request, &problem{
			status: http.StatusNotFound, kind: "invalid_request_error",
			text: "Invalid URL (" + r.Method + " " + r.URL.Path + ")",
		})
	}
}

func (s *Server) refuse(w http.ResponseWriter, r *Request, p *problem) {
	s.record(r, p.status)
	p.write(w)
}

func (s *Server) create(w http.ResponseWriter, r *http.Request, request *Request) {
	if p := s.parse(request); p != nil {
		s.refuse(w, request, p)
		return
	}
	answer := s.script(request)
	if f := answer.HTTP; f != nil {
		p := &problem{status: f.Status, code: f.Code, text: f.Message, kind: f.Type, retryAfter: f.RetryAfter}
		s.refuse(w, request, p)
		return
	}
	if answer.HangAtOnce {
		s.record(request, 0)
		<-r.Context().Done()
		answer.gone()
		return
	}
	resp := s.begin(request, answer)
	s.record(request, http.StatusOK)
	if !resp.background {
		s.play(w, r, resp, answer)
		return
	}
	go s.generate(resp, answer)
	s.tail(w, r, resp, -1, answer.CutAfter, answer)
}

func (s *Server) parse(request *Request) *problem {
	if json.Unmarshal([]byte(request.Raw), &request.Body) != nil {
		return refuse("", "", "We could not parse the JSON body of your request.")
	}
	items, p := parseInput([]byte(request.Raw))
	if p != nil {
		return p
	}
	request.Input = items
	if model, ok := request.Body["model"].(string); ok {
		request.Model = model
	}
	return s.check(request)
}

// missing is the refusal of an id that no stored response has.
func missing(id string) *problem {
	return &problem{
		status: http.StatusNotFound, kind: "invalid_request_error", param: "response_id",
		text: "Response with id '" + id + "' not found.",
	}
}

func (s *Server) find(id string) *response {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored[id]
}

func (s *Server) retrieve(w http.ResponseWriter, r *http.Request, request *Request, id string) {
	resp := s.find(id)
	query := r.URL.Query()
	switch {
	case resp == nil:
		s.refuse(w, request, missing(id))
	case resp.failGets():
		s.refuse(w, request, &problem{
			status: http.StatusServiceUnavailable, kind: "server_error", text: "The server is overloaded.",
		})
	case query.Get("stream") != "true":
		s.record(request, http.StatusOK)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(resp.view(query["include[]"]))
	case !resp.background:
		s.refuse(w, request, refuse("", "stream", "Streaming is only supported for background responses."))
	case resp.streamOver():
		s.refuse(w, request, refuse("", "", "This response can no longer be streamed because it is more than 5 minutes old."))
	default:
		after, err := strconv.Atoi(query.Get("starting_after"))
		if err != nil {
			after = -1
		}
		s.record(request, http.StatusOK)
		s.tail(w, r, resp, after, resp.nextCut(), Answer{})
	}
}

func (s *Server) cancel(w http.ResponseWriter, request *Request, id string) {
	resp := s.find(id)
	switch {
	case resp == nil:
		s.refuse(w, request, missing(id))
	case !resp.background:
		s.refuse(w, request, refuse("", "", "Cannot cancel a synchronous response."))
	default:
		resp.cancel()
		s.record(request, http.StatusOK)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(resp.view(nil))
	}
}

func (s *Server) remove(w http.ResponseWriter, request *Request, id string) {
	if !s.Delete(id) {
		s.refuse(w, request, missing(id))
		return
	}
	s.record(request, http.StatusOK)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(fields{"id": id, "object": "response", "deleted": true}))
}

// Delete deletes a stored response, and reports whether there was one.
func (s *Server) Delete(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stored[id] == nil {
		return false
	}
	delete(s.stored, id)
	return true
}

// StopStreaming refuses to stream a stored response from now on, as the real server does after some minutes. The
// response itself can be read on.
func (s *Server) StopStreaming(id string) {
	if resp := s.find(id); resp != nil {
		resp.mu.Lock()
		resp.windowOver = true
		resp.mu.Unlock()
	}
}

// Stored returns the ids of the stored responses, oldest first.
func (s *Server) Stored() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sortedKeys(s.stored)
}
