package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"
)

// bare uses net/http and encoding/json, and does every check by hand. The others are compared with it.
// Like them, it collects all problems of a body.
type bare struct {
	catalog *catalog
	limiter *limiter
	// write sends a body. The two kinds of bare differ only in this function.
	write func(w http.ResponseWriter, status int, contentType string, body any)
}

// newBare answers through json.Marshal, so that a body that cannot be encoded becomes a 500.
func newBare(c *catalog) http.Handler { return (&bare{c, newLimiter(), writeMarshaled}).mux() }

// newBareEncoder answers through an Encoder on the response. It is faster for large bodies. But when a
// body turns out not to be encodable, the status was already sent.
func newBareEncoder(c *catalog) http.Handler { return (&bare{c, newLimiter(), writeEncoded}).mux() }

func (b *bare) mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", b.get)
	mux.HandleFunc("GET /items", b.list)
	mux.HandleFunc("POST /items", b.post)
	mux.HandleFunc("GET /shops/{shop}/items/{id}", b.offer)
	mux.HandleFunc("GET /staff/{shop}/items/{id}", b.guarded)
	return mux
}

const (
	contentJSON    = "application/json"
	contentProblem = "application/problem+json"
)

func writeMarshaled(w http.ResponseWriter, status int, contentType string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the client is gone
}

func writeEncoded(w http.ResponseWriter, status int, contentType string, body any) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		return // the status was already sent, so nothing more can be reported
	}
}

func (b *bare) fail(w http.ResponseWriter, status int, fields ...fieldProblem) {
	b.write(w, status, contentProblem, &problem{Title: http.StatusText(status), Status: status, Errors: fields})
}

func (b *bare) get(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		b.fail(w, http.StatusUnprocessableEntity, fieldProblem{"id", "must be an integer"})
		return
	}
	it, ok := b.catalog.item(id)
	if !ok {
		b.fail(w, http.StatusNotFound)
		return
	}
	b.write(w, http.StatusOK, contentJSON, &it)
}

func (b *bare) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, okLimit := intOf(query, "limit", defaultLimit, 1, maxLimit)
	offset, okOffset := intOf(query, "offset", 0, 0, 1<<31)
	if !okLimit || !okOffset {
		b.fail(w, http.StatusUnprocessableEntity, fieldProblem{"limit or offset", "must be an integer in its range"})
		return
	}
	b.write(w, http.StatusOK, contentJSON, &itemPage{Items: b.catalog.page(limit, offset), Count: len(b.catalog.items)})
}

func (b *bare) offer(w http.ResponseWriter, r *http.Request) { b.offerTo(w, r, "") }

// guarded serves offer for staff only: it checks who calls, the rate limit, and the permission.
func (b *bare) guarded(w http.ResponseWriter, r *http.Request) {
	u, ok := userOf(r.Header.Get("Authorization"))
	switch {
	case !ok:
		w.Header().Set("WWW-Authenticate", "Bearer")
		b.fail(w, http.StatusUnauthorized)
	case !b.limiter.take(u.Name):
		b.fail(w, http.StatusTooManyRequests)
	case u.Role != staff:
		b.fail(w, http.StatusForbidden)
	default:
		b.offerTo(w, r, u.Name)
	}
}

func (b *bare) offerTo(w http.ResponseWriter, r *http.Request, buyer string) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		b.fail(w, http.StatusUnprocessableEntity, fieldProblem{"id", "must be an integer"})
		return
	}
	in, wrong := readView(r.URL.Query())
	if wrong != "" {
		b.fail(w, http.StatusUnprocessableEntity, fieldProblem{wrong, "is not what it may be"})
		return
	}
	o, ok := b.catalog.offer(r.PathValue("shop"), id, in.lang, in.expand, in.maxTags)
	if !ok {
		b.fail(w, http.StatusNotFound)
		return
	}
	o.Buyer = buyer
	b.write(w, http.StatusOK, contentJSON, &o)
}

// view is the parameters of an offer.
type view struct {
	lang    string
	expand  bool
	maxTags int
}

// readView reads a view by hand, and returns the name of a wrong parameter.
func readView(query url.Values) (in view, wrong string) {
	in = view{lang: defaultLang, maxTags: maxTags}
	if text := query.Get("lang"); text != "" {
		in.lang = text
	}
	if in.lang != "en" && in.lang != "de" && in.lang != "fr" {
		return in, "lang"
	}
	if text := query.Get("expand"); text != "" {
		expand, err := strconv.ParseBool(text)
		if err != nil {
			return in, "expand"
		}
		in.expand = expand
	}
	var ok bool
	if in.maxTags, ok = intOf(query, "max_tags", maxTags, 0, maxTags); !ok {
		return in, "max_tags"
	}
	return in, ""
}

// intOf returns an integer of a query, and whether it is within the range.
func intOf(query url.Values, name string, missing, least, most int) (int, bool) {
	text := query.Get(name)
	if text == "" {
		return missing, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= least && n <= most
}

// maxBody bounds the size of a body.
const maxBody = 1 << 20

func (b *bare) post(w http.ResponseWriter, r *http.Request) {
	var in draft
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	body.DisallowUnknownFields()
	if err := body.Decode(&in); err != nil {
		b.fail(w, http.StatusUnprocessableEntity, fieldProblem{"body", err.Error()})
		return
	}
	if fields := checkDraft(&in); len(fields) > 0 {
		b.fail(w, http.StatusUnprocessableEntity, fields...)
		return
	}
	it := b.catalog.create(in)
	b.write(w, http.StatusCreated, contentJSON, &it)
}

// checkDraft returns all problems of a draft.
func checkDraft(in *draft) []fieldProblem {
	var wrong []fieldProblem
	if n := utf8.RuneCountInString(in.Name); n < 1 || n > maxName {
		wrong = append(wrong, fieldProblem{"name", "must have 1 to 80 characters"})
	}
	if !skuForm.MatchString(in.SKU) {
		wrong = append(wrong, fieldProblem{"sku", "must be three capitals, a hyphen and four digits"})
	}
	if !slices.Contains(categories, in.Category) {
		wrong = append(wrong, fieldProblem{"category", "must be one of office, garden, kitchen"})
	}
	if in.Price <= 0 || in.Price > maxPrice {
		wrong = append(wrong, fieldProblem{"price", "must be above 0 and at most 100000"})
	}
	if in.Quantity < 0 || in.Quantity > maxQuantity {
		wrong = append(wrong, fieldProblem{"quantity", "must be 0 to 1000"})
	}
	if len(in.Tags) > maxTags || slices.ContainsFunc(in.Tags, badTag) {
		wrong = append(wrong, fieldProblem{"tags", "must be at most 8, of 1 to 20 characters each"})
	}
	if utf8.RuneCountInString(in.Note) > maxNote {
		wrong = append(wrong, fieldProblem{"note", "must have at most 200 characters"})
	}
	return wrong
}

func badTag(tag string) bool {
	n := utf8.RuneCountInString(tag)
	return n < 1 || n > maxTag
}
